"""Prerequisites: what must be closed before a bead can have its turn in a fan.

For `ready` an open child does not hold its parent. A fan starts everything that is
ready, and would work on the whole and on its parts at the same time: there, children
come first.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from looptasks.core.bead import SETTLED, kind, parents, status, targets
from looptasks.core.board import Board
from looptasks.core.readiness import holds

Bead = dict[str, Any]


class Needs(NamedTuple):
    """What a bead waits for.

    `blockers` must be closed before it, closed or not; `holders` keep it from starting
    now, or would if it were opened again.
    """

    blockers: tuple[str, ...]
    holders: tuple[str, ...]


def needs_of(board: Board, bead: Bead) -> Needs:
    """Return what a bead waits for."""
    children = first_children(board, bead)
    found = [*_own(board, bead), *_inherited(board, bead), *children]
    held = [hold.by for hold in holds(board, {**bead, "status": "open"})]
    held += [child for child in children if board.status(child) not in SETTLED]
    there = (id_ for id_ in found if id_ in board)
    return Needs(tuple(dict.fromkeys(there)), tuple(dict.fromkeys(held)))


def is_container(board: Board, bead: Bead) -> bool:
    """Tell whether its children are all there is to do: an epic that has some."""
    return kind(bead) == "epic" and bool(board.children(bead["id"]))


def first_children(board: Board, bead: Bead) -> list[str]:
    """Return the children that come before their parent.

    That is not one that needs its parent, by whatever way: both would wait forever.
    """
    mine = bead["id"]
    return [c for c in board.children(mine) if not _needs(board, c, mine)]


def _needs(board: Board, start: str, end: str) -> bool:
    """Tell whether a bead waits for another, through whatever lies between."""
    line, seen = [start], {start}
    for id_ in line:
        bead = board.get(id_)
        if bead is None or status(bead) in SETTLED:
            continue
        needed = (*_own(board, bead), *_inherited(board, bead), *board.children(id_))
        if end in needed:
            return True
        fresh = set(needed) - seen
        seen |= fresh
        line += fresh
    return False


def _own(board: Board, bead: Bead) -> Iterator[str]:
    yield from targets(bead, "blocks", "conditional-blocks")
    for awaited in targets(bead, "waits-for"):
        yield from board.children(awaited)


def _inherited(board: Board, bead: Bead) -> Iterator[str]:
    """Yield what holds a bead because it holds a parent that is not closed."""
    line, known = [bead], {bead["id"]}
    for one in line:
        for id_ in parents(one):
            parent = board.get(id_)
            if parent is not None and id_ not in known and status(parent) != "closed":
                known.add(id_)
                line.append(parent)
                yield from _own(board, parent)
