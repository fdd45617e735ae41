"""A workplace: one session's effects, wired together for one doit process."""

import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from looptasks import __version__
from looptasks.core.digest import SUPPOSED, of_value
from looptasks.core.iteration import Iteration
from looptasks.core.owner import Owner
from looptasks.core.record import SessionRecord
from looptasks.core.selector import Subject
from looptasks.core.session import session_file
from looptasks.effects.filelock_owner import RunLock, lost
from looptasks.effects.files import write_json
from looptasks.effects.jsonl_ledger import JsonlLedger
from looptasks.effects.project_root import ProjectRoot
from looptasks.effects.session_folder import SessionFolder
from looptasks.effects.system_clock import SystemClock
from looptasks.plugin.voice import say

if TYPE_CHECKING:
    from looptasks.core.job import Failed
    from looptasks.plugin.beadwork import Beadwork

_LOOK = 0.25  # seconds: how long a signal waits to be seen by a run that waits

_PLACES: dict[tuple[str, str, str], "Workplace"] = {}


def workplace(root: str, session: str, run: str) -> "Workplace":
    """Return this process's workplace for a session, the same one each time.

    Task actions carry only these three words, so that a worker process that was not
    forked from the runner can find its way, too.
    """
    key = (root, session, run)
    if key not in _PLACES:
        _PLACES[key] = Workplace(root, session, run)
    return _PLACES[key]


class Workplace(ProjectRoot):
    """Everything that tasks of one session need of the world."""

    def __init__(self, root: str, session: str, run: str) -> None:
        super().__init__(root)
        self.session = session
        self.run = run
        self.clock = SystemClock()
        self.folder = SessionFolder(root, session)
        self.ledger = JsonlLedger(self.folder.file("ledger.jsonl"))
        self.lock = RunLock(self.folder.path, session, self.clock)
        self.interrupted = threading.Event()
        self.owned = False
        self.board_written = 0.0
        self._owning = threading.Lock()
        self._beads: Beadwork | None = None
        self.asked: list[dict[str, Any]] = []
        self.resting: dict[str, str] = {}
        self._round = 0
        self.working = 0
        self.idle = threading.Condition()

    def __reduce__(self) -> tuple[Any, ...]:
        return (workplace, (self.root, self.session, self.run))

    def record(self) -> SessionRecord:
        """Return what the ledger says by now."""
        return self.ledger.refresh()

    def digests(self, patterns: Iterable[str]) -> dict[str, str]:
        """Return path and digest of each file, a supposed content's included."""
        found, supposed = super().digests(patterns), self.folder.supposed
        return {**found, supposed: SUPPOSED} if supposed in found else found

    def event(self, event: str, *, durable: bool = False, **fields: Any) -> None:
        """Append an event to the ledger, unless the session is another's by now."""
        self._refuse_if_lost()
        line = {"event": event, "at": self.clock.now(), **fields}
        self.ledger.append(line, durable=durable)

    def begin_round(self) -> None:
        """Start with everything anew that rested, knowing all that was said so far."""
        self.resting = {}
        self._round = self.record().events

    def news(self) -> bool:
        """Tell whether something was said since that only another round can heed."""
        return self.owned and bool(self.newly())

    def newly(self) -> list[str]:
        """Return the stages that something was said about in this round."""
        news = self.record().news
        return [name for name, line in news.items() if line > self._round]

    @property
    def lost(self) -> bool:
        """Whether another run has taken the session over."""
        return self.owned and not self.lock.held()

    def _refuse_if_lost(self) -> None:
        if self.lost:
            raise lost(self.session)

    def hold(self) -> None:
        """Own the session from now on; raise when another run has taken it over."""
        self.own()
        self._refuse_if_lost()

    def own(self) -> tuple[Owner, str] | None:
        """Become the session's one runner; return whom it was taken from, and why."""
        with self._owning:
            return None if self.owned else self._own()

    def _own(self) -> tuple[Owner, str] | None:
        from looptasks.effects.scrub import scrub_unsettled  # noqa: PLC0415
        from looptasks.plugin.processes import processes  # noqa: PLC0415

        taken = self.lock.take(self.run, self._stop_all)
        self.owned = True
        processes().run_id = self.run
        if taken is not None:
            dead = not self.lock.is_alive(taken[0])
            processes().end_marked(taken[0].run, dead=dead)
            scrub_unsettled(self.folder.path)
        if self._beads is not None:
            self._beads.release_dead()
        me: dict[str, Any] = {
            "pid": os.getpid(),
            "host": os.uname().nodename,
            "version": __version__,
        }
        self.event("run", run=self.run, **me)
        self._write_session()
        return taken

    def _stop_all(self) -> None:
        """Stop all that runs: the session is another's by now."""
        from looptasks.plugin.processes import processes  # noqa: PLC0415

        self.interrupted.set()
        processes().stop_all()

    def _write_session(self) -> None:
        """Say in ledger and `session.json` what the session is asked now."""
        known = {event["entry"]: event for event in self.record().entries}
        for asked in self.asked:
            before = known.get(asked["entry"], {})
            if any(before.get(key) != value for key, value in asked.items()):
                self.event("entry", **asked)
        entries = self.record().entries
        write_json(
            self.folder.file("session.json"),
            session_file(self.session, entries, __version__),
        )

    def release(self) -> None:
        """Let the session go."""
        if self.owned:
            self.owned = False
            self.lock.give_up()
        self.ledger.close()

    def fingerprint(self) -> str:
        """Return a digest of all that counts as progress: files, and beads."""
        from looptasks.effects.folder_tree import states  # noqa: PLC0415

        files = {
            path: state
            for path, state in states(self.root).items()
            if not path.startswith(".beads/")
        }
        return of_value([files, self.beads_done()])

    def beads_done(self) -> list[str]:
        """Return what is known of beads, claims aside."""
        if not self._has_beads():
            return []
        seen = self.beads.seen().values()
        return sorted(f"{bead.id} {bead.status == 'closed'}" for bead in seen)

    def uses_beads(self) -> bool:
        """Tell whether the project has beads of this session."""
        return self._has_beads() and bool(self.beads.seen())

    def _has_beads(self) -> bool:
        if self._beads is not None:
            return True
        from looptasks.effects.beads_folder import find_folder  # noqa: PLC0415

        return os.path.isdir(find_folder(self.root))

    @property
    def beads(self) -> "Beadwork":
        """The beads of the session."""
        if self._beads is None:
            from looptasks.plugin.beadwork import Beadwork  # noqa: PLC0415

            tells = self._nanoseconds, lambda: self.record().stages
            self._beads = Beadwork(self.root, self.session, *tells)
        return self._beads

    def _nanoseconds(self) -> int:
        return int(self.clock.epoch() * 1e9)

    def now(self) -> str:
        """Return the time as RFC 3339."""
        return self.clock.now()

    def pause(self, seconds: float, why: str, subject: Subject) -> "Failed | None":
        """Let a stage wait, saying why if that is worth a word; return what cut in."""
        from looptasks.core.job import Failed  # noqa: PLC0415 - a no-op has none

        if why:
            say(why)
        until = self.clock.monotonic() + seconds
        while (left := until - self.clock.monotonic()) > 0:
            if self.interrupted.wait(min(left, _LOOK)):
                return Failed("interrupted", "interrupted while waiting")
            if signal := self.record().signals.asked(subject):
                return Failed("paused", signal.asked)
        return None

    def limited(self) -> str:
        """Say which usage limit is to end this run, empty for none."""
        limit = self.record().limit if self.owned else None
        if limit is None or limit.waits or not limit.left(self.clock.epoch()):
            return ""
        return f"no agent is started any more: {limit.reason}"

    def put(self, stage: str, iteration: Iteration) -> None:
        """Record a finished iteration; on return it has reached the disk."""
        fields = iteration._asdict()
        number = fields.pop("number")
        self.event("iteration", durable=True, stage=stage, iteration=number, **fields)

    def __enter__(self) -> "Workplace":
        self.hold()
        with self.idle:
            self.working += 1
        return self

    def __exit__(self, *unused: object) -> None:
        with self.idle:
            self.working -= 1
            self.idle.notify_all()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait for actions that other threads are in the middle of; tell if none is."""
        with self.idle:
            return self.idle.wait_for(lambda: self.working == 0, seconds)
