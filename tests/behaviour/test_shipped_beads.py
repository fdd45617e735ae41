"""The shipped loops and pipelines for beads: they lint, and do what they promise."""

import pytest

from tests.support.bead_project import SESSION, BeadProject

LOOPS = ("work", "swarm", "refine-beads")
PIPELINES = {"quick-refine": 3, "full-refine": 5, "deep-refine": 8}
STUB = "agent=./agent.sh"
# Refines what is there: the plan first, then its beads.
PLAN = "mkdir -p docs; echo more >> docs/plan.md; echo 'PLATEAU: false'"


@pytest.fixture
def empty(fan: BeadProject) -> BeadProject:
    """Return a project without loops of its own."""
    for path in sorted(fan.path("loops").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    return fan


@pytest.mark.parametrize("name", [*LOOPS, *PIPELINES])
def test_nothing_is_wrong_with_what_is_shipped(empty: BeadProject, name: str) -> None:
    kind = "pipeline" if name in PIPELINES else "loop"
    assert f"{kind}:{name} " in empty.ok("list").out
    assert empty.ok("lint", name).out == "0 errors, 0 warnings\n"


def test_work_ends_when_the_beads_are_done(empty: BeadProject) -> None:
    empty.bead("a")
    empty.bead("b", "a")
    empty.does("work.1", "bd update a --claim; bd close a -r done")
    empty.does("work.2", "bd update b --claim; bd close b -r done")
    empty.ok("loop:work", SESSION, STUB)
    assert empty.began() == ["work:1", "work:2"]
    assert "-m looptasks.beads ready --label=loop/s" in empty.prompt("s", "work", 1)


def test_work_pays_no_agent_when_there_is_no_bead(empty: BeadProject) -> None:
    empty.ok("loop:work", SESSION, STUB)
    assert empty.runs() == []


def test_swarm_checks_each_bead_and_gives_feedback(empty: BeadProject) -> None:
    empty.write("validate.sh", "#!/bin/sh\necho no a yet; test -f a\n").chmod(0o755)
    empty.bead("a")
    empty.does("a.2", "touch a")
    empty.ok("loop:swarm", SESSION, STUB)
    assert empty.began() == ["a:1", "a:2"]
    assert "no a yet" in empty.prompt("s", "beads/a", 2)


def test_swarm_works_in_worktrees_when_several_may_run(empty: BeadProject) -> None:
    empty.write("validate.sh", "#!/bin/sh\nexit 0\n").chmod(0o755)
    empty.bead("a")
    empty.bead("b")
    repo = empty.repository()
    empty.does("any", "echo x > $LOOP_BEAD.txt")
    empty.ok("-n", "2", "loop:swarm", SESSION, STUB)
    assert (repo.shown("a.txt"), repo.shown("b.txt"), repo.status) == ("x", "x", "")


def test_refine_beads_ends_when_two_in_a_row_agree(empty: BeadProject) -> None:
    empty.write("docs/plan.md", "Build it.\n")
    empty.does("refine-beads", "echo 'PLATEAU: true'")
    empty.does("refine-beads.1", "bd create A -l loop/s; echo 'PLATEAU: false'")
    empty.ok("loop:refine-beads", SESSION, STUB)
    assert len(empty.began()) == 3


@pytest.mark.parametrize(("name", "looks"), PIPELINES.items())
def test_a_pipeline_looks_at_plan_and_beads_so_many_times(
    empty: BeadProject, name: str, looks: int
) -> None:
    empty.does("any", PLAN)
    empty.does("refine-beads.1", "bd create A -l loop/s --id p-a")
    empty.ok(f"pipeline:{name}", SESSION, STUB)
    plan = [f"improve-plan:{n}" for n in range(1, looks + 1)]
    beads = [f"refine-beads:{n}" for n in range(1, looks + 1)]
    assert empty.began() == [*plan, *beads]
    empty.does("work", "bd close p-a -r done")
    empty.ok("loop:work", SESSION, STUB)
    assert empty.status("p-a") == "closed"
