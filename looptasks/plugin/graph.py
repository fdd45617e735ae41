"""The graph: stages and iterations as doit tasks, made while the loop goes on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.pipeline import Stage
from looptasks.core.step import Iterate, Stop
from looptasks.core.taskname import iteration_task
from looptasks.plugin.course import Course
from looptasks.plugin.late import late
from looptasks.plugin.urgency import AT_ONCE
from looptasks.plugin.voice import say

# The reporter speaks, never an action: nothing is to be captured.
IO = {"capture": False}


def entry_tasks(
    entry: str, courses: Sequence[Course], doc: str, makers: Mapping[str, str]
) -> Iterator[Task]:
    """Yield the placeholders of an entry's stages, and the entry itself.

    `makers` says which ordinary task makes a file that a stage may read.
    """
    by_stage = {course.stage.name: course.stage.task for course in courses}
    for course in courses:
        stage = course.stage
        made = [makers[path] for path in stage.loop.reads if path in makers]
        course.after = (*(by_stage[name] for name in stage.inputs), *made)
        if stage.loop.each:
            continue
        yield late(
            stage.task,
            unroll,
            course,
            after=course.after,
            doc=stage.loop.description or doc,
            subtask_of=entry if stage.task != entry else None,
        )
    if entry not in by_stage.values():
        names = list(by_stage.values())
        yield Task(entry, None, task_dep=names, doc=doc, has_subtask=True)


def iteration_goal(name: str, course: Course, number: int) -> Task:
    """Return the placeholder of one iteration that was asked for by name."""
    doc = f"iteration {number}"
    return late(name, unroll, course, number, after=course.after, doc=doc)


def unroll(course: Course, goal: int = 0, tried: int = 0) -> Iterator[Task]:
    """Yield what the stage does next, and itself again, until nothing is left.

    With a `goal`, the placeholder is that iteration, and everything after it waits.
    If `tried` is still due it has failed: `--continue` asks nevertheless.
    """
    name = iteration_task(course.stage.task, goal) if goal else course.stage.task
    step = settled_step(course)
    if isinstance(step, Iterate) and step.number == tried:
        yield Task(name, [(_stand_still, [course.place, course.stage, step])], io=IO)
    elif isinstance(step, Stop) or (goal and goal < step.number):
        yield _last_task(course, step, goal)
    elif step.number == goal:
        yield _iteration(course, step)
    else:
        task = _iteration(course, step)
        yield task
        args = (course, goal, step.number)
        soon = {"urgency": (AT_ONCE,)}
        yield late(name, unroll, *args, after=[task.name], doc=task.doc, meta=soon)


def settled_step(course: Course) -> Iterate | Stop:
    """Take the course's next step; clear away what is stale; own what will change."""
    while True:
        step = course.step()
        if isinstance(step, Stop):
            return step
        if not course.place.owned:
            own(course)
            continue
        if isinstance(step, Iterate):
            course.begin()
            return step
        say(f"{course.stage.task} starts again: {step.reason}")
        course.supersede(step)


def own(course: Course) -> None:
    """Become the session's runner, and say what that means for earlier work."""
    from looptasks.plugin.processes import processes  # noqa: PLC0415 - not for a no-op

    place = course.place
    if course.stage.loop.agent != "replay":
        processes().start()
    taken = place.own()
    if taken is not None:
        say(f"taking over session {place.session}: {taken[1]}")
    done = sum(len(stage.iterations) for stage in place.record().stages.values())
    course.look_again()
    if not done:
        return
    step = None if course.stage.loop.each else course.step()
    course.look_again()
    if step is None:
        say(f"resuming {place.session}: {done} iterations done")
    if isinstance(step, Iterate):
        word = "continuing with" if step.number > done else "repeating"
        where = "" if len(course.pipeline.stages) == 1 else f" of {course.stage.task}"
        say(
            f"resuming {place.session}: {done} iterations done, "
            f"{word} {step.number}{where}"
        )


def _iteration(course: Course, step: Iterate) -> Task:
    from looptasks.plugin.actions import iterate  # noqa: PLC0415 - not for a no-op

    number = step.number
    course.derive_last()
    before = course.path("iterations", f"{number - 1:04d}", "state.json")
    return Task(
        course.task(number),
        [(iterate, [course.place, course.job(step), course.request.record])],
        file_dep=[before] if number > 1 else [],
        task_dep=list(course.after),
        uptodate=[False],
        targets=[
            course.path("iterations", f"{number:04d}", "state.json"),
            course.path("iterations", f"{number:04d}", "progress.md"),
        ],
        doc=f"iteration {number}: {step.reason}",
        subtask_of=course.stage.task,
        io=IO,
        meta={"looptasks": (course.stage.name, number), "urgency": (AT_ONCE,)},
    )


def _last_task(course: Course, step: Iterate | Stop, goal: int) -> Task:
    if goal:
        done = goal <= len(course.record.iterations)
        name = iteration_task(course.stage.task, goal)
        action = [] if done else [(_stand_still, [course.place, course.stage, step])]
        return Task(
            name,
            action,
            uptodate=[done],
            doc=f"iteration {goal}",
            io=IO,
            meta={"looptasks": (course.stage.name, 0)},
        )
    assert isinstance(step, Stop)  # noqa: S101 - without a goal only a stop ends it
    if step.status != "complete":
        return _task(course, [(_stand_still, [course.place, course.stage, step])], step)
    return _task(course, [(_publish, [course.place, course.stage, step])], step)


def _task(course: Course, actions: list[object], step: Stop) -> Task:
    stage, record = course.stage, course.record
    course.derive_last()
    last = course.path("iterations", f"{len(record.iterations):04d}", "state.json")
    settled = record.status == "complete" and step.status == "complete"
    return Task(
        stage.task,
        actions,
        file_dep=[last] if record.iterations else [],
        uptodate=[settled],
        targets=[
            course.path("state.json"),
            course.path("progress.md"),
            *course.targets(),
        ],
        doc=f"{stage.loop.description or stage.name} ({step.status}: {step.reason})",
        io=IO,
        meta={"looptasks": (stage.name, 0), "urgency": (AT_ONCE,)},
    )


def _publish(place: Any, stage: Stage, stop: Stop) -> Any:
    from looptasks.plugin.actions import publish  # noqa: PLC0415 - not for a no-op

    return publish(place, stage, stop)


def _stand_still(place: Any, stage: Stage, step: Iterate | Stop) -> Any:
    from looptasks.plugin.actions import stand_still  # noqa: PLC0415 - as above

    return stand_still(place, stage, step)
