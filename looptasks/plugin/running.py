"""Running: from the names on a command line to the tasks that doit is to run."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.request import Request
from looptasks.core.suggestion import did_you_mean
from looptasks.core.taskname import TaskName, parsed
from looptasks.errors import UsageError
from looptasks.plugin.agents import refuse_unknown_agent
from looptasks.plugin.course import Course
from looptasks.plugin.engagement import (
    Engagement,
    engagement,
    entry_names,
    ours,
    session_for,
)
from looptasks.plugin.graph import entry_tasks, iteration_goal


def tasks_to_run(
    loader: Any, names: Sequence[str], plain: Sequence[Task]
) -> list[Task]:
    """Return the tasks of ours that a run needs, everything checked beforehand."""
    wanted = ours(names)
    refuse_misspelt(loader.root, names, plain)
    if not wanted:
        return []
    request = loader.request()
    engaged = loader.engagement or _engaged(loader, request, wanted)
    _take_on(engaged, wanted)
    if not engaged.place.owned:
        _refuse_or_force(engaged)
    engaged.place.begin_round()
    loader.engagement = engaged
    how = {"forced": loader.always, "workers": loader.workers}
    return list(_tasks(engaged, wanted, plain, **how))


def _engaged(loader: Any, request: Request, wanted: Sequence[TaskName]) -> Engagement:
    session = session_for(loader.root, request, wanted)
    return engagement(loader.root, request, session, os.urandom(6).hex())


def _take_on(engaged: Engagement, wanted: Sequence[TaskName]) -> None:
    for name in wanted:
        if name.kind == "pipeline" or (name.kind == "loop" and not name.iteration):
            engaged.take_on(name.whole)
    if any(name.kind in ("stage", "bead", "wave") or name.iteration for name in wanted):
        engaged.take_on_recorded()
    entries = [engaged.entry_of(name) for name in wanted]
    for entry in entries:
        engaged.take_on(entry)
        for stage in engaged.pipelines[entry].stages:
            if engaged.place.record().stage(stage.name).status != "complete":
                refuse_unknown_agent(stage, engaged.place.root)
    engaged.announce(dict.fromkeys(entries))


def _refuse_or_force(engaged: Engagement) -> None:
    lock = engaged.place.lock
    if engaged.request.force:
        from looptasks.effects.ending import end_owner  # noqa: PLC0415

        owner = lock.owner()
        if owner is not None:
            end_owner(owner)
    lock.refuse_if_busy()


def _tasks(
    engaged: Engagement,
    wanted: Sequence[TaskName],
    plain: Sequence[Task],
    *,
    forced: bool,
    workers: int,
) -> Iterator[Task]:
    entries = dict.fromkeys(engaged.entry_of(name) for name in wanted)
    makers = {target: task.name for task in plain for target in task.targets}
    whole = {name.whole for name in wanted if not name.iteration}
    for entry in entries:
        courses = engaged.courses(entry, forced=forced)
        _share_targets(engaged, courses, list(entries))
        doc = engaged.pipelines[entry].description
        tasks = list(entry_tasks(entry, courses, doc, makers))
        tasks += _fans(courses, wanted, workers)
        tasks += _grown(engaged, entry, courses, (wanted, workers))
        tasks += _landing(engaged, entry, tasks)
        goals = [n for n in wanted if n.iteration and n.kind not in ("bead", "wave")]
        goals = [n for n in goals if engaged.entry_of(n) == entry]
        goals = [n for n in goals if any(c.stage.task == n.whole for c in courses)]
        yield from _goals(goals, courses, whole)
        kept = {g.whole for g in goals} - whole
        yield from (task for task in tasks if task.name not in kept)
        _wait_for_writers(courses, plain)


def _fans(
    courses: Sequence[Course], wanted: Sequence[TaskName], workers: int
) -> Iterator[Task]:
    """Yield the stages that fan out, and the beads and waves asked for by name."""
    for course in courses:
        if course.stage.loop.each != "beads":
            continue
        from looptasks.plugin.fan_goals import goal_tasks  # noqa: PLC0415
        from looptasks.plugin.fan_graph import Fan, fan_tasks  # noqa: PLC0415 - seldom

        course.place.beads.refuse_cycles()
        fan = Fan(course, course.after, workers)
        yield from fan_tasks(fan, course.stage.loop.description)
        yield from goal_tasks(fan, wanted)


def _grown(
    engaged: Engagement,
    entry: str,
    courses: Sequence[Course],
    asked: tuple[Sequence[TaskName], int],
) -> Iterator[Task]:
    """Yield the stages that have instances, and the instances asked for by name."""
    if not any(course.stage.parent for course in courses):
        return
    from looptasks.plugin.grove import Grove  # noqa: PLC0415 - seldom
    from looptasks.plugin.grove_goals import instance_goals  # noqa: PLC0415
    from looptasks.plugin.grove_graph import Growth, grove_tasks  # noqa: PLC0415
    from looptasks.plugin.recall import watch  # noqa: PLC0415

    wanted, workers = asked
    how = engaged.pipelines[entry], engaged.requests[entry]
    grove = Grove(engaged.place, *how, forced=courses[0].forced)
    growth = Growth(grove, courses, workers=workers)
    mine = [name for name in wanted if engaged.entry_of(name) == entry]
    watch(engaged.place, engaged.pipelines[entry])
    yield from instance_goals(growth, mine)
    yield from grove_tasks(growth)


def _landing(engaged: Engagement, entry: str, tasks: Sequence[Task]) -> Iterator[Task]:
    """Yield the last task of an entry that may have a result to bring home."""
    pipeline = engaged.pipelines[entry]
    if not any(stage.parent for stage in pipeline.stages):
        return
    from looptasks.plugin.landing import landing_task  # noqa: PLC0415 - seldom

    whole = next(task for task in tasks if task.name == entry)
    last = landing_task(engaged.place, pipeline, whole.task_dep)
    whole.task_dep.append(last.name)
    yield last


def _share_targets(
    engaged: Engagement, courses: Sequence[Course], entries: Sequence[str]
) -> None:
    """Leave a file that several entries write to the last one: doit allows one."""
    for course in courses:
        later = entries[entries.index(course.pipeline.entry) + 1 :]
        stages = (stage for entry in later for stage in engaged.pipelines[entry].stages)
        course.given_up = frozenset(path for s in stages for path in s.loop.writes)


def _goals(
    goals: Sequence[TaskName], courses: Sequence[Course], whole: set[str]
) -> Iterator[Task]:
    """Yield the iterations that were asked for by name; the furthest one leads."""
    for name in {goal.whole: goal for goal in sorted(goals)}.values():
        course = next(c for c in courses if c.stage.task == name.whole)
        asked = sorted(g.iteration for g in goals if g.whole == name.whole)
        for number in asked:
            task = course.task(number)
            if name.whole in whole or number != asked[-1]:
                leader = name.whole if name.whole in whole else course.task(asked[-1])
                yield Task(task, None, task_dep=[leader])
            else:
                yield iteration_goal(task, course, number)


def _wait_for_writers(courses: Sequence[Course], plain: Sequence[Task]) -> None:
    """Make ordinary tasks wait for the stage that makes a file they rest on.

    doit finds that out for itself, but not for tasks that are made late.
    """
    for course in courses:
        makes = {*course.stage.loop.writes}
        prefix = course.path("")
        for task in plain:
            rests = any(f in makes or f.startswith(prefix) for f in task.file_dep)
            if rests and course.stage.task not in task.task_dep:
                task.task_dep.append(course.stage.task)


def refuse_misspelt(root: str, names: Sequence[str], plain: Sequence[Task]) -> None:
    """Raise for a word that is neither a task nor a target, naming what is near."""
    targets = {target for task in plain for target in task.targets}
    known = {task.name for task in plain} | targets
    for name in names:
        if parsed(name) is None and name not in known and "*" not in name:
            kind = name.partition(":")[0]
            delayed = any(t.name == kind and t.loader for t in plain)
            if kind in known and delayed:
                continue
            guess = did_you_mean(name, [*known, *entry_names(root)])
            raise UsageError(
                f"`{name}` is no task, target or command{guess}",
                fix="`doit list` shows what can be run",
            )
