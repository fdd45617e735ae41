"""A fan whose board changes while it runs: people and agents change their minds."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject

CLAIM = "BD_ACTOR=ann bd update x --claim"
GIVE_BACK = "BD_ACTOR=ann bd update x --status open -a ''"


@pytest.mark.parametrize(
    ("away", "back"),
    [
        (CLAIM, GIVE_BACK),
        ("bd update x --status deferred", "bd update x --status open"),
        ("bd update x --defer 2999-01-01", "bd update x --defer ''"),
    ],
)
def test_a_bead_that_is_free_again_is_run_in_the_same_run(
    fan: BeadProject, away: str, back: str
) -> None:
    fan.bead("a", priority=0)
    fan.bead("x", priority=1)
    fan.bead("b", priority=2)
    fan.does("a", away)
    fan.does("b", back)
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "b:1", "x:1"]


def test_a_bead_in_other_hands_from_the_start_is_run_once_it_is_given_back(
    fan: BeadProject,
) -> None:
    fan.bead("x", status="in_progress", assignee="ann")
    fan.bead("a")
    fan.bead("b", "a")
    fan.does("a", GIVE_BACK)
    fan.ok(SWARM, SESSION)
    assert sorted(fan.began()) == ["a:1", "b:1", "x:1"]


def test_a_bead_put_off_until_a_moment_is_run_when_that_has_come(
    fan: BeadProject,
) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    fan.bead("x", defer_until=soon.isoformat())
    fan.bead("a")
    fan.does("a", "sleep 1.5")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "x:1"]


def test_beads_that_wait_for_people_do_not_wait_for_each_other(
    fan: BeadProject,
) -> None:
    fan.bead("a", priority=0)
    fan.bead("x", priority=1)
    fan.bead("y", "x", priority=1)
    fan.bead("z", priority=3)
    fan.does("a", f"{CLAIM}; BD_ACTOR=ann bd update z --claim; bd dep remove y x")
    ran = fan.doit(SWARM, SESSION)
    assert (ran.code, fan.began()) == (4, ["a:1", "y:1"]), ran
    assert "`x` by ann" in ran.last


def test_an_open_bead_that_is_assigned_to_somebody_is_theirs(fan: BeadProject) -> None:
    fan.bead("hers", assignee="ann")
    fan.bead("a")
    ran = fan.doit(SWARM, SESSION)
    assert (ran.code, fan.began()) == (4, ["a:1"]), ran
    assert "`hers` by ann" in ran.last
    assert (
        "others   bead:hers  Do hers (in the hands of ann)"
        in fan.ok("list", SESSION).out
    )


def test_a_bead_blocked_while_it_is_worked_on_is_closed_after_its_blocker(
    fan: BeadProject,
) -> None:
    fan.bead("a", priority=0)
    fan.bead("b")
    fan.does("a", "bd dep add a b")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "b:1"]
    assert fan.statuses() == {"a": "closed", "b": "closed"}


def test_a_bead_blocked_between_its_iterations_goes_on_after_its_blocker(
    fan: BeadProject,
) -> None:
    fan.swarm(max_iterations=2)
    fan.bead("a", priority=0)
    fan.bead("b")
    fan.does("a.1", "bd dep add a b")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "b:1", "b:2", "a:2"]


def test_what_was_paid_for_before_a_bead_was_blocked_is_not_paid_again(
    fan: BeadProject,
) -> None:
    fan.bead("a")
    fan.bead("hers", status="in_progress", assignee="ann")
    fan.does("a", "bd dep add a hers")
    ran = fan.doit(SWARM, SESSION)
    assert ran.code == 4, ran
    assert fan.beads.beads().find("a").get("assignee") is None
    fan.beads.release("hers")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "hers:1"]
    assert fan.statuses() == {"a": "closed", "hers": "closed"}


def test_a_failing_bead_leaves_the_claim_of_whoever_took_it_over(
    fan: BeadProject,
) -> None:
    fan.swarm(attempts=1)
    fan.bead("a")
    fan.does("a", "bd update a -a ann; exit 1")
    ran = fan.doit(SWARM, SESSION)
    assert ran.code == 1, ran
    assert fan.beads.beads().find("a")["assignee"] == "ann"
