"""beads-empty: agents pick beads one after the other until none is left."""

import pytest

from tests.support.bead_project import SESSION, BeadProject
from tests.support.crash import until
from tests.support.project import Ran

WORK = "loop:work"


@pytest.fixture
def work(fan: BeadProject) -> BeadProject:
    """Return a project whose `loop:work` works through beads one by one."""
    declare(fan)
    fan.bead("a")
    fan.bead("b", "a")
    return fan


def declare(fan: BeadProject, **settings: object) -> None:
    """Declare the loop; it has no limit that would end it too soon."""
    plain = {"completion": "beads-empty", "max_iterations": 9, "backoff": 0}
    fan.loop("work", "Pick one by ${BD}.\n${FEEDBACK}", **{**plain, **settings})


def closes(fan: BeadProject, *names: str) -> None:
    """Script agents that close one bead each, in this order, and then nothing."""
    for number, name in enumerate(names, 1):
        fan.does(f"work.{number}", f"bd update {name} --claim; bd close {name} -r done")
    fan.does("work", "true")


def test_the_loop_is_complete_when_no_bead_is_left(work: BeadProject) -> None:
    closes(work, "a", "b")
    ran = work.ok(WORK, SESSION)
    assert work.began() == ["work:1", "work:2"]
    assert "all 2 beads are closed" in ran.last
    assert work.ok(WORK, SESSION).last.startswith("nothing to do")


def test_an_agents_word_does_not_count_when_the_tracker_disagrees(
    work: BeadProject,
) -> None:
    closes(work, "a")
    work.does("work.1", "bd close a -r done; echo '<promise>COMPLETE</promise>'")
    work.does("work.2", "echo '<promise>COMPLETE</promise>'; bd close b -r done")
    work.ok(WORK, SESSION)
    assert work.began() == ["work:1", "work:2"]


@pytest.mark.parametrize("status", ["deferred", "pinned"])
def test_what_is_put_off_or_pinned_is_not_waited_for(
    work: BeadProject, status: str
) -> None:
    closes(work, "a", "b")
    work.bead("later", status=status)
    work.ok(WORK, SESSION)
    assert work.began() == ["work:1", "work:2"]


def test_beads_of_other_sessions_are_not_waited_for(work: BeadProject) -> None:
    closes(work, "a", "b")
    work.bead("theirs", labels=["loop/other"])
    work.ok(WORK, SESSION)
    assert work.status("theirs") == "open"


def waits(ran: Ran) -> bool:
    """Tell whether a run waits for somebody."""
    return ran.code == 4 and ran.last.startswith("waiting: ")


def test_a_bead_in_other_hands_makes_the_loop_wait(work: BeadProject) -> None:
    closes(work, "a")
    work.bead("c", status="in_progress", assignee="ann")
    work.beads.update("b", {"status": "deferred"}, "ann")
    ran = work.doit(WORK, SESSION)
    assert waits(ran), ran
    assert "`c` by ann" in ran.last
    assert work.began() == ["work:1"]
    assert work.state("s", "work")["status"] == "waiting"
    work.beads.close("c", "done by hand")
    work.ok(WORK, SESSION)
    assert work.began() == ["work:1"]


def test_a_deadlock_is_a_failure_that_names_the_blockers(work: BeadProject) -> None:
    closes(work, "a", "b")
    work.bead("far", labels=["other"])
    work.bead("c", "far")
    ran = work.doit(WORK, SESSION)
    assert ran.code == 1, ran
    assert "deadlocked" in ran.last
    assert "`c` waits for `far`" in ran.last
    assert work.began() == ["work:1", "work:2"]


def test_a_deadlock_names_the_cycle(work: BeadProject) -> None:
    closes(work, "a", "b")
    work.bead("c", "d")
    work.bead("d", "c")
    ran = work.doit(WORK, SESSION)
    assert ran.code == 1, ran
    assert "a cycle: c -> d -> c" in ran.last


@pytest.mark.parametrize("check_before", [True, False])
def test_without_any_bead_no_agent_is_started(
    fan: BeadProject, check_before: bool
) -> None:
    declare(fan, check_before=check_before)
    ran = fan.ok(WORK, SESSION)
    assert fan.runs() == [], ran
    assert "all 0 beads are closed" in ran.out


def test_a_new_bead_makes_a_finished_session_go_on(work: BeadProject) -> None:
    closes(work, "a", "b", "c")
    work.ok(WORK, SESSION)
    work.bead("c")
    ran = work.ok(WORK, SESSION)
    assert "resuming s: 2 iterations done, continuing with 3" in ran.out
    assert work.began() == ["work:1", "work:2", "work:3"]


def test_the_claim_of_an_agent_that_is_gone_is_released_between_iterations(
    work: BeadProject,
) -> None:
    closes(work, "a", "b")
    work.does("work.1", "bd update a --claim; echo x > touched")
    work.does("work.2", "bd show a --json > /dev/null; bd update a --claim && touch ok")
    work.does("work.3", "bd close a -r done")
    work.does("work.4", "bd close b -r done")
    work.ok(WORK, SESSION)
    assert work.path("ok").exists()


def test_the_claim_of_a_killed_runs_agent_is_released_at_the_next_run(
    work: BeadProject,
) -> None:
    work.does("work", "bd update a --claim; sleep 60")
    process = work.start(WORK, SESSION)
    until(lambda: work.status("a") == "in_progress")
    process.kill()
    process.communicate()
    closes(work, "a", "b")
    work.ok(WORK, SESSION)
    assert work.statuses() == {"a": "closed", "b": "closed"}


def test_a_claim_of_a_person_is_never_released(work: BeadProject) -> None:
    work.bead("c", status="in_progress", assignee="ann")
    closes(work, "a", "b")
    assert waits(work.doit(WORK, SESSION))
    assert work.beads.beads().find("c")["assignee"] == "ann"


def test_three_iterations_without_effect_stop_the_loop(work: BeadProject) -> None:
    work.does("work", "echo thinking")
    ran = work.doit(WORK, SESSION)
    assert ran.code == 1, ran
    assert work.began() == ["work:1", "work:2", "work:3"]
    assert "3 iterations in a row closed and changed nothing" in ran.last
    assert work.state("s", "work")["status"] == "failed"


@pytest.mark.parametrize(("limit", "expected"), [(1, 1), (5, 5), (0, 9)])
def test_how_many_iterations_may_have_no_effect_can_be_set(
    work: BeadProject, limit: int, expected: int
) -> None:
    declare(work, no_progress=limit)
    work.does("work", "echo thinking")
    assert work.doit(WORK, SESSION).code == 1
    assert len(work.began()) == expected


def test_a_claim_alone_is_no_progress(work: BeadProject) -> None:
    work.does("work", "bd update a --claim")
    assert work.doit(WORK, SESSION).code == 1
    assert len(work.began()) == 3


@pytest.mark.parametrize(
    "effect", ["bd close a -r done", "echo x > made", "bd create More -l loop/s"]
)
def test_a_closed_bead_or_a_changed_file_is_progress(
    work: BeadProject, effect: str
) -> None:
    work.does("work", "echo thinking")
    work.does("work.3", effect)
    assert work.doit(WORK, SESSION).code == 1
    assert len(work.began()) == 6


def test_a_rerun_after_no_progress_tries_again(work: BeadProject) -> None:
    work.does("work", "echo thinking")
    assert work.doit(WORK, SESSION).code == 1
    work.does("work.4", "bd close a -r done")
    work.does("work.5", "bd close b -r done")
    work.ok(WORK, SESSION)
    assert len(work.began()) == 5


def test_agents_find_the_tracker(work: BeadProject) -> None:
    work.does("work", 'echo "$BD_ACTOR|$BEADS_DIR"; bd close a b -r x --force')
    work.ok(WORK, SESSION)
    assert work.output("s", "work").strip() == f"loop/s|{work.path('.beads')}"
    assert "-m looptasks.beads" in work.prompt("s", "work", 1)
