"""Beadwork: the beads of one session, as the tracker tells them."""

import threading
from collections.abc import Callable, Container
from math import inf
from typing import Any

from looptasks.core.bead import status
from looptasks.core.board import Board
from looptasks.core.completion import Workload
from looptasks.core.dependency import arrows, find_cycles
from looptasks.core.digest import of_value
from looptasks.core.fan import SeenBead, actor_of, folder_of, is_ours
from looptasks.core.instant import instant
from looptasks.core.prerequisite import Needs, is_container, needs_of
from looptasks.core.readiness import is_work, put_off
from looptasks.core.tracker import Progress, deadlock, progress
from looptasks.effects.beads_folder import find_folder
from looptasks.effects.tracker_choice import tracker, tracker_command
from looptasks.errors import BeadTaken, UsageError

_ASKED = (
    "title",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "issue_type",
    "parent",
)

Bead = dict[str, Any]


class Beadwork:
    """Reads the session's beads, again only when the store has changed.

    `now` tells the time in nanoseconds, `worked` the stages that the session has begun.
    """

    def __init__(
        self,
        root: str,
        session: str,
        now: Callable[[], int],
        worked: Callable[[], Container[str]],
    ) -> None:
        self.session = session
        self._now = now
        self._worked = worked
        self.label = f"loop/{session}"
        self.tracker = tracker(root)
        self.folder = find_folder(root)
        self._root = root
        self._lock = threading.Lock()
        self._revision: object = None
        self._board = Board()
        self._seen: dict[str, SeenBead] = {}
        self._known: dict[str, tuple[Bead, SeenBead, bool]] = {}
        self._next_day: float = inf

    def board(self) -> Board:
        """Return all beads of the project."""
        self.seen()
        return self._board

    def seen(self) -> dict[str, SeenBead]:
        """Return the session's beads by id."""
        with self._lock:
            revision = self.tracker.revision()
            if revision != self._revision or self._now() >= self._next_day:
                self._read_again(revision)
            return self._seen

    def known(self) -> dict[str, SeenBead]:
        """Return the beads as they were last seen, without another look."""
        return self._seen

    def _read_again(self, revision: object) -> None:
        self._board = board = self.tracker.beads()
        before, known, now = self._known, {}, self._now()
        for bead in board.labelled(self.label):
            name = bead["id"]
            kept = before.get(name)
            # What rests on nothing else changes only with its own line.
            if kept is not None and kept[0] is bead and not kept[2]:
                known[name] = kept
            elif is_work(bead):
                more = _rests(board, bead) or bool(bead.get("defer_until"))
                known[name] = bead, _seen(board, bead, now, self._worked()), more
        self._next_day = _next_day(board, now)
        self._known, self._revision = known, revision
        self._seen = {name: kept[1] for name, kept in known.items()}

    def bead(self, bead: str) -> Bead:
        """Return a bead as the tracker has it."""
        return self.board().find(bead)

    def progress(self) -> Progress:
        """Return how far the session's beads have come."""
        return progress(self.board(), self.label, self._now())

    def refuse_cycles(self) -> None:
        """Raise when beads wait for each other, printing the circle."""
        for circle in find_cycles(self.board()):
            if set(circle) & set(self.seen()):
                raise UsageError(
                    f"beads wait for each other: {arrows(circle)}",
                    where=".beads/issues.jsonl",
                    fix="take one away: "
                    f"`doit beads dep remove {circle[0]} {circle[1]}`",
                )

    def workload(self, *, idle: bool = False) -> Workload:
        """Return how the session's beads stand.

        While nobody runs the session it is `idle`, and claims of its agents are void.
        """
        found = self.progress()
        void = [b for b in found.in_progress if idle and self._is_ours(b)]
        taken = [b for b in found.in_progress if b not in void]
        # `ready` shows what is assigned to somebody; only they can claim it.
        others = [b for b in found.ready if b.get("assignee") and not self._is_ours(b)]
        taken += others
        busy = [f"`{b['id']}` by {b.get('assignee')}" for b in taken]
        ready = len(found.ready) - len(others) + len(void)
        stuck = "" if ready or busy else deadlock(self.board(), found)
        return Workload(
            closed=len(found.closed),
            ready=ready,
            busy=len(taken),
            held=len(found.held) + len(found.stuck),
            why=", ".join(busy) or stuck,
        )

    def _is_ours(self, bead: Bead) -> bool:
        return is_ours(str(bead.get("assignee") or ""), self.session)

    def claim(self, bead: str) -> None:
        """Claim a bead for its agent; refused while it is somebody else's."""
        try:
            self.tracker.claim(bead, actor_of(self.session, bead))
        except UsageError as error:
            raise BeadTaken(error.what, fix=error.fix) from error

    def let_go(self, bead: str) -> None:
        """Let others have a bead that an agent of the session had claimed."""
        seen = self.seen().get(bead)
        busy = seen is not None and seen.status == "in_progress"
        if seen and busy and is_ours(seen.assignee, self.session):
            self.tracker.release(bead)

    def release_dead(self) -> None:
        """Let go of what agents of earlier runs had claimed."""
        for bead in list(self.seen()):
            self.let_go(bead)

    def command(self) -> str:
        """Return the tracker's command line, for agents."""
        return tracker_command(self._root)


def _seen(board: Board, bead: Bead, now: int, worked: Container[str]) -> SeenBead:
    state = status(bead)
    # What a bead asks for matters only if somebody is, or was, to do it here.
    matters = state != "closed" or folder_of(bead["id"]) in worked
    asked = {key: bead[key] for key in _ASKED if bead.get(key)} if matters else {}
    needs = needs_of(board, bead) if _rests(board, bead) else Needs((), ())
    if state == "open" and put_off(board, bead, now):
        state = "deferred"
    return SeenBead(
        id=bead["id"],
        title=str(bead.get("title", "")),
        priority=int(bead.get("priority", 2)),
        status=state,
        assignee=str(bead.get("assignee") or ""),
        digest=of_value(asked) if matters else "",
        blockers=needs.blockers,
        holders=needs.holders,
        created=str(bead.get("created_at", "")),
        closed=str(bead.get("closed_at") or ""),
        container=is_container(board, bead),
    )


def _rests(board: Board, bead: Bead) -> bool:
    """Tell whether more than its own line says how a bead stands."""
    return bool(bead.get("dependencies") or board.children(bead["id"]))


def _next_day(board: Board, now: int) -> float:
    """Return when the next bead that was put off is put off no longer."""
    later = [bead["defer_until"] for bead in board.live() if bead.get("defer_until")]
    days = map(instant, later)
    return min((day for day in days if day is not None and day > now), default=inf)
