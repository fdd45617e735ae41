"""Prerequisites: children come first, unless that would make anybody wait forever."""

from graphlib import CycleError, TopologicalSorter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.board import Board
from looptasks.core.dependency import find_cycles
from looptasks.core.prerequisite import (
    first_children,
    is_container,
    needs_of,
)

Bead = dict[str, Any]
NAMES = "abcdef"


def bead(name: str, *needs: tuple[str, str], **fields: Any) -> Bead:
    """Return a bead that depends on others, as (kind, id)."""
    entries = [{"depends_on_id": on, "type": kind} for kind, on in needs]
    return {"id": name, "status": "open", "dependencies": entries, **fields}


def test_open_children_hold_their_parent_and_closed_ones_do_not() -> None:
    child = bead("c", ("parent-child", "p"))
    board = Board.of([bead("p"), child])
    assert needs_of(board, board.find("p")).holders == ("c",)
    closed = board.after([{**child, "status": "closed"}])
    assert needs_of(closed, closed.find("p")).holders == ()
    assert needs_of(closed, closed.find("p")).blockers == ("c",)


def test_a_child_that_needs_its_parent_in_the_end_does_not_hold_it() -> None:
    board = Board.of(
        [
            bead("p"),
            bead("c", ("parent-child", "p"), ("blocks", "x")),
            bead("d", ("parent-child", "p")),
            bead("x", ("blocks", "p")),
        ]
    )
    assert first_children(board, board.find("p")) == ["d"]


def test_only_an_epic_with_children_is_a_container() -> None:
    board = Board.of(
        [
            bead("e", issue_type="epic"),
            bead("c", ("parent-child", "e")),
            bead("t"),
            bead("d", ("parent-child", "t")),
            bead("lone", issue_type="epic"),
        ]
    )
    found = [b["id"] for b in board.all() if is_container(board, b)]
    assert found == ["e"]


def test_a_bead_waits_for_what_its_parent_waits_for() -> None:
    board = Board.of(
        [
            bead("x"),
            bead("p", ("blocks", "x")),
            bead("c", ("parent-child", "p")),
        ]
    )
    assert needs_of(board, board.find("c")).blockers == ("x",)


kinds = st.sampled_from(["blocks", "parent-child", "waits-for", "related"])
boards = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(
        st.lists(st.tuples(kinds, st.sampled_from(NAMES)), max_size=3),
        st.sampled_from(["open", "open", "in_progress", "closed"]),
    ),
    min_size=2,
).map(
    lambda drawn: Board.of(
        bead(name, *(need for need in needs if need[1] != name), status=state)
        for name, (needs, state) in drawn.items()
    )
)


@given(boards)
def test_children_add_no_circle_to_a_board_that_has_none(board: Board) -> None:
    before = {b["id"]: _real(board, b) for b in board.live()}
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return  # people made it, and are told so
    after = {b["id"]: needs_of(board, b).holders for b in board.live()}
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        pytest.fail(f"{error} in {list(board.all())}, {find_cycles(board)}")


def _real(board: Board, bead: Bead) -> set[str]:
    """Return what holds a bead, its children aside."""
    return set(needs_of(board, bead).holders).difference(first_children(board, bead))
