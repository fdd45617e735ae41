"""A disk that refuses, and names that lead astray: said in words, nothing half-done."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.crash import AGENT, CrashProject, digest, faults, torn_files
from tests.support.doit_process import Ran

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts, /proc")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[CrashProject]:
    made = CrashProject(tmp_path)
    made.loop(max_iterations=3)
    yield made
    made.end_all()


@pytest.fixture
def mounted(project: CrashProject) -> Iterator[Path]:
    """A file system of its own under `.loop`."""
    home = project.folder / ".loop"
    home.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(home)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.decode().strip()}")
    yield home
    subprocess.run(["umount", "-l", str(home)], check=True)


def check_refused(ran: Ran, *words: str) -> None:
    assert ran.code not in (0, 2), ran
    said = ran.out + ran.err
    assert "Traceback" not in said, said
    for word in words:
        assert word in said, said


def fill(folder: Path, leave: int = 0) -> Path:
    """Fill a file system up to the last byte, or leave a little room."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    os.truncate(path, max(path.stat().st_size - leave, 0))
    return path


def test_a_full_disk_is_said_with_the_place_and_a_fix(
    project: CrashProject, mounted: Path
) -> None:
    filler = fill(mounted)
    ran = project.run("loop:work", "session=s")
    check_refused(ran, "the disk is full", ".loop/s", "fix: make room")
    assert project.calls().total() == 0
    filler.unlink()
    assert project.run("loop:work", "session=s").code == 0
    assert faults(project, "s") == []


@pytest.mark.parametrize("pages", range(1, 40, 3))
def test_a_disk_that_fills_up_in_mid_run_costs_no_finished_iteration(
    project: CrashProject, mounted: Path, pages: int
) -> None:
    project.loop(max_iterations=3, validate="true")
    filler = fill(mounted, pages * 4096)
    ran = project.run("loop:work", "session=s")
    if ran.code:
        check_refused(ran)
    done = {e["iteration"]: e["output"] for e in project.events("s", "iteration")}
    assert [p for p in torn_files(project) if p.endswith(".json")] == []
    filler.unlink()
    ran = project.run("loop:work", "session=s")
    assert ran.code == 0, ran
    assert faults(project, "s") == []
    now = {e["iteration"]: e["output"] for e in project.events("s", "iteration")}
    assert {**now, **done} == now
    assert len(now) == 3
    assert not list(mounted.rglob("*.tmp"))


def test_an_agent_that_fills_the_disk_is_told_about(
    project: CrashProject, mounted: Path
) -> None:
    project.script("agent.sh", "#!/bin/sh\nhead -c 10000000 /dev/zero\n")
    ran = project.run("loop:work", "session=s")
    check_refused(ran, "0001/attempts/1/result.json", "the disk is full", "fix: make")
    (mounted / "s/work/iterations/0001/attempts/1/stdout").unlink()
    project.script("agent.sh", AGENT)
    assert project.run("loop:work", "session=s").code == 0


def test_an_agent_whose_end_cannot_be_recorded_is_not_called_again(
    project: CrashProject, mounted: Path
) -> None:
    filling = "cat /dev/zero > .loop/filler 2> /dev/null"
    project.script("agent.sh", f"{AGENT}{filling}\nexit 0\n")
    ran = project.run("loop:work", "session=s")
    check_refused(ran, "work/iterations/0001", "fix: make room")
    assert project.calls().total() == 1
    (mounted / "filler").unlink()
    project.script("agent.sh", AGENT)
    assert project.run("loop:work", "session=s").code == 0


def test_a_limit_on_the_size_of_files_is_said_in_words(project: CrashProject) -> None:
    project.script("agent.sh", "#!/bin/sh\nhead -c 200000 /dev/zero\n")
    project.loop(attempts=1)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        [sys.executable, "-m", "doit", "loop:work", "session=s"],
        cwd=project.folder,
        env=project.env,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    ran = Ran(done.returncode, done.stdout, done.stderr)
    check_refused(ran, "File size limit exceeded")


@pytest.mark.parametrize("before", [0, 1])
def test_a_read_only_folder_is_said_with_the_place_and_a_fix(
    project: CrashProject, mounted: Path, before: int
) -> None:
    if before:
        project.loop(max_iterations=1)
        assert project.run("loop:work", "session=s").code == 0
        project.loop(max_iterations=3)
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    ran = project.run("loop:work", "session=s")
    check_refused(ran, "the file system is read-only", ".loop/s", "fix: use a folder")
    assert project.run("status").code == 0
    assert project.run("list").code == 0
    subprocess.run(["mount", "-o", "remount,rw", str(mounted)], check=True)
    assert project.run("loop:work", "session=s").code == 0
    assert project.calls().total() == 3


def test_a_finished_session_needs_no_disk_to_say_so(
    project: CrashProject, mounted: Path
) -> None:
    assert project.run("loop:work", "session=s").code == 0
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    ran = project.run("loop:work", "session=s")
    assert ran.code == 0, ran
    assert "nothing to do" in ran.out


def test_a_file_where_the_folder_should_be_is_named(project: CrashProject) -> None:
    project.write(".loop", "not a folder")
    ran = project.run("loop:work", "session=s")
    check_refused(ran, ".loop", "a file is in the way", "fix: move that file away")
    assert (project.folder / ".loop").read_text() == "not a folder"
    assert project.calls().total() == 0


@pytest.mark.parametrize("link", [".loop", ".loop/s"])
def test_a_session_folder_that_is_a_link_is_refused(
    project: CrashProject, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = project.folder / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    ran = project.run("loop:work", "session=s")
    check_refused(ran, "a link stands where the session's folder should be", "fix: ")
    assert ran.code == 3
    assert not [p for p in outside.rglob("*") if ".cache" not in str(p)]


NAMES = ["../x", "a/b", ".", "..", "archive", "", "x" * 65, "a b", "a\nb", "-x", ".x"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "words", [("loop:work",), ("explain", "loop:work"), ("status",), ("reset",)]
)
def test_a_name_that_cannot_be_a_sessions_is_refused(
    project: CrashProject, tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    project.write(".loop/001-only-one/ledger.jsonl", "")
    before = {str(p) for p in tmp_path.rglob("*") if "pycache" not in str(p)}
    ran = project.run(*words, f"session={name}")
    assert ran.code == 3, ran
    check_refused(ran, "session", "fix: ")
    after = {str(p) for p in tmp_path.rglob("*") if "pycache" not in str(p)}
    assert {p for p in after - before if ".cache" not in p} == set()
    assert project.calls().total() == 0


@pytest.mark.parametrize("key", ["reads", "writes"])
@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "a/../../secret.md"])
def test_a_path_that_leads_out_of_the_project_is_refused(
    project: CrashProject, key: str, path: str
) -> None:
    project.loop("work", max_iterations=1, **{key: [path]})
    ran = project.run("loop:work", "session=s")
    assert ran.code == 3, ran
    check_refused(ran, path, "fix: ")
    assert project.calls().total() == 0


@pytest.mark.parametrize("path", ["../../../secret.md", "/etc/passwd"])
def test_a_prompt_that_leads_out_of_the_project_is_refused(
    project: CrashProject, path: str
) -> None:
    (project.folder.parent / "secret.md").write_text("secret")
    project.loop(max_iterations=1, prompt=path)
    ran = project.run("loop:work", "session=s")
    assert ran.code == 3, ran
    check_refused(ran, path, "fix: ")
    assert project.calls().total() == 0


@pytest.mark.parametrize("reads", ["docs", "docs/*.md", "**/*.md", "*/plan.md"])
def test_what_a_link_finds_outside_is_neither_read_nor_a_reason(
    project: CrashProject, tmp_path: Path, reads: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "plan.md").write_text("one")
    (project.folder / "docs").symlink_to(outside)
    project.loop(max_iterations=1, reads=[reads])
    ran = project.run("loop:work", "session=s")
    if ran.code:
        assert ran.code == 3
        check_refused(ran, reads, "leads out of the project", "fix: ")
        return
    known = digest(outside / "plan.md")
    assert known not in project.path("s", "ledger.jsonl").read_text()
    (outside / "plan.md").write_text("two")
    ran = project.run("loop:work", "session=s")
    assert "nothing to do" in ran.out
    assert project.calls().total() == 1


def test_a_pipe_among_the_files_makes_nobody_wait(project: CrashProject) -> None:
    (project.folder / "docs").mkdir()
    os.mkfifo(project.folder / "docs/pipe")
    project.write("docs/plan.md", "one")
    project.loop(max_iterations=1, reads=["docs", "docs/pipe"])
    assert project.run("loop:work", "session=s").code == 0


def test_an_output_that_is_a_link_is_not_written_through(
    project: CrashProject, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    linking = f"ln -sf {victim} .loop/s/work/{{state.json,progress.md}}"
    project.script("agent.sh", f"#!/bin/bash\n{linking}\necho done\n")
    project.run("loop:work", "session=s")
    assert victim.read_text() == "untouched"
