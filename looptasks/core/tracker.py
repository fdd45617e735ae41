"""A tracker: where beads live, and how far those of a session have come."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from looptasks.core.bead import GONE, is_pinned, status, urgency
from looptasks.core.dependency import arrows, find_cycles
from looptasks.core.readiness import Hold, holds, is_work, put_off

if TYPE_CHECKING:
    from collections.abc import Hashable

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


class Tracker(Protocol):
    """What an engine needs of the place where beads live.

    A change returns the bead as it is then; a refusal is a `LoopError`.
    """

    def revision(self) -> Hashable:
        """Return what is equal as long as nothing changed; cheap enough to poll."""

    def beads(self) -> Board:
        """Return all beads as they are now."""

    def claim(self, id_: str, actor: str) -> Bead:
        """Take a bead to work on, before anybody else can."""

    def release(self, id_: str) -> Bead:
        """Let others have a bead: open, and nobody's; a closed one stays closed."""

    def close(self, id_: str, reason: str) -> Bead:
        """Say that a bead is done; refused while something holds it."""

    def reopen(self, id_: str, reason: str) -> Bead:
        """Say that a closed bead is not done after all: open, and nobody's."""

    def set_status(self, id_: str, status: str) -> Bead:
        """Give a bead another status."""

    def add_note(self, id_: str, text: str) -> Bead:
        """Add a line to a bead's notes."""


class Progress(NamedTuple):
    """The beads of a label by what can be done with them, most urgent first.

    `stuck` are those that `ready` will never show although nothing holds them: someone
    said `blocked`, or the type is not work.
    """

    closed: tuple[Bead, ...] = ()
    in_progress: tuple[Bead, ...] = ()
    ready: tuple[Bead, ...] = ()
    held: tuple[tuple[Bead, tuple[Hold, ...]], ...] = ()
    deferred: tuple[Bead, ...] = ()
    pinned: tuple[Bead, ...] = ()
    stuck: tuple[Bead, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left that is not closed, deferred or pinned."""
        return not (self.in_progress or self.ready or self.held or self.stuck)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing is ready because others are at work."""
        return not self.ready and bool(self.in_progress)

    @property
    def is_deadlocked(self) -> bool:
        """Whether something is left that nobody can ever start."""
        return not (self.is_complete or self.ready or self.in_progress)


def session_label(session: str) -> str:
    """Return the label of a session's beads."""
    return f"loop/{session}"


def progress(board: Board, label: str, now: int) -> Progress:
    """Return how far the beads of a label have come."""
    groups: dict[str, list[Bead]] = {name: [] for name in Progress._fields}
    for bead in sorted(board.labelled(label), key=urgency):
        name = _group(board, bead, now)
        if name:
            groups[name].append(bead)
    held = tuple((bead, tuple(holds(board, bead))) for bead in groups.pop("held"))
    return Progress(held=held, **{name: tuple(v) for name, v in groups.items()})


def _group(board: Board, bead: Bead, now: int) -> str:
    """Return the name of the part of a progress that a bead belongs to."""
    state = status(bead)
    if state == GONE:
        return ""
    if state == "closed" or is_pinned(bead):
        return "closed" if state == "closed" else "pinned"
    if state in ("in_progress", "hooked"):
        return "in_progress"
    if state == "deferred" or put_off(board, bead, now):
        return "deferred"
    if next(holds(board, bead), None) is not None:
        return "held"
    return "ready" if state == "open" and is_work(bead) else "stuck"


def deadlock(board: Board, found: Progress) -> str:
    """Return why nothing can start: the cycles, or what holds each bead."""
    held = {bead["id"] for bead, _ in found.held}
    knots = [path for path in find_cycles(board) if _concerns(board, path, held)]
    if knots:
        return "a cycle: " + "; ".join(arrows(path) for path in knots)
    lines = [f"`{bead['id']}` {_joined(why)}" for bead, why in found.held]
    lines += [f"`{bead['id']}` {_why_stuck(bead)}" for bead in found.stuck]
    return "; ".join(lines)


def _concerns(board: Board, path: list[str], held: set[str]) -> bool:
    """Tell whether a cycle stands in the way of any of these beads."""
    seen = set(held)
    queue = list(held)
    for id_ in queue:
        bead = board.get(id_)
        for hold in holds(board, bead) if bead else ():
            if hold.by not in seen:
                seen.add(hold.by)
                queue.append(hold.by)
    return not seen.isdisjoint(path)


def _joined(why: tuple[Hold, ...]) -> str:
    return " and ".join(dict.fromkeys(str(hold) for hold in why))


def _why_stuck(bead: Bead) -> str:
    if status(bead) != "open":
        return f"has the status `{status(bead)}`, which only a person changes"
    return f"is no work to do (a `{bead.get('issue_type', 'task')}`)"
