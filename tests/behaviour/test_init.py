"""`doit init`: a folder becomes a project of loops."""

import os
import tomllib
from pathlib import Path

import pytest

from looptasks.errors import DeclarationError
from looptasks.plugin.commands.loader_line import Ini, Toml
from tests.support.doit_process import Ran, doit, environment

EVERYTHING = ["loops/", "pipelines/", ".loop/.gitignore", ".loop/README.md"]

PYPROJECT = """\
# a project
[project]
name = "theirs"  # with a comment

[tool.other]
list = [
  1,
]
"""


class Project:
    """A folder in an environment that has looptasks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.env = environment(folder / "environment", registered=True)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_bytes(text.encode())

    def read(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def init(self, *words: str) -> Ran:
        return doit(self.folder, "init", *words, env=self.env)

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.folder)): ""
            if path.is_dir()
            else path.read_text()
            for path in self.folder.rglob("*")
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_an_empty_folder_gets_everything_and_is_told_so(project: Project) -> None:
    ran = project.init()

    made = [f"made `{path}`" for path in EVERYTHING]
    selected = "`doit.cfg` now selects the loader `loops`"
    assert ran.out.splitlines() == [*made, selected, "next: doit list"]
    assert (ran.code, ran.err) == (0, "")
    assert project.read("doit.cfg") == "[GLOBAL]\nloader = loops\n"
    assert (project.folder / "loops").is_dir()
    assert (project.folder / "pipelines").is_dir()


def test_sessions_are_kept_out_of_version_control(project: Project) -> None:
    project.init()

    lines = project.read(".loop/.gitignore").splitlines()
    assert "*" in lines
    assert {"!.gitignore", "!README.md"} <= set(lines)


def test_a_pyproject_gets_one_section_and_keeps_the_rest(project: Project) -> None:
    project.write("pyproject.toml", PYPROJECT)

    ran = project.init()

    expected = PYPROJECT + '\n[tool.doit]\nloader = "loops"\n'
    assert project.read("pyproject.toml") == expected
    assert "`pyproject.toml` now selects the loader `loops`" in ran.out
    assert not (project.folder / "doit.cfg").exists()


def test_a_doit_cfg_gets_one_line_and_keeps_the_rest(project: Project) -> None:
    project.write("doit.cfg", "; mine\n[GLOBAL]\nverbosity = 2\n[list]\nstatus = 1\n")

    project.init()

    assert project.read("doit.cfg") == (
        "; mine\n[GLOBAL]\nloader = loops\nverbosity = 2\n[list]\nstatus = 1\n"
    )


def test_a_second_init_changes_nothing_and_says_so(project: Project) -> None:
    project.write("pyproject.toml", PYPROJECT)
    project.init()
    before = project.files()

    ran = project.init()

    there = [f"`{path}` was there already" for path in EVERYTHING]
    selects = "`pyproject.toml` selects the loader already"
    assert ran == Ran(0, "\n".join([*there, selects, "next: doit list\n"]), "")
    assert project.files() == before


@pytest.mark.parametrize("dodo", [None, "def task_t(): return {'actions': []}\n"])
def test_the_next_command_works(project: Project, dodo: str | None) -> None:
    if dodo:
        project.write("dodo.py", dodo)
    project.init()

    ran = doit(project.folder, "list", env=project.env)

    assert (ran.code, ran.err) == (0, "")


def test_files_that_are_there_are_not_overwritten(project: Project) -> None:
    project.write(".loop/.gitignore", "mine\n")
    project.write("loops/keep.txt", "mine\n")

    ran = project.init()

    assert project.read(".loop/.gitignore") == "mine\n"
    assert project.read("loops/keep.txt") == "mine\n"
    assert "`.loop/.gitignore` was there already" in ran.out
    assert "made `.loop/README.md`" in ran.out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.doit]\nloader = "own"\n[tool.doit.plugins.loader]\n'),
        ("doit.cfg", "[GLOBAL]\nloader = own\n[LOADER]\n"),
    ],
)
def test_another_loader_is_left_alone_and_nothing_is_made(
    project: Project, name: str, text: str
) -> None:
    equals = '"' if name.endswith("toml") else ""
    project.write(name, f"{text}own = {equals}theirs:Own{equals}\n")
    project.write(
        "theirs.py", "from doit.cmd_base import DodoTaskLoader\nOwn = DodoTaskLoader\n"
    )
    before = project.files()

    ran = project.init()

    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"{name}: `loader` is `own`")
    assert "\n  fix: " in ran.err
    assert {
        path: text for path, text in project.files().items() if "__" not in path
    } == (before)


def test_a_doit_cfg_that_selects_another_loader_wins_over_pyproject(
    project: Project,
) -> None:
    project.write("pyproject.toml", '[tool.doit]\nloader = "loops"\n')
    project.write(
        "doit.cfg",
        "[GLOBAL]\nloader = own\n[LOADER]\nown = doit.cmd_base:DodoTaskLoader\n",
    )

    ran = project.init()

    assert ran.code == 3
    assert ran.err.startswith("doit.cfg: `loader` is `own`")


def test_a_pyproject_that_is_not_safe_to_edit_is_left_to_a_person(
    project: Project,
) -> None:
    project.write("pyproject.toml", "[tool]\ndoit = {verbosity = 2}\n")

    ran = project.init()

    assert (ran.code, ran.out) == (3, "")
    assert 'add `loader = "loops"` under `[tool.doit]` yourself' in ran.err
    assert project.read("pyproject.toml") == "[tool]\ndoit = {verbosity = 2}\n"
    assert not (project.folder / "loops").exists()


def test_the_edited_file_keeps_its_permissions_and_its_link(project: Project) -> None:
    project.write("real.toml", PYPROJECT)
    (project.folder / "real.toml").chmod(0o640)
    (project.folder / "pyproject.toml").symlink_to("real.toml")

    project.init()

    assert (project.folder / "pyproject.toml").is_symlink()
    assert (project.folder / "real.toml").stat().st_mode & 0o777 == 0o640
    assert "loops" in project.read("real.toml")


def test_a_file_in_the_place_of_a_folder_is_an_error(project: Project) -> None:
    project.write("loops", "not a folder")

    ran = project.init()

    assert ran.code == 3
    assert ran.err.startswith("loops: ")
    assert project.read("loops") == "not a folder"


def test_init_takes_no_arguments(project: Project) -> None:
    ran = project.init("auth")

    assert ran.code == 3
    assert "`init` takes no argument, and got `auth`" in ran.err
    assert project.files() == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_folder_that_cannot_be_written_is_told_in_words(project: Project) -> None:
    project.folder.chmod(0o555)

    ran = project.init()

    project.folder.chmod(0o755)
    assert ran == Ran(
        3,
        "",
        "loops: permission denied\n  fix: make the folder writable for this user\n",
    )


# the line itself


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[tool.doit]",
        "[tool.doit]\nverbosity = 2\n",
        " [ tool . doit ]  # ours\nverbosity = 2\n",
        "[tool.doit]\r\nverbosity = 2\r\n",
        "[tool.doit]# c\r\nverbosity = 2\r\n",
        "[tool.doit.commands.run]\nverbosity = 2\n",
        "[tool]\nx = 1\n",
        "no_newline = 1",
    ],
)
def test_the_line_is_added_and_nothing_else_changes(text: str) -> None:
    edited = Toml().with_loader(text, "pyproject.toml")

    added = [line for line in edited.splitlines() if line not in text.splitlines()]
    assert tomllib.loads(edited)["tool"]["doit"].pop("loader") == "loops"
    assert [line for line in edited.splitlines() if line and line not in added] == [
        line for line in text.splitlines() if line
    ]
    assert ("\r\n" in text) == ("\r\n" in edited)
    assert edited.count("\n") == edited.count("\r\n") or "\r\n" not in edited


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\ndoit.verbosity = 2\n",
        "tool = {doit = {verbosity = 2}}\n",
        'text = """\n[tool.doit]\n"""\n',
        "[[tool.doit]]\nx = 1\n",
    ],
)
def test_a_text_that_would_mean_something_else_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError, match="not safe to edit"):
        Toml().with_loader(text, "pyproject.toml")


@pytest.mark.parametrize("text", ["", "[LOADER]\nx = y:z", "[GLOBAL]\r\nx = 1\r\n"])
def test_the_line_is_added_to_an_ini_file(text: str) -> None:
    edited = Ini().with_loader(text, "doit.cfg")

    assert Ini().loader(edited, "doit.cfg") == "loops"
    assert set(text.splitlines()) <= set(edited.splitlines())


@pytest.mark.parametrize("text", ["[GLOBAL]\nloader\n", "[GLOBAL]\n[GLOBAL]\n"])
def test_an_ini_file_that_is_not_safe_to_edit_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError):
        Ini().with_loader(text, "doit.cfg")


@pytest.mark.parametrize("kind", [Toml(), Ini()])
def test_a_file_that_cannot_be_parsed_is_an_error_with_its_path(
    kind: Toml | Ini,
) -> None:
    with pytest.raises(DeclarationError, match="this cannot be read") as caught:
        kind.loader("[broken\n= 1", "the/file")

    assert caught.value.where == "the/file"
    assert caught.value.exit_code == 3
