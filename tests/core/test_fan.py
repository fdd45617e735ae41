"""A fan: which beads are due, which of them can start, in which order and wave."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.fan import (
    SeenBead,
    actor_of,
    due,
    folder_of,
    is_finished,
    is_ours,
    ordered,
    standings,
    startable,
    waves,
    why_due,
)
from looptasks.core.iteration import Iteration
from looptasks.core.record import SessionRecord
from looptasks.core.stage_record import StageRecord

STATUSES = ("open", "closed", "in_progress", "deferred", "blocked")
Board = dict[str, SeenBead]


def seen(name: str, *blockers: str, status: str = "open", **more: Any) -> SeenBead:
    """Return a bead that asks for the same as ever."""
    bead = SeenBead(name, name, 2, status, "", "asked", blockers)
    return bead._replace(**more)


def board(*beads: SeenBead) -> Board:
    """Return beads by id, each held by those of its blockers that are not closed."""
    by_id = {bead.id: bead for bead in beads}

    def holders(bead: SeenBead) -> tuple[str, ...]:
        return tuple(
            b for b in bead.blockers if b not in by_id or by_id[b].status != "closed"
        )

    return {id_: bead._replace(holders=holders(bead)) for id_, bead in by_id.items()}


def worked(record: SessionRecord, name: str, status: str, asked: str = "asked") -> None:
    """Have the record say that a bead had an iteration, and how its loop stands."""
    stage = record.stage(folder_of(name))
    stage.started_at, stage.status, stage.inputs = "t", status, {"bead": asked}
    stage.iterations.append(
        Iteration.__new__(Iteration, *range(len(Iteration._fields)))
    )


def recorded(**stages: str) -> SessionRecord:
    """Return a record of beads that were worked on, by how their loops stand."""
    record = SessionRecord()
    for name, status in stages.items():
        worked(record, name, status)
    return record


def stage_of(status: str, **more: object) -> StageRecord:
    """Return what the ledger says of a bead."""
    record = recorded(a=status).stages[folder_of("a")]
    for name, value in more.items():
        setattr(record, name, value)
    return record


def test_a_bead_nobody_has_worked_on_is_due_while_it_is_open() -> None:
    assert why_due(seen("a"), None, "s") == "it is open"
    assert why_due(seen("a", status="closed"), None, "s") is None


@pytest.mark.parametrize("status", ["deferred", "blocked", "pinned", "hooked"])
def test_a_bead_that_is_away_is_not_due(status: str) -> None:
    assert why_due(seen("a", status=status), None, "s") is None


@pytest.mark.parametrize(
    ("assignee", "is_due"),
    [("loop/s/a", True), ("loop/s", True), ("loop/s2/a", False), ("ann", False)],
)
def test_only_a_claim_of_our_own_agents_leaves_a_bead_due(
    assignee: str, is_due: bool
) -> None:
    bead = seen("a", status="in_progress", assignee=assignee)
    assert (why_due(bead, None, "s") is not None) == is_due
    assert is_ours(assignee, "s") == is_due


def test_a_finished_bead_is_due_again_when_it_was_reworded_or_reopened() -> None:
    done = stage_of("complete")
    closed = seen("a", status="closed")
    assert why_due(closed, done, "s") is None
    assert why_due(closed._replace(digest="new"), done, "s") == "it was reworded"
    assert why_due(seen("a"), done, "s") == "it was re-opened"


def test_a_forgotten_bead_is_due_although_it_is_closed() -> None:
    record = stage_of("invalidated", reason="forgotten")
    assert why_due(seen("a", status="closed"), record, "s") == "forgotten"


@pytest.mark.parametrize("iterations", [0, 1])
def test_a_bead_closed_by_its_agent_before_the_check_is_due(iterations: int) -> None:
    record = stage_of("running")
    del record.iterations[iterations:]
    ours = seen("a", status="closed", assignee=actor_of("s", "a"))
    assert why_due(ours, record, "s") == "its agent closed it before it was checked"
    assert why_due(ours._replace(assignee="ann"), record, "s") is None


def test_settled_beads_below_a_due_one_are_looked_at_and_others_rest() -> None:
    beads = board(
        seen("a", status="closed"),
        seen("b", "a", status="closed", digest="new"),
        seen("c", "b", status="closed"),
        seen("d", status="closed"),
        seen("e", "c", status="closed"),
    )
    record = recorded(a="complete", b="complete", c="complete", d="complete")
    assert list(due(beads, record, "s")) == ["b", "c"]


def test_a_bead_held_by_somebody_elses_gets_no_turn_nor_does_what_rests_on_it() -> None:
    beads = board(
        seen("a", status="in_progress", assignee="ann"),
        seen("b", "a"),
        seen("c", "b"),
        seen("d"),
        seen("e", "elsewhere"),
    )
    found = due(beads, SessionRecord(), "s")
    assert list(startable(beads, found)) == ["d"]


def test_the_most_urgent_goes_first_and_the_newest_of_equals() -> None:
    beads = board(
        seen("a", priority=2, created="1"),
        seen("b", priority=0, created="1"),
        seen("c", priority=2, created="2"),
    )
    assert ordered(beads, beads) == ["b", "c", "a"]


def test_a_wave_keeps_its_number_while_its_beads_get_done() -> None:
    record = SessionRecord()
    record.began = "2026-01-02"
    old = seen("o", status="closed", closed="2026-01-01")
    new = seen("a", "o", status="closed", closed="2026-01-03")
    assert waves(board(old, new, seen("b", "a")), record) == {"a": 1, "b": 2}


def test_beads_of_a_cycle_are_in_no_wave() -> None:
    beads = board(seen("a", "b"), seen("b", "a"), seen("c", "b"), seen("d"))
    assert waves(beads, SessionRecord()) == {"d": 1}


def test_standings_say_who_holds_what() -> None:
    beads = board(
        seen("a", status="in_progress", assignee="ann"),
        seen("b", "a"),
        seen("c", status="in_progress", assignee="loop/s/c"),
        seen("d", status="closed"),
        seen("e", status="deferred"),
        seen("f"),
    )
    record = recorded(f="failed")
    record.stages["beads/f"].reason = "no luck"
    found = standings(beads, {}, record, "s", lambda bead: bead == "c")
    assert {s.bead.id: (s.state, s.reason) for s in found} == {
        "a": ("others", "in the hands of ann"),
        "b": ("blocked", "by a"),
        "c": ("running", ""),
        "d": ("done", ""),
        "e": ("away", "deferred"),
        "f": ("failed", "no luck"),
    }


@st.composite
def boards(draw: st.DrawFn) -> tuple[Board, SessionRecord]:
    """Return an acyclic board, and a record of some of its beads."""
    record = SessionRecord()
    beads: list[SeenBead] = []
    for number in range(draw(st.integers(0, 9))):
        names = [bead.id for bead in beads]
        blockers = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
        status = draw(st.sampled_from(STATUSES))
        assignee = draw(st.sampled_from(("", "ann", "loop/s/x")))
        bead = seen(f"b{number}", *blockers, status=status, assignee=assignee)
        beads.append(bead._replace(priority=draw(st.integers(0, 4))))
        if draw(st.booleans()):
            stands = draw(st.sampled_from(("complete", "failed", "running")))
            worked(record, bead.id, stands, draw(st.sampled_from(("asked", "old"))))
    draw(st.randoms()).shuffle(beads)
    return board(*beads), record


def chain(beads: Mapping[str, SeenBead], members: set[str], name: str) -> int:
    """Return the length of the longest chain of members that ends in a bead."""
    above = [b for b in beads[name].blockers if b in members]
    return 1 + max((chain(beads, members, b) for b in above), default=0)


@given(boards())
def test_due_are_the_due_ones_and_worked_on_chains_below_them(
    case: tuple[Board, SessionRecord],
) -> None:
    beads, record = case
    stages = record.stages

    def is_due(name: str) -> bool:
        if why_due(beads[name], stages.get(folder_of(name)), "s"):
            return True
        finished = is_finished(beads[name], stages.get(folder_of(name)))
        return finished and any(is_due(b) for b in beads[name].blockers)

    found = due(beads, record, "s")
    assert set(found) == {name for name in beads if is_due(name)}
    assert list(found) == ordered(beads, found)
    assert all(found.values())


@given(boards())
def test_what_can_start_waits_only_for_what_can_start(
    case: tuple[Board, SessionRecord],
) -> None:
    beads, record = case
    found = due(beads, record, "s")

    def can(name: str) -> bool:
        return name in found and all(can(holder) for holder in beads[name].holders)

    assert set(startable(beads, found)) == {name for name in found if can(name)}


@given(boards())
def test_a_wave_is_the_longest_chain_above_a_bead(
    case: tuple[Board, SessionRecord],
) -> None:
    beads, record = case
    members = {bead.id for bead in beads.values() if bead.status != "closed"}
    expected = {name: chain(beads, members, name) for name in members}
    assert waves(beads, record) == expected


@given(boards())
def test_no_bead_shares_a_wave_with_what_it_rests_on_directly(
    case: tuple[Board, SessionRecord],
) -> None:
    beads, record = case
    level = waves(beads, record)
    for name in level:
        for blocker in beads[name].blockers:
            assert blocker not in level or level[blocker] < level[name]


@given(boards())
def test_order_is_by_priority_and_loses_nothing(
    case: tuple[Board, SessionRecord],
) -> None:
    beads, _ = case
    found = ordered(beads, beads)
    assert sorted(found) == sorted(beads)
    priorities = [beads[name].priority for name in found]
    assert priorities == sorted(priorities)
