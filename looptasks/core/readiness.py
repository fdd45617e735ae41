"""Readiness: which beads can be worked on now, and what holds the others.

One rule differs from `bd`, which treats `conditional-blocks` like `blocks`: here it
does what both document, and lets a bead run only if the other one failed.
"""

from __future__ import annotations

from looptasks.core import json_text
from looptasks.core.bead import (
    GONE,
    NOT_WORK,
    SETTLED,
    dependencies,
    failed,
    is_deferred,
    is_pinned,
    kind,
    parents,
    status,
    urgency,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from looptasks.core.bead import Bead
    from looptasks.core.bead_filter import Filter
    from looptasks.core.board import Board


class Hold:
    """What holds a bead: another bead, and the parent through which it does."""

    __slots__ = ("by", "kind", "via")

    def __init__(self, kind: str, by: str, via: str = "") -> None:
        self.kind = kind  # blocks, conditional-blocks, waits-for, or `unneeded`
        self.by = by
        self.via = via

    def __str__(self) -> str:
        through = f" (through its parent `{self.via}`)" if self.via else ""
        if self.kind == "unneeded":
            return f"runs only if `{self.by}` fails, and it did not{through}"
        return f"waits for `{self.by}`{through}"


def ready(board: Board, now: int, wanted: Filter) -> list[Bead]:
    """Return the beads that can be worked on, most urgent first."""
    found = [
        bead
        for bead in board.live()
        if status(bead) == "open"
        and wanted.fits(bead, board)
        and is_work(bead, wanted.types)
        and not put_off(board, bead, now)
        and not is_held(board, bead)
    ]
    found.sort(key=urgency)
    return found[: wanted.limit or None]


def is_work(bead: Bead, types: tuple[str, ...] = ()) -> bool:
    """Tell whether the bead is something to do, at all."""
    if is_pinned(bead) or bead.get("ephemeral") or bead.get("is_template"):
        return False
    return kind(bead) not in NOT_WORK or kind(bead) in types


def put_off(board: Board, bead: Bead, now: int) -> bool:
    """Tell whether the bead or its parent is deferred to a later time."""
    if is_deferred(bead, now):
        return True
    above = (board.get(id_) for id_ in parents(bead))
    return any(parent is not None and is_deferred(parent, now) for parent in above)


def is_held(board: Board, bead: Bead) -> bool:
    """Tell whether anything holds the bead."""
    return next(holds(board, bead), None) is not None


def holds(board: Board, bead: Bead) -> Iterator[Hold]:
    """Yield what holds a bead: its own blockers, then those of its parents.

    A parent that is closed or pinned is never held, so nothing comes through it.
    """
    seen = {bead["id"]}
    line = [bead]
    for one in line:
        if status(one) in SETTLED:
            continue
        via = "" if one is bead else one["id"]
        yield from own_holds(board, one, via)
        for id_ in parents(one):
            parent = board.get(id_)
            if parent is not None and id_ not in seen:
                seen.add(id_)
                line.append(parent)


def own_holds(board: Board, bead: Bead, via: str = "") -> Iterator[Hold]:
    """Yield what holds a bead by the bead's own dependencies."""
    for entry in dependencies(bead):
        how, on = entry.get("type"), entry["depends_on_id"]
        if how == "waits-for":
            for child in _awaited(board, entry):
                yield Hold(how, child, via)
        elif how in ("blocks", "conditional-blocks"):
            what = _blocking(board, how, on)
            if what:
                yield Hold(what, on, via)


def _blocking(board: Board, how: str, on: str) -> str:
    """Return how a blocker holds now, nothing when it does not."""
    state = board.status(on)
    if state in (None, "pinned", GONE):
        return ""
    if state != "closed":
        return how
    if how == "conditional-blocks" and not failed(board.get(on) or {}):
        return "unneeded"
    return ""


def _awaited(board: Board, entry: dict[str, Any]) -> list[str]:
    """Return the children that a `waits-for` still waits for."""
    children = board.children(entry["depends_on_id"])
    if _gate(entry.get("metadata")) == "any-children" and any(
        board.status(child) == "closed" for child in children
    ):
        return []
    return [child for child in children if board.status(child) not in SETTLED]


def _gate(metadata: object) -> object:
    """Return the gate that a dependency's metadata names: an object, or its text."""
    if isinstance(metadata, str) and metadata:
        try:
            metadata = json_text.read(metadata)
        except ValueError:
            return None
    return metadata.get("gate") if isinstance(metadata, dict) else None


def blocked(board: Board, wanted: Filter) -> list[tuple[Bead, list[Hold]]]:
    """Return the beads that something holds, with what does, most urgent first."""
    found = []
    for bead in board.live():
        if status(bead) not in SETTLED and wanted.fits(bead, board):
            held = list(holds(board, bead))
            if held:
                found.append((bead, held))
    found.sort(key=lambda pair: urgency(pair[0]))
    return found[: wanted.limit or None]
