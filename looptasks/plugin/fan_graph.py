"""The fan in the graph: a task per bead, made and re-made while the board changes."""

from collections.abc import Iterator, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.fan import due, folder_of, ordered, task_of, why_due
from looptasks.core.fan import waves as levels
from looptasks.plugin.bead_course import BeadCourse
from looptasks.plugin.course import Course
from looptasks.plugin.fan_actions import close_fan, rest
from looptasks.plugin.graph import IO, own, unroll
from looptasks.plugin.late import late
from looptasks.plugin.urgency import AT_ONCE, not_begun
from looptasks.plugin.worksite import clean_up, isolates

SOON = {"urgency": (AT_ONCE,)}


class Fan:
    """The beads of one stage in one run. It lives where doit dispatches."""

    def __init__(self, course: Course, after: Sequence[str], workers: int) -> None:
        self.course = course
        self.after = list(after)
        self.known: dict[str, None] = {}
        self._workers = workers
        self._isolated: bool | None = None
        self._revision: object = None
        self._ranked: object = None
        self._places: dict[str, int] = {}

    @property
    def isolated(self) -> bool:
        """Whether each bead gets a worktree of its own."""
        if self._isolated is None:
            place, declared = self.course.place, self.course.stage.loop.isolation
            where = place.root, place.session
            self._isolated = isolates(*where, declared, self._workers)
        return self._isolated

    def new(self) -> Iterator[Task]:
        """Yield tasks for beads that have none yet; cheap when nothing changed."""
        place = self.course.place
        revision = place.beads.tracker.revision()
        if revision == self._revision:
            return
        self._revision = revision
        place.beads.refuse_cycles()
        found = due(place.beads.seen(), place.record(), place.session)
        fresh = [bead for bead in found if bead not in self.known]
        self.known.update(dict.fromkeys(fresh))
        for bead in fresh:
            yield late(
                task_of(bead),
                resolve,
                self,
                bead,
                after=self.blockers(bead),
                meta=self.rank(bead),
            )
            after = [task_of(bead)]
            yield late(f"_replan:{bead}", replan, self, bead, after=after, meta=SOON)

    def blockers(self, bead: str) -> list[str]:
        """Return the tasks that a bead has to wait for."""
        seen = self.course.place.beads.seen()[bead].blockers
        return [*self.after, *(task_of(b) for b in seen if b in self.known)]

    def rank(self, bead: str) -> dict[str, tuple[Any, ...]]:
        """Return how urgent it is to begin a bead."""
        seen = self.course.place.beads.seen()
        if seen is not self._ranked:
            self._ranked = seen
            self._places = {b: n for n, b in enumerate(ordered(seen, seen))}
        return not_begun(self._places.get(bead, 0))

    def all_tasks(self) -> list[str]:
        """Return everything that the stage waits for."""
        beads = list(self.known)
        return [task_of(b) for b in beads] + [f"_replan:{b}" for b in beads]


def fan_tasks(fan: Fan, doc: str) -> Iterator[Task]:
    """Yield the stage's placeholder; its beads follow when its turn comes."""
    stage = fan.course.stage
    yield late(stage.task, expand, fan, -1, after=fan.after, doc=doc)


def expand(fan: Fan, seen: int) -> Iterator[Task]:
    """Wait for all beads that are known, look again, until nothing is new."""
    course = fan.course
    if seen < 0:
        _start(fan)
    yield from fan.new()
    if len(fan.known) != seen:
        count = len(fan.known)
        yield late(course.stage.task, expand, fan, count, after=fan.all_tasks())
        return
    stage = course.stage
    settled = not fan.known and course.record.status == "complete"
    yield Task(
        stage.task,
        [(close_fan, [course.place, stage])],
        uptodate=[settled],
        targets=[course.path("state.json")],
        doc=f"{stage.loop.description or stage.name} ({course.record.reason})",
        io=IO,
        meta={"looptasks": (stage.name, 0)},
    )


def _start(fan: Fan) -> None:
    place = fan.course.place
    found = due(place.beads.seen(), place.record(), place.session)
    if found and not place.owned:
        own(fan.course)
    if place.owned:
        place.beads.release_dead()
        clean_up(place)
        fan.course.begin()


def resolve(fan: Fan, bead: str) -> Iterator[Task]:
    """Look at the board again just before a bead runs, then run its loop."""
    yield from fan.new()
    name, seen = task_of(bead), fan.course.place.beads.seen()
    if bead not in seen:
        yield _resting(bead, "it is gone")
        return
    if seen[bead].status != "closed" and not _is_due(fan, bead):
        yield _resting(bead, f"it is {seen[bead].status}")
        return
    waits = [b for b in seen[bead].blockers if b in fan.known]
    if any(not _through(fan, b) for b in waits):
        after, rank = fan.blockers(bead), fan.rank(bead)
        yield late(name, resolve, fan, bead, after=after, meta=rank)
    elif seen[bead].held:
        yield _resting(bead, _held(fan, bead))
    else:
        yield from unroll(BeadCourse(fan.course, bead, isolated=fan.isolated))


def _resting(bead: str, reason: str) -> Task:
    meta = {"looptasks": (folder_of(bead), 0)}
    return Task(task_of(bead), [(rest, [reason])], io=IO, doc=reason, meta=meta)


def _is_due(fan: Fan, bead: str) -> bool:
    place = fan.course.place
    record = place.record().stages.get(folder_of(bead))
    return why_due(place.beads.seen()[bead], record, place.session) is not None


def _through(fan: Fan, bead: str) -> bool:
    """Tell whether a blocker's task came to an end in this run."""
    place = fan.course.place
    seen = place.beads.seen()
    if bead not in seen or seen[bead].status == "closed":
        return True
    return any(stop["stage"] == folder_of(bead) for stop in place.record().stops)


def _held(fan: Fan, bead: str) -> str:
    blockers = ", ".join(fan.course.place.beads.seen()[bead].blockers)
    return f"blocked by {blockers}"


def replan(fan: Fan, bead: str) -> Iterator[Task]:
    """Schedule at once what a finished bead has brought up."""
    fresh = list(fan.new())
    yield from fresh
    yield Task(f"_replan:{bead}", None, task_dep=[task.name for task in fresh])


def wave_tasks(fan: Fan) -> Iterator[Task]:
    """Yield a group task per wave, for those who ask for one."""
    waves: dict[int, list[str]] = {}
    place = fan.course.place
    for bead, number in levels(place.beads.seen(), place.record()).items():
        if bead in fan.known:
            waves.setdefault(number, []).append(task_of(bead))
    for number, tasks in waves.items():
        yield Task(f"wave:{number}", None, task_dep=tasks, doc=f"wave {number}")
