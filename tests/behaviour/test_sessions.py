"""Sessions: how they are named and found, paused, stopped and archived."""

from pathlib import Path

import pytest

from tests.support.live_processes import within
from tests.support.project import Project

# Runs until the test lets it end.
HELD = "touch at.$LOOP_ITERATION; while [ ! -f go ]; do sleep 0.02; done; echo done"


def sessions(project: Project) -> list[str]:
    found = project.ok("status", "--json").json["sessions"]
    return [session["session"] for session in found]


@pytest.fixture
def held(project: Project) -> Project:
    """Return a project with a loop `x` of three iterations that wait for a file."""
    project.loop("x", max_iterations=3)
    project.step("x", HELD)
    return project


def test_without_session_and_goal_the_loop_names_the_session(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.ok("loop:x")
    assert sessions(project) == ["x"]
    assert project.ok("loop:x").last.startswith("nothing to do")


def test_a_goal_makes_a_new_numbered_session(project: Project) -> None:
    project.loop("x", "${GOAL}", max_iterations=1)
    project.ok("loop:x", "goal=Please add a login page to the shop, with tests!")
    project.ok("loop:x", "goal=Add dark mode")
    project.ok("loop:x", "goal=" + "unbelievably-long-words " * 9)
    names = sessions(project)
    assert names[:2] == ["001-add-login-page-shop-tests", "002-add-dark-mode"]
    assert names[2].startswith("003-")
    assert all(len(name) <= 40 for name in names)


def test_a_unique_part_finds_a_numbered_session(project: Project) -> None:
    project.loop("x", "${GOAL}", max_iterations=1)
    project.ok("loop:x", "goal=Add login page")
    project.ok("loop:x", "goal=Add dark mode")
    project.new_runs()
    assert project.ok("loop:x", "session=dark").last.startswith("nothing to do")
    assert project.ok("status", "session=001").out.startswith("session   001-add-login")
    assert project.runs() == []


def test_an_ambiguous_part_lists_the_candidates(project: Project) -> None:
    project.loop("x", "${GOAL}", max_iterations=1)
    project.ok("loop:x", "goal=Add login page")
    project.ok("loop:x", "goal=Add dark mode")
    ran = project.doit("loop:x", "session=add")
    assert ran.code == 3
    assert "`001-add-login-page`" in ran.err
    assert "`002-add-dark-mode`" in ran.err


@pytest.mark.parametrize("name", ["../up", ".hidden", "a/b", "", "x" * 65, "archive"])
def test_a_name_that_cannot_be_a_folder_is_refused(project: Project, name: str) -> None:
    project.loop("x", max_iterations=1)
    ran = project.doit("loop:x", f"session={name}")
    assert ran.code == 3
    assert project.runs() == []


def test_two_entries_need_one_named_session(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.loop("y", max_iterations=1)
    ran = project.doit("loop:x", "loop:y")
    assert ran.code == 3
    assert "session=" in ran.err
    assert project.runs() == []
    project.ok("loop:x", "loop:y", "session=both")
    assert sorted(project.runs()) == ["x:1", "y:1"]


def test_an_unknown_session_is_an_error_where_one_is_asked_about(
    project: Project,
) -> None:
    project.loop("x", max_iterations=1)
    project.ok("loop:x", "session=auth")
    for command in ("status", "list", "explain", "pause", "reset"):
        ran = project.doit(command, "session=aut")
        assert ran.code == 3, command
        assert "did you mean `auth`?" in ran.err
    assert sessions(project) == ["auth"]


def test_a_running_session_is_neither_forgotten_nor_cleaned_nor_reset(
    held: Project,
) -> None:
    first = held.start("loop:x", "session=s")
    assert within(20, held.path("at.1").exists)
    for command in (["forget", "loop:x"], ["clean", "loop:x"], ["reset"]):
        ran = held.doit(*command, "session=s")
        assert ran.code == 3, command
        assert f"already running (pid {first.pid}" in ran.err
    held.write("go", "")
    out, _ = first.communicate(timeout=30)
    assert first.returncode == 0, out
    assert held.runs() == ["x:1", "x:2", "x:3"]


def test_a_pause_takes_effect_after_the_running_iteration(held: Project) -> None:
    first = held.start("loop:x", "session=s")
    assert within(20, held.path("at.1").exists)
    held.ok("pause", "session=s", "reason=lunch")
    held.write("go", "")
    out, _ = first.communicate(timeout=30)
    assert first.returncode == 4, out
    assert held.new_runs() == ["x:1"]
    assert held.state("s", "x")["status"] == "paused"
    last = out.splitlines()[-1]
    assert last.startswith("waiting: x: pause was asked for")
    ran = held.doit("loop:x", "session=s")
    assert ran.code == 4
    assert held.runs() == []
    assert held.ok("status", "session=s", "--json").json["status"] == "paused"
    assert held.shell(ran.command).code == 0
    assert held.runs() == ["x:2", "x:3"]


def test_a_stop_ends_the_run_but_not_the_session(held: Project) -> None:
    assert held.doit("stop", "session=s").code == 3
    first = held.start("loop:x", "session=s")
    assert within(20, held.path("at.1").exists)
    held.ok("stop", "session=s")
    held.write("go", "")
    out, _ = first.communicate(timeout=30)
    assert first.returncode == 4, out
    assert held.new_runs() == ["x:1"]
    assert "not running" in held.ok("stop", "session=s").out
    command = out.splitlines()[-1].rpartition("; ")[2].partition(": ")[2]
    assert held.shell(command).code == 0
    assert held.runs() == ["x:2", "x:3"]


def test_a_stop_now_ends_the_agent_too(held: Project) -> None:
    first = held.start("loop:x", "session=s")
    assert within(20, held.path("at.1").exists)
    held.ok("stop", "session=s", "now=yes")
    out, _ = first.communicate(timeout=30)
    assert first.returncode == 130, out
    assert out.splitlines()[-1].startswith("interrupted; to go on: doit loop:x")
    attempt = held.json("s", "x/iterations/0001/attempts/1/result.json")
    assert attempt["how"] == "interrupted"
    held.write("go", "")
    held.ok("loop:x", "session=s")
    assert held.state("s", "x")["iteration"] == 3


def test_a_resumed_session_says_so(project: Project) -> None:
    project.loop("x", max_iterations=2, completion="validated", validate="false")
    assert project.doit("loop:x", "session=auth").code == 1
    ran = project.doit("loop:x", "session=auth", "max=3")
    assert "resuming auth: 2 iterations done, continuing with 3" in ran.out


def test_a_reset_archives_the_session_and_starts_clean(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.ok("loop:x", "session=s")
    before = project.files("s")
    ran = project.ok("reset", "session=s")
    assert sessions(project) == []
    (archive,) = project.path(".loop", "archive").iterdir()
    assert str(archive.relative_to(project.root)) in ran.out
    kept = [p for p in archive.rglob("*") if p.is_file() or p.is_symlink()]
    assert sorted(str(p.relative_to(archive)) for p in kept) == before
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:1"]


def test_a_reset_wants_to_know_which_session(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.ok("loop:x", "session=s")
    assert project.doit("reset").code == 3
    assert sessions(project) == ["s"]


def test_a_link_is_not_followed_out_of_the_project(
    project: Project, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    project.loop("x", max_iterations=1)
    project.path(".loop").mkdir()
    project.session("s").symlink_to(elsewhere)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert list(elsewhere.iterdir()) == []
