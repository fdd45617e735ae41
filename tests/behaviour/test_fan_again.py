"""A fan again: what a second run repeats, and what it leaves alone."""

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject


@pytest.fixture
def done(fan: BeadProject) -> BeadProject:
    """Return a project whose beads a, b after a, c after b, and d are done."""
    fan.bead("a")
    fan.bead("b", "a")
    fan.bead("c", "b")
    fan.bead("d")
    fan.does("any", 'echo "did $LOOP_BEAD"')
    fan.ok(SWARM, SESSION)
    fan.new_runs()
    return fan


def reword(fan: BeadProject) -> None:
    """Have bead b ask for something else."""
    fan.beads.update("b", {"description": "Something else"}, "ann")


def fates(fan: BeadProject) -> dict[str, str]:
    """Return what a run would do to each bead, by the word of `doit explain`."""
    (entry,) = fan.ok("explain", SWARM, SESSION, "--json").json["entries"]
    found = {stage["task"]: stage["fate"] for stage in entry["stages"]}
    del found[SWARM]
    return found


def test_nothing_is_repeated_when_nothing_changed(done: BeadProject) -> None:
    assert done.ok(SWARM, SESSION).last.startswith("nothing to do")
    assert done.ok("-n", "2", SWARM, SESSION).last.startswith("nothing to do")
    assert done.runs() == []


def test_a_reworded_bead_is_repeated_and_what_rests_on_it_is_not(
    done: BeadProject,
) -> None:
    reword(done)
    assert fates(done) == {"bead:b": "run", "bead:c": "maybe"}
    done.ok(SWARM, SESSION)
    assert done.began() == ["b:1"]
    assert set(done.archived("s")) == {"did b\n"}
    assert done.ok(SWARM, SESSION).last.startswith("nothing to do")


def test_what_rests_on_a_bead_is_repeated_when_its_outcome_changed(
    done: BeadProject,
) -> None:
    reword(done)
    done.does("b", "echo something else")
    done.ok("-n", "2", SWARM, SESSION)
    assert done.began() == ["b:1", "c:1"]
    assert set(done.statuses().values()) == {"closed"}


@pytest.mark.parametrize(("outcome", "expected"), [("did b", 1), ("new", 2)])
def test_a_reopened_bead_is_repeated_and_dependents_only_if_it_came_out_differently(
    done: BeadProject, outcome: str, expected: int
) -> None:
    done.beads.reopen("b", "not good enough")
    done.does("b", f"echo {outcome}")
    assert fates(done) == {"bead:b": "run", "bead:c": "maybe"}
    done.ok(SWARM, SESSION)
    assert done.began() == ["b:1", "c:1"][:expected]


@pytest.mark.parametrize(
    "change", [{"priority": "0"}, {"assignee": "ann"}, {"add_labels": ["more"]}]
)
def test_who_does_a_bead_and_when_is_no_change(
    done: BeadProject, change: dict[str, object]
) -> None:
    done.beads.update("b", change, "ann")
    assert done.ok(SWARM, SESSION).last.startswith("nothing to do")


def test_a_reworded_bead_waits_for_a_blocker_that_was_opened_again(
    done: BeadProject,
) -> None:
    reword(done)
    done.beads.reopen("a", "again")
    done.ok("-n", "2", SWARM, SESSION)
    assert done.began() == ["a:1", "b:1"]


def test_explain_tells_a_bead_that_somebody_else_holds(done: BeadProject) -> None:
    done.bead("hers", status="in_progress", assignee="ann")
    done.bead("e", "hers")
    done.bead("f")
    assert fates(done) == {"bead:f": "run", "bead:e": "blocked"}
    assert "blocked by hers" in done.ok("explain", SWARM, SESSION).out


def test_a_forgotten_bead_is_repeated_and_only_that(done: BeadProject) -> None:
    done.ok("forget", "bead:b", SESSION)
    assert fates(done) == {"bead:b": "run", "bead:c": "maybe"}
    done.ok(SWARM, SESSION)
    assert done.began() == ["b:1"]


def test_forgetting_the_stage_forgets_its_beads(done: BeadProject) -> None:
    done.ok("forget", SWARM, SESSION)
    done.ok(SWARM, SESSION)
    assert sorted(done.began()) == ["a:1", "b:1", "c:1", "d:1"]


def test_a_cleaned_bead_goes_to_the_archive_and_is_repeated(done: BeadProject) -> None:
    done.ok("clean", "bead:b", SESSION)
    assert not done.session("s", "beads", "b", "iterations", "0001").exists()
    assert set(done.archived("s")) == {"did b\n"}
    done.ok(SWARM, SESSION)
    assert done.began() == ["b:1"]


def test_one_iteration_of_a_bead_can_be_forgotten(fan: BeadProject) -> None:
    fan.swarm(max_iterations=3)
    fan.bead("a")
    fan.ok(SWARM, SESSION)
    fan.new_runs()
    fan.ok("forget", "bead:a:0002", SESSION)
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:2"]


def test_info_knows_beads_and_their_iterations(done: BeadProject) -> None:
    assert ".loop/s/beads/b/state.json" in done.ok("info", "bead:b", SESSION).out
    assert "up-to-date" in done.ok("info", "bead:b:0001", SESSION).out
    reword(done)
    ran = done.doit("info", "bead:b", SESSION)
    assert ran.code == 1
    assert "input `bead` changed" in ran.out


def test_all_beads_and_iterations_are_listed_on_demand(done: BeadProject) -> None:
    done.bead("new")
    listed = [
        line.split()[0] for line in done.ok("list", "--all", SESSION).out.splitlines()
    ]
    beads = [f"bead:{b}{tail}" for b in "abcd" for tail in ("", ":0001")]
    assert listed == [*beads, "bead:new", SWARM]
    marks = done.ok("list", "--all", "--status", SESSION).out
    assert "R bead:new" in marks
    assert "U bead:a:0001" in marks


def test_a_clean_board_of_300_runs_no_agent(fan: BeadProject) -> None:
    for number in range(300):
        blockers = [f"n{number - 1}"] if number % 3 else []
        fan.bead(f"n{number}", *blockers, status="closed")
    ran = fan.ok(SWARM, SESSION)
    assert fan.runs() == []
    assert "all 300 beads are closed" in ran.last
    assert fan.ok(SWARM, SESSION).last.startswith("nothing to do")
    fan.bead("late")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["late:1"]


def test_deleting_doits_memory_repeats_nothing(done: BeadProject) -> None:
    done.forget_doit("s")
    done.ok(SWARM, SESSION)
    assert done.runs() == []


def test_always_repeats_every_bead_that_was_done(done: BeadProject) -> None:
    done.ok("-a", SWARM, SESSION)
    assert sorted(done.began()) == ["a:1", "b:1", "c:1", "d:1"]
