"""The live view: what a session is doing right now, on a terminal.

Reporters are called from several threads. They only leave messages here; one thread of
its own reads the messages, looks at the agents' folders and draws. Nothing is locked,
and an interrupt, which only ever hits the main thread, cannot break off a drawing.
"""

import atexit
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING, NamedTuple, TextIO

from looptasks.core.fan import task_of
from looptasks.core.glimpse import Glimpse, doing, limited, spent
from looptasks.core.job import Job
from looptasks.core.screen_text import shown
from looptasks.core.spending import Spending
from looptasks.core.stage_record import StageRecord
from looptasks.core.taskname import bead_of
from looptasks.core.view import AtWork, StageView, Status, View, rows
from looptasks.effects.iteration_watch import IterationWatch
from looptasks.effects.rich_canvas import Canvas
from looptasks.effects.scrub import known_secrets
from looptasks.plugin.workplace import Workplace

if TYPE_CHECKING:
    from collections.abc import Callable

_TICK, _BREATH = 0.25, 0.03
_PATIENCE = 2.0  # a stopped terminal (Ctrl-S) must not hold up the run


class Watched(NamedTuple):
    """An iteration that the view shows."""

    job: Job
    since: float
    watch: IterationWatch


class LiveView:
    """Shows iterations that run; every method may be called from any thread."""

    def __init__(self, stream: TextIO, place: Workplace) -> None:
        self._place = place
        self._canvas = Canvas(stream)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._said: list[str] = []
        self._running: dict[str, Watched] = {}
        self._limits: dict[str, int] = {}
        self._doing: dict[str, str] = {}
        self._urgent: list[Event] = []
        self._aside = False
        self._open = True
        self._started = place.clock.monotonic()
        self._thread = Thread(target=self._live, name="live view", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def alive(self) -> bool:
        """Whether somebody still draws."""
        return self._thread.is_alive()

    def say(self, text: str) -> None:
        """Put text above the view, for good."""
        self._inbox.put(partial(self._said.append, text))

    def begin(self, task: str, job: Job) -> None:
        """Show an iteration from now on."""
        folder = self._place.folder.iteration(job.stage.name, job.number)
        watched = Watched(job, self._now(), IterationWatch(folder))
        self._inbox.put(partial(self._begin, task, watched))

    def end(self, task: str) -> None:
        """Show an iteration no longer."""
        self._inbox.put(partial(self._end, task))

    def step_aside(self) -> None:
        """Leave the terminal to somebody else; it is free on return."""
        self._inbox.put(partial(setattr, self, "_aside", True))
        done = Event()
        self._inbox.put(partial(self._urgent.append, done))
        done.wait(_PATIENCE)

    def come_back(self) -> None:
        """Use the terminal again."""
        self._inbox.put(partial(setattr, self, "_aside", False))

    def close(self) -> None:
        """Disappear, and leave what was said."""
        self._inbox.put(partial(setattr, self, "_open", False))
        self._thread.join(_PATIENCE)
        atexit.unregister(self.close)

    def _begin(self, task: str, watched: Watched) -> None:
        self._running[task] = watched
        self._limits[watched.job.stage.name] = _limit(watched.job)
        self._doing.pop(watched.job.stage.name, None)

    def _end(self, task: str) -> None:
        self._running.pop(task, None)

    def _live(self) -> None:
        try:
            while self._open:
                self._draw()
                self._listen()
        except OSError:
            pass  # the terminal is gone; the run goes on without it
        finally:
            self._take_all()
            with suppress(OSError):
                self._canvas.clear("".join(self._said))

    def _listen(self) -> None:
        """Wait for a message or a change of the clock, and take in all that came."""
        try:
            self._inbox.get(timeout=_TICK)()
        except Empty:
            return
        self._take_all()
        if self._open and not self._urgent:
            # One iteration ends, the next begins: that is one drawing, not two.
            sleep(_BREATH)
            self._take_all()

    def _take_all(self) -> None:
        with suppress(Empty):
            while True:
                self._inbox.get_nowait()()

    def _draw(self) -> None:
        said = "".join(self._said)
        self._said.clear()
        if self._aside:
            self._canvas.clear(said)
        else:
            size = self._canvas.size()
            self._canvas.draw(rows(self._view(), size, self._canvas.signs), said)
        while self._urgent:
            self._urgent.pop().set()

    def _view(self) -> View:
        # Only what the ledger's own readers took in: this thread changes nothing.
        spending = Spending()
        for stage in list(self._place.ledger.record.stages.values()):
            spending = spending.plus(stage.spending)
        return View(
            session=self._place.session,
            entry=" ".join(asked["entry"] for asked in self._place.asked),
            seconds=self._now() - self._started,
            spending=spending,
            stages=tuple(map(self._stage, self._names())),
        )

    def _names(self) -> dict[str, None]:
        asked = [name for event in self._place.asked for name in event["stages"]]
        # Beads are not asked for one by one: they show while they run.
        running = [watched.job.stage.name for watched in self._running.values()]
        return dict.fromkeys([*asked, *running])

    def _stage(self, name: str) -> StageView:
        record = self._place.ledger.record
        found = record.stages.get(name) or StageRecord(name)
        stopped = any(stop["stage"] == name for stop in record.stops)
        at_work = self._at_work(name)
        status: Status = "waiting"
        if at_work or found.status == "running":
            status = "busy"
        elif found.status == "complete":
            status = "complete"
        elif stopped:
            status = "failed"
        done, limit = len(found.iterations), self._limits.get(name, 0)
        if status == "busy" and not at_work and not done:
            done, limit = self._closed()
        reason = self._first_line(found.reason) if stopped else self._title(name)
        shown_as = task_of(bead) if (bead := bead_of(name)) else name
        return StageView(shown_as, status, done, limit, reason, at_work)

    def _closed(self) -> tuple[int, int]:
        """Return how many beads are closed, and how many there are, if any run."""
        running = any(watched.job.bead for watched in self._running.values())
        beads = self._place.beads.known().values() if running else ()
        return sum(bead.status == "closed" for bead in beads), len(beads)

    def _title(self, stage: str) -> str:
        bead = bead_of(stage)
        known = self._place.beads.known().get(bead) if bead else None
        return self._first_line(known.title) if known else ""

    def _first_line(self, reason: str) -> str:
        return shown(reason, known_secrets()).partition("\n")[0]

    def _at_work(self, stage: str) -> AtWork | None:
        for watched in self._running.values():
            if watched.job.stage.name == stage:
                return self._glimpsed(watched)
        return None

    def _glimpsed(self, watched: Watched) -> AtWork:
        job, seen = watched.job, watched.watch.look()
        # Rows that come and go are hard to read: what was said stays until the next.
        before = self._doing.get(job.stage.name, "")
        now = self._said_of(job, seen) or before
        self._doing[job.stage.name] = now
        return AtWork(
            number=job.number,
            seconds=self._now() - watched.since,
            attempt=seen.attempt,
            doing=now,
            spent=spent(seen),
        )

    def _said_of(self, job: Job, seen: Glimpse) -> str:
        loop = job.stage.loop
        if seen.verdict == "limit" and loop.on_limit == "wait":
            return limited(seen, self._place.clock.epoch())
        pause = loop.delay if job.history else 0.0
        secrets = known_secrets()
        return doing(seen, pause, shown(loop.validate, secrets), secrets)

    def _now(self) -> float:
        return self._place.clock.monotonic()


def _limit(job: Job) -> int:
    if job.stage.loop.completion == "all-items" and job.items:
        return len(job.items)
    return job.stage.loop.max_iterations
