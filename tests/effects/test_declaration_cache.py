import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import looptasks
from looptasks.core.digest import of_bytes
from looptasks.effects import yaml_declarations as declarations
from tests.support.declared_project import LOOP, planned, refused, write

REPOSITORY = Path(looptasks.__file__).resolve().parents[1]


@pytest.fixture
def root(tmp_path: Path) -> str:
    return planned(tmp_path)


def shipped_copy(folder: Path) -> Path:
    """Return a copy of the package with a shipped loop, as a wheel has it."""
    package = Path(looptasks.__file__).parent
    copied = shutil.copytree(
        package, folder / "looptasks", ignore=shutil.ignore_patterns("__pycache__")
    )
    write(copied, "shipped/loops/tidy/loop.yaml", "name: tidy\nmodel: shipped\n")
    write(copied, "shipped/loops/tidy/prompt.md", "Tidy.")
    return folder


def python(path: Path, code: str, *args: str) -> str:
    """Run Python code in a fresh process, with the package that `path` has."""
    env = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, "-P", "-c", code, *args]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SHOW = """
import sys
from looptasks.effects.yaml_declarations import load
stage = load(sys.argv[1], sys.argv[2]).stages[0]
heavy = {"yaml", "jsonschema", "referencing", "looptasks.core.lint"} & set(sys.modules)
print(stage.loop.model, stage.folder.startswith("/"), sorted(heavy))
"""


def test_the_project_shadows_what_is_shipped_also_in_the_cache(tmp_path: Path) -> None:
    path, root = shipped_copy(tmp_path / "site"), tmp_path / "project"
    root.mkdir()
    for _ in range(2):
        assert python(path, SHOW, str(root), "loop:tidy").startswith("shipped True")
    write(root, "loops/tidy/loop.yaml", "name: tidy\nmodel: own\n")
    write(root, "loops/tidy/prompt.md", "Tidy.")
    assert python(path, SHOW, str(root), "loop:tidy").startswith("own False")


def test_a_second_load_imports_neither_yaml_nor_jsonschema(root: str) -> None:
    for entry in ("loop:plan", "pipeline:all"):
        first = python(REPOSITORY, SHOW, root, entry)
        assert "yaml" in first
        assert python(REPOSITORY, SHOW, root, entry).endswith("[]")


def test_a_cached_load_equals_the_first(root: str) -> None:
    first = declarations.load(root, "pipeline:all")
    assert declarations.load(root, "pipeline:all") == first


@pytest.mark.parametrize("name", ["loops/plan/loop.yaml", "pipelines/all.yaml"])
def test_a_change_that_breaks_a_file_is_seen_after_a_good_load(
    root: str, name: str
) -> None:
    declarations.load(root, "pipeline:all")
    write(root, name, "name: [")
    assert f"{name}:" in refused(root, "pipeline:all")
    Path(root, name).unlink()
    if name.startswith("pipelines"):  # a loop of that name is shipped
        refused(root, "pipeline:all")


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff" * 200, b"0" * 64 + b"\n{}"])
def test_a_damaged_cache_is_ignored(root: str, damage: bytes) -> None:
    first = declarations.load(root, "loop:plan")
    (cached,) = Path(root, ".loop/.cache").glob("*.sealed")
    cached.write_bytes(damage)
    assert declarations.load(root, "loop:plan") == first
    assert cached.read_bytes() != damage


def test_a_cache_of_another_version_is_ignored(root: str) -> None:
    declarations.load(root, "loop:plan")
    (cached,) = Path(root, ".loop/.cache").glob("*.sealed")
    record = json.loads(cached.read_bytes()[65:])
    record |= {"version": "0.0.0", "description": "old"}
    body = json.dumps(record).encode()
    cached.write_bytes(of_bytes(body).encode() + b"\n" + body)
    assert declarations.load(root, "loop:plan").description.startswith("Refine")


def test_a_folder_that_cannot_be_written_has_no_cache(root: str) -> None:
    write(root, ".loop", "a file is in the way")
    first = declarations.load(root, "loop:plan")
    assert declarations.load(root, "loop:plan") == first


def test_the_cache_hides_itself_from_git(root: str) -> None:
    declarations.load(root, "loop:plan")
    assert Path(root, ".loop/.cache/.gitignore").read_text() == "*\n"
    assert not list(Path(root, ".loop/.cache").glob("*.tmp"))


AGENT_PACKAGE = "[looptasks.agent]\nhelper = helper:Agent\n"


def test_a_package_may_add_agents_and_its_leaving_is_noticed(
    root: str, tmp_path: Path
) -> None:
    write(root, "loops/plan/loop.yaml", LOOP + "agent: helper\n")
    site = tmp_path / "site"
    info = site / "helper-1.dist-info"
    write(info, "METADATA", "Metadata-Version: 2.1\nName: helper\nVersion: 1\n")
    write(info, "entry_points.txt", AGENT_PACKAGE)
    both = Path(f"{site}{os.pathsep}{REPOSITORY}")
    for _ in range(2):
        assert python(both, SHOW, root, "loop:plan").startswith("small")
    assert "`agent` is `helper`, which is no agent" in refused(root, "loop:plan")
