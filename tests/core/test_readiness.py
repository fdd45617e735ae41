"""Readiness: each rule by name, and all of them against a naive oracle."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looptasks.core.bead import Bead
from looptasks.core.bead_filter import Filter
from looptasks.core.board import Board
from looptasks.core.dependency import cycles_in, find_cycles
from looptasks.core.readiness import blocked, holds, is_held, ready
from looptasks.core.tracker import deadlock, progress
from looptasks.core.wave import into_waves

NOW = 1_800_000_000 * 10**9  # in January 2027
PAST = "2026-12-31T23:59:59.5+01:00"
FUTURE = "2027-12-31T00:00:00Z"
LABEL = "loop/s"


def bead(id_: str, *needs: tuple[str, str], **fields: Any) -> Bead:
    entries = [{"issue_id": id_, "depends_on_id": on, "type": way} for way, on in needs]
    made = {"id": id_, "title": id_, "status": "open", "priority": 2}
    return {**made, "labels": [LABEL], "dependencies": entries, **fields}


def waiting(id_: str, on: str, gate: str) -> Bead:
    made = bead(id_, ("waits-for", on))
    made["dependencies"][0]["metadata"] = f'{{"gate":"{gate}"}}'
    return made


def ready_ids(*beads: Bead, **wanted: Any) -> list[str]:
    return [b["id"] for b in ready(Board.of(beads), NOW, Filter(**wanted))]


@pytest.mark.parametrize(
    "status", ["in_progress", "blocked", "deferred", "closed", "pinned", "hooked"]
)
def test_only_an_open_bead_is_ready(status: str) -> None:
    assert ready_ids(bead("a", status=status), bead("b")) == ["b"]


def test_a_bead_without_a_status_is_open() -> None:
    nameless = bead("a")
    del nameless["status"]
    assert ready_ids(nameless) == ["a"]


@pytest.mark.parametrize("flag", ["pinned", "ephemeral", "is_template"])
def test_what_is_no_work_is_not_ready(flag: str) -> None:
    assert ready_ids(bead("a", **{flag: True})) == []


@pytest.mark.parametrize(
    "kind", ["gate", "molecule", "message", "merge-request", "agent", "role", "rig"]
)
def test_a_type_that_is_no_work_is_ready_only_when_asked_for(kind: str) -> None:
    assert ready_ids(bead("a", issue_type=kind)) == []
    assert ready_ids(bead("a", issue_type=kind), types=(kind,)) == ["a"]


def test_a_deferred_bead_is_ready_only_after_its_time() -> None:
    beads = (bead("a", defer_until=FUTURE), bead("b", defer_until=PAST))
    assert ready_ids(*beads) == ["b"]


def test_a_deferred_parent_defers_its_children_and_not_theirs() -> None:
    top = bead("t", defer_until=FUTURE)
    child = bead("c", ("parent-child", "t"))
    grandchild = bead("g", ("parent-child", "c"))
    assert ready_ids(top, child, grandchild) == ["g"]


def test_a_time_that_cannot_be_read_is_not_past() -> None:
    assert ready_ids(bead("a", defer_until="some day")) == []


@pytest.mark.parametrize("status", ["open", "in_progress", "blocked", "deferred"])
def test_a_blocker_that_is_not_settled_holds(status: str) -> None:
    assert "b" not in ready_ids(bead("a", status=status), bead("b", ("blocks", "a")))


@pytest.mark.parametrize("status", ["closed", "pinned", "tombstone"])
def test_a_settled_blocker_holds_nothing(status: str) -> None:
    assert ready_ids(bead("a", status=status), bead("b", ("blocks", "a"))) == ["b"]


def test_a_blocker_that_does_not_exist_holds_nothing() -> None:
    assert ready_ids(bead("b", ("blocks", "nowhere"))) == ["b"]


@pytest.mark.parametrize("way", ["related", "discovered-from", "duplicates", "tracks"])
def test_other_dependencies_hold_nothing(way: str) -> None:
    assert ready_ids(bead("a"), bead("b", (way, "a"))) == ["a", "b"]


def test_a_held_parent_holds_its_children_and_theirs() -> None:
    beads = (
        bead("x"),
        bead("p", ("blocks", "x")),
        bead("p.1", ("parent-child", "p")),
        bead("p.1.1", ("parent-child", "p.1")),
    )
    assert ready_ids(*beads) == ["x"]
    (hold,) = holds(Board.of(beads), beads[3])
    assert (hold.by, hold.via) == ("x", "p")


def test_an_open_parent_does_not_hold_its_children() -> None:
    assert ready_ids(bead("p"), bead("c", ("parent-child", "p"))) == ["c", "p"]


@pytest.mark.parametrize("status", ["closed", "pinned"])
def test_a_settled_parent_is_never_held_so_nothing_comes_through_it(
    status: str,
) -> None:
    parent = bead("p", ("blocks", "x"), status=status)
    assert ready_ids(bead("x"), parent, bead("c", ("parent-child", "p"))) == ["c", "x"]


def test_parents_in_a_circle_hold_nothing() -> None:
    beads = (bead("a", ("parent-child", "b")), bead("b", ("parent-child", "a")))
    assert ready_ids(*beads) == ["a", "b"]
    assert find_cycles(Board.of(beads)) == []


def test_waiting_for_children_ends_when_all_are_settled() -> None:
    waiter = waiting("w", "s", "all-children")
    spawner = bead("s", status="in_progress")
    one = bead("s.1", ("parent-child", "s"), status="closed")
    two = bead("s.2", ("parent-child", "s"), status="in_progress")
    assert ready_ids(waiter, spawner, one, two) == []
    assert ready_ids(waiter, spawner, one, {**two, "status": "closed"}) == ["w"]


def test_waiting_for_any_child_ends_with_the_first_closed_one() -> None:
    waiter = waiting("w", "s", "any-children")
    one = bead("s.1", ("parent-child", "s"), status="in_progress")
    two = bead("s.2", ("parent-child", "s"), status="in_progress")
    assert ready_ids(waiter, one, two) == []
    assert ready_ids(waiter, one, {**two, "status": "closed"}) == ["w"]


def test_waiting_for_a_bead_without_children_holds_nothing() -> None:
    assert ready_ids(waiting("w", "s", "all-children"), bead("s")) == ["s", "w"]


def test_a_conditional_bead_runs_only_if_the_other_fails() -> None:
    plan_b = bead("b", ("conditional-blocks", "a"))
    failed = bead("a", status="closed", close_reason="Timeout after 3 tries")
    done = bead("a", status="closed", close_reason="Done")
    assert ready_ids(bead("a"), plan_b) == ["a"]
    assert ready_ids(failed, plan_b) == ["b"]
    assert ready_ids(done, plan_b) == []
    (hold,) = holds(Board.of([done, plan_b]), plan_b)
    assert str(hold) == "runs only if `a` fails, and it did not"


def test_the_order_is_priority_then_newest_then_id() -> None:
    beads = (
        bead("old", created_at="2026-01-01T00:00:00Z"),
        bead("new", created_at="2026-01-01T01:00:00.5+00:30"),
        bead("b", priority=0),
        bead("a", priority=0),
        bead("late", priority=4),
    )
    assert ready_ids(*beads) == ["a", "b", "new", "old", "late"]
    assert ready_ids(*beads, limit=2) == ["a", "b"]


def test_filters_must_all_fit() -> None:
    beads = (
        bead("a", labels=["x", "y"], assignee="me", issue_type="bug"),
        bead("b", labels=["x"]),
        bead("c", ("parent-child", "a"), labels=["z"]),
        bead("d", ("parent-child", "c"), labels=["z"]),
    )
    assert ready_ids(*beads, labels=("x", "y")) == ["a"]
    assert ready_ids(*beads, any_labels=("y", "z")) == ["a", "c", "d"]
    assert ready_ids(*beads, without_labels=("x",)) == ["c", "d"]
    assert ready_ids(*beads, unassigned=True, labels=("x",)) == ["b"]
    assert ready_ids(*beads, assignee="me") == ["a"]
    assert ready_ids(*beads, types=("bug",)) == ["a"]
    assert ready_ids(*beads, under="a") == ["c", "d"]
    assert ready_ids(*beads, parent="a") == ["c"]


# --- any board -----------------------------------------------------------------------

IDS = [f"b{n}" for n in range(7)]
WAYS = ["blocks", "parent-child", "conditional-blocks", "waits-for", "related"]
STATUSES = ["open"] * 4 + ["in_progress", "closed", "pinned", "blocked", "tombstone"]
SETTLED = ("closed", "pinned", "tombstone")
GATES = [None, '{"gate":"any-children"}', '{"gate":"all-children"}', "{}", "no JSON"]


@st.composite
def boards(draw: st.DrawFn) -> list[Bead]:
    beads = []
    for id_ in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=7)):
        pairs = draw(
            st.lists(
                st.tuples(st.sampled_from(WAYS), st.sampled_from([*IDS, "nowhere"])),
                max_size=3,
            )
        )
        made = bead(id_, *pairs)
        made["status"] = draw(st.sampled_from(STATUSES))
        made["close_reason"] = draw(st.sampled_from(["", "done", "It failed."]))
        made["labels"] = draw(st.sampled_from([[], [LABEL]]))
        for entry in made["dependencies"]:
            gate = draw(st.sampled_from(GATES))
            if gate is not None:
                entry["metadata"] = gate
        beads.append(made)
    return beads


def oracle(beads: Iterable[Bead]) -> set[str]:
    """Return what is held, by repeating the rules until nothing changes."""
    known = {b["id"]: b for b in beads}
    held: set[str] = set()
    while True:
        more = {id_ for id_ in known if _is_held(known, held, id_)}
        if more == held:
            return held
        held = more


def _is_held(known: dict[str, Bead], held: set[str], id_: str) -> bool:
    if known[id_]["status"] in SETTLED:
        return False
    return any(
        (entry["type"] == "parent-child" and entry["depends_on_id"] in held)
        or _blocks(known, entry)
        or _makes_wait(known, entry)
        for entry in known[id_]["dependencies"]
    )


def _blocks(known: dict[str, Bead], entry: dict[str, Any]) -> bool:
    other = known.get(entry["depends_on_id"])
    if entry["type"] not in ("blocks", "conditional-blocks") or other is None:
        return False
    succeeded = other["status"] == "closed" and "fail" not in other["close_reason"]
    return other["status"] not in SETTLED or (
        entry["type"] == "conditional-blocks" and succeeded
    )


def _makes_wait(known: dict[str, Bead], entry: dict[str, Any]) -> bool:
    children = [
        child["status"]
        for child in known.values()
        for d in child["dependencies"]
        if (d["type"], d["depends_on_id"]) == ("parent-child", entry["depends_on_id"])
    ]
    enough = entry.get("metadata") == GATES[1] and "closed" in children
    left = any(status not in SETTLED for status in children)
    return entry["type"] == "waits-for" and left and not enough


@settings(max_examples=2000, deadline=None)
@given(boards())
def test_held_is_the_least_fixpoint_of_the_rules(beads: list[Bead]) -> None:
    board = Board.of(beads)
    assert {b["id"] for b in board.all() if is_held(board, b)} == oracle(beads)


@settings(max_examples=300, deadline=None)
@given(boards())
def test_ready_and_blocked_never_share_a_bead(beads: list[Bead]) -> None:
    board = Board.of(beads)
    free = {b["id"] for b in ready(board, NOW, Filter())}
    stuck = {b["id"] for b, _ in blocked(board, Filter())}
    assert not free & stuck
    assert free | stuck | {b["id"] for b in beads if b["status"] != "open"} == {
        b["id"] for b in beads
    }
    assert not stuck & {b["id"] for b in beads if b["status"] in SETTLED}


@settings(max_examples=300, deadline=None)
@given(boards())
def test_every_open_bead_is_in_one_wave_after_all_that_holds_it_or_stuck(
    beads: list[Bead],
) -> None:
    board = Board.of(beads)
    waves = into_waves(board, LABEL)
    level = {id_: n for n, wave in enumerate(waves) for id_ in wave}
    assert sum(map(len, waves)) == len(level)
    assert all(waves)
    for id_, number in level.items():
        found = board.get(id_)
        assert found is not None
        assert LABEL in found["labels"]
        assert found["status"] not in SETTLED
        for hold in holds(board, found):
            if hold.by in level:
                assert level[hold.by] < number
    chosen = {b["id"] for b in beads if LABEL in b["labels"]}
    live = {b["id"] for b in beads if b["status"] not in SETTLED}
    if not find_cycles(board):
        assert set(level) == chosen & live


@settings(max_examples=300, deadline=None)
@given(boards())
def test_a_cycle_is_a_path_of_holds_that_ends_where_it_began(beads: list[Bead]) -> None:
    board = Board.of(beads)
    for path in find_cycles(board):
        assert path[0] == path[-1]
        assert len(set(path)) == len(path) - 1
        for here, there in pairwise(path):
            found = board.get(here)
            assert found is not None
            assert there in [hold.by for hold in holds(board, found)]


@given(
    st.dictionaries(
        st.sampled_from(IDS), st.lists(st.sampled_from(IDS), max_size=3), max_size=7
    )
)
def test_there_is_a_cycle_exactly_when_things_cannot_be_sorted(
    needs: dict[str, list[str]],
) -> None:
    done: set[str] = set()
    while more := {
        id_
        for id_, wanted in needs.items()
        if id_ not in done and all(w in done or w not in needs for w in wanted)
    }:
        done |= more
    assert bool(cycles_in(needs)) == (len(done) < len(needs))


@settings(max_examples=300, deadline=None)
@given(boards())
def test_progress_counts_every_bead_of_the_label_once(beads: list[Bead]) -> None:
    found = progress(Board.of(beads), LABEL, NOW)
    groups = [
        *(b["id"] for group in (*found[:3], *found[4:]) for b in group),
        *(b["id"] for b, _ in found.held),
    ]
    wanted = [
        b["id"] for b in beads if LABEL in b["labels"] and b["status"] != "tombstone"
    ]
    assert sorted(groups) == sorted(wanted)


# --- progress ------------------------------------------------------------------------


def test_progress_is_complete_when_all_are_closed_deferred_or_pinned() -> None:
    beads = [
        bead("a", status="closed"),
        bead("b", status="deferred"),
        bead("c", status="pinned"),
        bead("d", defer_until=FUTURE),
        bead("e", labels=[]),
    ]
    assert progress(Board.of(beads), LABEL, NOW).is_complete


def test_nothing_ready_while_some_are_in_progress_is_waiting() -> None:
    beads = [bead("a", status="in_progress"), bead("b", ("blocks", "a"))]
    found = progress(Board.of(beads), LABEL, NOW)
    assert (found.is_waiting, found.is_complete, found.is_deadlocked) == (1, 0, 0)


def test_a_deadlock_by_a_cycle_prints_the_cycle() -> None:
    beads = [
        bead("a", ("blocks", "c")),
        bead("b", ("blocks", "a")),
        bead("c", ("blocks", "b")),
        bead("d", ("blocks", "a")),
    ]
    board = Board.of(beads)
    found = progress(board, LABEL, NOW)
    assert found.is_deadlocked
    assert deadlock(board, found) == "a cycle: a -> c -> b -> a"


def test_a_deadlock_through_a_parent_is_found() -> None:
    beads = [bead("p", ("blocks", "c")), bead("c", ("parent-child", "p"))]
    assert find_cycles(Board.of(beads)) == [["c", "c"]]


def test_a_deadlock_without_a_cycle_names_the_blockers() -> None:
    beads = [bead("a", labels=[]), bead("b", ("blocks", "a"))]
    board = Board.of(beads)
    assert deadlock(board, progress(board, LABEL, NOW)) == "`b` waits for `a`"


def test_a_bead_without_the_label_makes_no_wave_of_its_own() -> None:
    beads = [
        bead("a"),
        bead("between", ("blocks", "a"), labels=[]),
        bead("b", ("blocks", "between")),
    ]
    assert into_waves(Board.of(beads), LABEL) == [["a"], ["b"]]


def test_children_of_a_held_parent_are_later_than_what_holds_it() -> None:
    beads = [bead("x"), bead("p", ("blocks", "x")), bead("c", ("parent-child", "p"))]
    assert into_waves(Board.of(beads), LABEL) == [["x"], ["c", "p"]]
