"""Beadwork: the beads of one session, as the tracker tells them."""

import threading
from collections.abc import Callable, Container
from typing import Any

from looptasks.core.bead import status, targets
from looptasks.core.board import Board
from looptasks.core.completion import Workload
from looptasks.core.dependency import arrows, find_cycles
from looptasks.core.digest import of_value
from looptasks.core.fan import SeenBead, actor_of, folder_of, is_ours
from looptasks.core.readiness import holds, is_work, put_off
from looptasks.core.tracker import Progress, deadlock, progress
from looptasks.effects.beads_folder import find_folder
from looptasks.effects.tracker_choice import tracker, tracker_command
from looptasks.errors import UsageError

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
        self._known: dict[str, tuple[Bead, SeenBead]] = {}

    def board(self) -> Board:
        """Return all beads of the project."""
        self.seen()
        return self._board

    def seen(self) -> dict[str, SeenBead]:
        """Return the session's beads by id."""
        with self._lock:
            revision = self.tracker.revision()
            if revision != self._revision:
                self._read_again(revision)
            return self._seen

    def _read_again(self, revision: object) -> None:
        self._board, now = self.tracker.beads(), self._now()
        known = {
            bead["id"]: (bead, self._look(bead, now))
            for bead in self._board.labelled(self.label)
            if is_work(bead)
        }
        self._known, self._revision = known, revision
        self._seen = {name: seen for name, (_, seen) in known.items()}

    def _look(self, bead: Bead, now: int) -> SeenBead:
        """Look at a bead, only once while nothing of it can have changed."""
        known = self._known.get(bead["id"])
        alone = not bead.get("dependencies") and not bead.get("defer_until")
        if known is not None and alone and known[0] == bead:
            return known[1]
        return _seen(self._board, bead, now, self._worked())

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
        busy = [f"`{b['id']}` by {b.get('assignee')}" for b in taken]
        ready = len(found.ready) + len(void)
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
        """Claim a bead for its agent."""
        self.tracker.claim(bead, actor_of(self.session, bead))

    def release_dead(self) -> None:
        """Let go of what agents of earlier runs had claimed."""
        for bead in list(self.seen().values()):
            if bead.status == "in_progress" and is_ours(bead.assignee, self.session):
                self.tracker.release(bead.id)

    def command(self) -> str:
        """Return the tracker's command line, for agents."""
        return tracker_command(self._root)


def _seen(board: Board, bead: Bead, now: int, worked: Container[str]) -> SeenBead:
    state = status(bead)
    # What a bead asks for matters only if somebody is, or was, to do it here.
    matters = state != "closed" or folder_of(bead["id"]) in worked
    asked = {key: bead[key] for key in _ASKED if bead.get(key)} if matters else {}
    rests = bool(bead.get("dependencies"))
    if state == "open" and put_off(board, bead, now):
        state = "deferred"
    return SeenBead(
        id=bead["id"],
        title=str(bead.get("title", "")),
        priority=int(bead.get("priority", 2)),
        status=state,
        assignee=str(bead.get("assignee") or ""),
        digest=of_value(asked) if matters else "",
        blockers=tuple(dict.fromkeys(_blockers(board, bead))) if rests else (),
        holders=_holders(board, bead) if rests else (),
        created=str(bead.get("created_at", "")),
        closed=str(bead.get("closed_at") or ""),
    )


def _holders(board: Board, bead: Bead) -> tuple[str, ...]:
    """Return what keeps the bead from starting, also if it were opened again."""
    opened = {**bead, "status": "open"}
    return tuple(dict.fromkeys(hold.by for hold in holds(board, opened)))


def _blockers(board: Board, bead: Bead) -> list[str]:
    """Return all that must be closed before the bead, closed or not."""
    found: list[str] = []
    line, known = [bead], {bead["id"]}
    for one in line:
        found += targets(one, "blocks", "conditional-blocks")
        for awaited in targets(one, "waits-for"):
            found += board.children(awaited)
        for parent in targets(one, "parent-child"):
            above = board.get(parent)
            if above is not None and parent not in known and status(above) != "closed":
                known.add(parent)
                line.append(above)
    return [blocker for blocker in found if blocker in board]
