"""The grove in the graph: a task per instance, made as artifacts come to be."""

import os
from collections.abc import Iterator, Mapping, Sequence

from doit.task import Task

from looptasks.core.instance import Node
from looptasks.core.landing import NOTE
from looptasks.core.step import Stop
from looptasks.core.taskname import iteration_task
from looptasks.plugin.course import Course
from looptasks.plugin.graph import IO, own, resting, unroll
from looptasks.plugin.grove import Grove
from looptasks.plugin.grove_actions import close_grove
from looptasks.plugin.instance_course import InstanceCourse
from looptasks.plugin.invalidation import outdated
from looptasks.plugin.late import late
from looptasks.plugin.priorities import Priorities
from looptasks.plugin.workplace import Workplace


class Growth:
    """The instances of one entry in one run. It lives where doit dispatches."""

    def __init__(
        self, grove: Grove, courses: Sequence[Course], *, workers: int
    ) -> None:
        self.grove = grove
        self.tree = grove.tree
        self.known: set[str] = set()
        self.stages: Mapping[str, Course] = {c.stage.name: c for c in courses}
        self._workers = workers
        self._isolated: dict[str, bool] = {}
        self._swept = False
        self._quiet: bool | None = None
        self._queue = Priorities(grove.place.clock.monotonic)

    def ensure(self, node: Node) -> Iterator[Task]:
        """Yield the tasks of a node and of all that it waits for, once."""
        task = self.grove.task(node)
        if task in self.known or not self.tree.stages[node.stage].parent:
            return
        self.known.add(task)
        before = self.grove.before(node)
        for other in before:
            yield from self.ensure(other)
        grows = self.tree.is_instance(node)
        after = [self.grove.task(other) for other in before]
        if grows:
            after += self._made(node.stage)
        doc = self.tree.stages[node.stage].loop.description
        if grows:
            turn = self.course(node).turn()
            turn.pop("kind", None)  # to look at it takes no slot
            yield late(task, grow, self, node, after=after, doc=doc, meta=turn)
        else:
            yield late(task, gather, self, node, after=after, doc=doc)

    def _made(self, stage: str) -> list[str]:
        """Return the ordinary tasks that make files which the stage reads."""
        ours = {s.task for s in self.tree.stages.values()}
        return [name for name in self.stages[stage].after if name not in ours]

    def course(self, node: Node) -> InstanceCourse:
        """Return the course of an instance."""
        isolated = self._isolates(node.stage)
        sweep = self.sweep if isolated else None
        return InstanceCourse(self.grove, node, sweep=sweep, queue=self._queue)

    def _isolates(self, stage: str) -> bool:
        """Tell whether instances of a stage work in worktrees of their own.

        Who makes an artifact makes it in the session's folder.
        """
        if stage not in self._isolated:
            loop, place = self.tree.stages[stage].loop, self.grove.place
            declared = loop.isolation or ("shared" if loop.artifact else None)
            if loop.gate == "user":
                declared = "shared"  # what is merged cannot be rejected any more
            declared = declared or self._usual()
            self._isolated[stage] = declared != "shared" and _isolates(
                place, declared, self._workers
            )
        return self._isolated[stage]

    def _usual(self) -> str | None:
        """Say where work is done if nobody declares it: above all where it was begun.

        What is on the result branch is not in the project before it lands.
        """
        if os.path.exists(self.grove.place.folder.file(NOTE)):
            return "worktree"
        return "shared" if self._workers < 2 else None  # noqa: PLR2004 - as for beads

    def sweep(self) -> None:
        """Bring home what a dead run left in worktrees, once, before one is used."""
        if not self._swept:
            self._swept = True
            from looptasks.plugin.worksite import clean_up  # noqa: PLC0415 - seldom

            clean_up(self.grove.place, instances=True)

    def is_quiet(self) -> bool:
        """Tell whether no instance has anything to do; found out once."""
        if self._quiet is None:
            with self.grove.still():
                self._quiet = not self.grove.forced and self._is_settled()
        return self._quiet

    def _is_settled(self) -> bool:
        fans = [stage.name for stage in self.tree.fans()]
        together = [name for name in fans if self.tree.levels[name]]
        if any(self.stages[name].record.status != "complete" for name in together):
            return False
        if not all(map(self._rests_on_what_stands, fans)):
            return False
        there = dict.fromkeys(self.grove.all_instances())
        gone = [node.name for node in self.grove.recorded() if node not in there]
        stages = self.grove.place.record().stages
        if any(stages[name].status not in ("pending", "archived") for name in gone):
            return False
        return all(map(self._is_complete, there))

    def _rests_on_what_stands(self, fan: str) -> bool:
        """Tell whether nothing that a stage rests on may change in this run."""
        above = self.grove.pipeline.upstream(fan) - {s.name for s in self.tree.fans()}
        return not self._made(fan) and all(map(self._stands, above))

    def _stands(self, name: str) -> bool:
        known = self.stages[name]
        # One of its own: a course looks only once at what is stale.
        course = Course(known.place, known.pipeline, known.stage, known.request)
        return known.stage.loop.each != "beads" and _is_done(course)

    def _is_complete(self, node: Node) -> bool:
        return _is_done(self.course(node))

    def clear_away(self, node: Node) -> None:
        """Have what no longer holds below a node invalidated, before it goes on."""
        found = outdated(self.grove, node)
        if not found:
            return
        course = self.stages[node.stage]
        if not course.place.owned:
            own(course)
        from looptasks.plugin.invalidation import invalidate  # noqa: PLC0415 - seldom

        invalidate(self.grove, found)
        self.grove.derive(self.tree.source(node))


def _is_done(course: Course) -> bool:
    if course.record.status != "complete":
        return False
    step = course.step()
    return isinstance(step, Stop) and step.status == "complete"


def grove_tasks(growth: Growth) -> Iterator[Task]:
    """Yield the placeholders of all stages that have instances."""
    for stage in growth.tree.fans():
        yield from growth.ensure(Node(stage.name))


def gather(
    growth: Growth, node: Node, seen: frozenset[str] | None = None
) -> Iterator[Task]:
    """Wait for all instances below a node, look again, until nothing is new."""
    task = growth.grove.task(node)
    if why := growth.grove.unready(node):
        yield resting(growth.grove.place, node.name, task, why)
        return
    if seen is None and growth.is_quiet():
        yield from _closing(growth, node)
        return
    growth.clear_away(node)
    children = [Node(node.stage, (*node.path, n)) for n in growth.grove.below(node)]
    for child in children:
        yield from growth.ensure(child)
    names = frozenset(child.task for child in children)
    if names == seen:
        yield from _closing(growth, node)
        return
    after = [child.task for child in children]
    yield late(task, gather, growth, node, names, after=after)


def _closing(growth: Growth, node: Node) -> Iterator[Task]:
    if node.path:
        yield Task(node.task, None)
        return
    course = growth.stages[node.stage]
    stage, record = course.stage, course.record
    names = [one.name for one in growth.grove.instances(node)]
    settled = growth.is_quiet() and record.status == "complete"
    yield Task(
        stage.task,
        [(close_grove, [course.place, stage, names])],
        uptodate=[settled],
        targets=[course.path("state.json")],
        doc=f"{stage.loop.description or stage.name} ({record.reason})",
        io=IO,
        meta={"looptasks": (stage.name, 0)},
    )


def grow(growth: Growth, node: Node, goal: int = 0) -> Iterator[Task]:
    """Run an instance's loop, if all that it waits for has come about.

    With a `goal`, the task is that iteration, and the rest of the loop waits.
    """
    grove = growth.grove
    task = iteration_task(grove.task(node), goal) if goal else grove.task(node)
    why = grove.unready(node)
    if not why and grove.entry(node) is None:
        why = "its entry is gone"
    if why:
        yield resting(grove.place, node.name, task, why)
    else:
        yield from unroll(growth.course(node), goal)


def _isolates(place: Workplace, declared: str | None, workers: int) -> bool:
    from looptasks.plugin.worksite import isolates  # noqa: PLC0415 - git is seldom

    return isolates(place.root, place.session, declared, workers)
