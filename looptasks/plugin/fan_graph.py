"""The fan in the graph: a task per bead, made and re-made while the board changes."""

from collections.abc import Iterator, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.fan import (
    due,
    folder_of,
    is_finished,
    ordered,
    startable,
    task_of,
    why_due,
)
from looptasks.core.step import Stop
from looptasks.core.taskname import iteration_task
from looptasks.plugin.bead_course import BeadCourse
from looptasks.plugin.course import Course
from looptasks.plugin.fan_actions import close_fan, rest
from looptasks.plugin.foresight import fan_step
from looptasks.plugin.graph import IO, own, unroll
from looptasks.plugin.late import late
from looptasks.plugin.urgency import AT_ONCE, Ranks
from looptasks.plugin.worksite import clean_up, isolates

SOON = {"urgency": (AT_ONCE,)}


class Fan:
    """The beads of one stage in one run. It lives where doit dispatches."""

    def __init__(self, course: Course, after: Sequence[str], workers: int) -> None:
        self.course = course
        self.after = list(after)
        self.known: dict[str, None] = {}
        self.goals: dict[str, int] = {}
        self.begun: set[str] = set()
        self.rested: set[str] = set()
        self._started = False
        self._workers = workers
        self._isolated: bool | None = None
        self._revision: object = None
        self.ranks = Ranks()

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
        seen = place.beads.seen()
        self.ranks.order(ordered(seen, seen))
        found = startable(seen, self.due())
        fresh = [bead for bead in found if bead not in self.known]
        self.known.update(dict.fromkeys(fresh))
        for bead in fresh:
            yield late(
                task_of(bead),
                resolve,
                self,
                bead,
                after=self.blockers(bead),
                meta=self.ranks.mark(bead),
            )
            after = [task_of(bead)]
            yield late(f"_replan:{bead}", replan, self, bead, after=after, meta=SOON)

    def blockers(self, bead: str) -> list[str]:
        """Return the tasks that a bead has to wait for."""
        seen = self.course.place.beads.seen()[bead].blockers
        goal = self.goals.get(bead)
        own = [iteration_task(task_of(bead), goal)] if goal else []
        return [*self.after, *(task_of(b) for b in seen if b in self.known), *own]

    def due(self) -> dict[str, str]:
        """Return the beads that have something to do, and why."""
        place, forced = self.course.place, self.course.forced
        seen, record = place.beads.seen(), place.record()
        return due(seen, record, place.session, forced=forced)

    def start(self) -> None:
        """Take the session over, once, if there is anything to do."""
        if self._started:
            return
        self._started = True
        place = self.course.place
        if self.due() and not place.owned:
            own(self.course)
        if place.owned:
            place.beads.release_dead()
            clean_up(place)
            self.course.begin()

    def through(self, bead: str) -> bool:
        """Tell whether a blocker's task came to an end in this run."""
        place = self.course.place
        seen = place.beads.seen()
        if bead in self.rested or bead not in seen or seen[bead].status == "closed":
            return True
        return any(stop["stage"] == folder_of(bead) for stop in place.record().stops)

    def at_work(self) -> str:
        """Return a bead whose agent is at work, empty if there is none."""
        return next((bead for bead in self.begun if not self.through(bead)), "")

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
    fan.start()
    yield from fan.new()
    if len(fan.known) != seen:
        count = len(fan.known)
        yield late(course.stage.task, expand, fan, count, after=fan.all_tasks())
        return
    stage = course.stage
    step = fan_step(course)
    complete = isinstance(step, Stop) and step.status == "complete"
    yield Task(
        stage.task,
        [(close_fan, [course.place, stage])],
        uptodate=[complete and not fan.known],
        targets=[course.path("state.json")],
        doc=f"{stage.loop.description or stage.name} ({course.record.reason})",
        io=IO,
        meta={"looptasks": (stage.name, 0)},
    )


def resolve(fan: Fan, bead: str, goal: int = 0) -> Iterator[Task]:
    """Look at the board again just before a bead runs, then run its loop.

    With a `goal`, the task is that iteration, and the rest of the loop waits.
    """
    fan.start()
    yield from fan.new()
    name = iteration_task(task_of(bead), goal) if goal else task_of(bead)
    if any(not fan.through(b) for b in _waits(fan, bead)):
        yield late(name, resolve, fan, bead, goal, **_place_of(fan, bead, goal))
    elif not (why := _why_not(fan, bead)):
        fan.begun.add(bead)
        yield from unroll(BeadCourse(fan.course, bead, isolated=fan.isolated), goal)
    elif other := fan.at_work():
        # Somebody may have changed their mind by the time that one is through.
        yield late(name, resolve, fan, bead, goal, after=[task_of(other)])
    else:
        fan.rested.add(bead)
        yield _resting(name, bead, why)


def _waits(fan: Fan, bead: str) -> list[str]:
    seen = fan.course.place.beads.seen()
    return [b for b in seen[bead].blockers if b in fan.known] if bead in seen else []


def _place_of(fan: Fan, bead: str, goal: int) -> dict[str, Any]:
    own = iteration_task(task_of(bead), goal)
    after = [name for name in fan.blockers(bead) if name != own]
    return {"after": after, "meta": fan.ranks.mark(bead)}


def _why_not(fan: Fan, bead: str) -> str:
    """Say why a bead cannot be worked on, nothing when it can."""
    place = fan.course.place
    seen = place.beads.seen().get(bead)
    if seen is None:
        return "it is gone"
    if seen.holders:
        return f"blocked by {', '.join(seen.holders)}"
    record = place.record().stages.get(folder_of(bead))
    if is_finished(seen, record) or why_due(seen, record, place.session):
        return ""
    return f"it is {seen.status}"


def _resting(name: str, bead: str, reason: str) -> Task:
    meta = {"looptasks": (folder_of(bead), 0)}
    return Task(name, [(rest, [reason])], io=IO, doc=reason, meta=meta)


def replan(fan: Fan, bead: str) -> Iterator[Task]:
    """Schedule at once what a finished bead has brought up."""
    fresh = list(fan.new())
    yield from fresh
    yield Task(f"_replan:{bead}", None, task_dep=[task.name for task in fresh])
