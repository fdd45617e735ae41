"""The fan in the graph: a task per bead, made and re-made while the board changes."""

from collections.abc import Iterator, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.fan import (
    SeenBead,
    due,
    folder_of,
    ordered,
    startable,
    task_of,
)
from looptasks.core.step import Stop
from looptasks.core.taskname import iteration_task
from looptasks.plugin.bead_course import BeadCourse, kind_of
from looptasks.plugin.bead_turn import resting, turn
from looptasks.plugin.course import Course
from looptasks.plugin.fan_actions import close_fan, leave_tidy
from looptasks.plugin.foresight import fan_step
from looptasks.plugin.graph import IO, own
from looptasks.plugin.late import diverted, late
from looptasks.plugin.urgency import AT_ONCE, Ranks

SOON = {"urgency": (AT_ONCE,)}


class Fan:
    """The beads of one stage in one run. It lives where doit dispatches."""

    def __init__(self, course: Course, after: Sequence[str], workers: int) -> None:
        self.course = course
        self.after = list(after)
        self.known: dict[str, None] = {}
        self.goals: dict[str, int] = {}
        self.courses: dict[str, BeadCourse] = {}
        self.rested: set[str] = set()
        self._awaited: dict[str, list[str]] = {}
        self._ended: set[str] = set()
        self._fresh: list[str] = []
        self._started = False
        self._workers = workers
        self._isolated: bool | None = None
        self._seen: object = None
        self._shape: object = None
        self.ranks = Ranks()

    @property
    def isolated(self) -> bool:
        """Whether each bead gets a worktree of its own."""
        if self._isolated is None:
            loop = self.course.stage.loop
            # What is merged cannot be rejected any more.
            shared = loop.isolation == "shared" or loop.gate == "user"
            self._isolated = not shared and self._isolates(loop.isolation)
        return self._isolated

    def _isolates(self, declared: str | None) -> bool:
        from looptasks.plugin.worksite import isolates  # noqa: PLC0415 - git is seldom

        place = self.course.place
        return isolates(place.root, place.session, declared, self._workers)

    def new(self) -> Iterator[Task]:
        """Yield tasks for beads that have none yet; cheap when nothing changed."""
        place = self.course.place
        seen = place.beads.seen()
        if seen is self._seen:
            return
        self._seen = seen
        shape = {bead.id: self._shape_of(bead) for bead in seen.values()}
        if shape == self._shape:
            return
        self._shape = shape
        place.beads.refuse_cycles()
        self.ranks.order(ordered(seen, seen))
        found = startable(seen, self.due())
        fresh = [bead for bead in found if bead not in self.known]
        self.known.update(dict.fromkeys(fresh))
        self._fresh += fresh
        for bead in fresh:
            after = self.blockers(bead)
            self.awaits(bead, self.waits(bead))
            mark = self.mark(bead)
            yield late(task_of(bead), resolve, self, bead, after=after, meta=mark)
            after = [task_of(bead)]
            yield late(f"_replan:{bead}", replan, self, bead, after=after, meta=SOON)

    def mark(self, bead: str) -> dict[str, Any]:
        """Return when a bead gets its slot: in its order, and if there is one."""
        return {**self.ranks.mark(bead), **kind_of(self.course)}

    def _shape_of(self, bead: SeenBead) -> tuple[object, ...]:
        """Return what may matter to others; claims and closes happen all the time."""
        rests = bead.priority, bead.blockers, bead.holders
        return rests if bead.id in self.known else (*rests, *bead)

    def blockers(self, bead: str) -> list[str]:
        """Return the tasks that a bead has to wait for."""
        goal = self.goals.get(bead)
        own = [iteration_task(task_of(bead), goal)] if goal else []
        return [*self.after, *map(task_of, self.waits(bead)), *own]

    def waits(self, bead: str) -> list[str]:
        """Return the beads of this run that a bead has to wait for."""
        seen = self.course.place.beads.seen()
        return [b for b in seen[bead].blockers if b in self.known and b in seen]

    def awaits(self, bead: str, others: Sequence[str]) -> None:
        """Note which beads a bead's task waits for; those of before have ended."""
        self._ended.update(self._awaited.get(bead, ()))
        self._awaited[bead] = list(others)

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
            leave_tidy(place)
            self.course.begin()

    def through(self, bead: str) -> bool:
        """Tell whether a blocker's task came to an end in this run."""
        place = self.course.place
        seen = place.beads.seen()
        if bead in self.rested or bead in self._ended:
            return True
        if bead not in seen or seen[bead].status == "closed":
            return True
        if folder_of(bead) in place.resting:
            return True
        return any(stop["stage"] == folder_of(bead) for stop in place.record().stops)

    def at_work(self, bead: str) -> str:
        """Return another bead that is not through, empty if there is none.

        Those that were begun come first; one that waits for this bead never does.
        """
        for other in (*self.courses, *self.known):
            if not self.through(other) and not self._leads(other, bead):
                return other
        return ""

    def _leads(self, start: str, end: str) -> bool:
        """Tell whether a bead's task waits for another's, through others or not."""
        line = [start]
        for bead in line:
            line += [b for b in self._awaited.get(bead, ()) if b not in line]
        return end in line

    def all_tasks(self) -> list[str]:
        """Return everything that the stage waits for."""
        beads = list(self.known)
        return [task_of(b) for b in beads] + [f"_replan:{b}" for b in beads]

    def unscheduled(self) -> list[str]:
        """Return the tasks that nothing waits for yet, each only once."""
        fresh, self._fresh = self._fresh, []
        return [name for b in fresh for name in (task_of(b), f"_replan:{b}")]


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
        fan.unscheduled()
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


def resolve(fan: Fan, bead: str, goal: int = 0, *tried: Any) -> Iterator[Task]:
    """Look at the board again just before a bead goes on, then let it.

    With a `goal`, the task is that iteration, and the rest of the loop waits. `tried`
    is passed on to what unrolls the loop.
    """
    fan.start()
    yield from fan.new()
    name = iteration_task(task_of(bead), goal) if goal else task_of(bead)
    again = name, resolve, fan, bead, goal, *tried
    fan.awaits(bead, ())
    waits = [b for b in _waits(fan, bead) if not fan.through(b)]
    if waits:
        fan.awaits(bead, waits)
        yield late(*again, after=[*map(task_of, waits)], **_mark(fan, bead))
        return
    tasks, why = turn(fan, bead, goal, tried)
    if not why:
        yield from (diverted(t, resolve, fan, bead) if t.loader else t for t in tasks)
    elif other := fan.at_work(bead):
        # Somebody may have changed their mind by the time that one is through.
        fan.awaits(bead, [other])
        yield late(*again, after=[task_of(other)], **_mark(fan, bead))
    else:
        fan.rested.add(bead)
        yield resting(fan, name, bead, why)


def _waits(fan: Fan, bead: str) -> list[str]:
    return fan.waits(bead) if bead in fan.course.place.beads.seen() else []


def _mark(fan: Fan, bead: str) -> dict[str, Any]:
    return {"meta": SOON if bead in fan.courses else fan.mark(bead)}


def replan(fan: Fan, bead: str) -> Iterator[Task]:
    """Schedule at once what a finished bead has brought up."""
    yield from fan.new()
    yield Task(f"_replan:{bead}", None, task_dep=fan.unscheduled())
