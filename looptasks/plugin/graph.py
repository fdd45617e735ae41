"""The graph: stages and iterations as doit tasks, made while the loop goes on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.count import counted
from looptasks.core.pipeline import Pipeline, Stage
from looptasks.core.step import Iterate, Step, Stop
from looptasks.core.taskname import iteration_task
from looptasks.plugin.course import Course
from looptasks.plugin.late import late
from looptasks.plugin.pausing import Lines, paused
from looptasks.plugin.urgency import AT_ONCE
from looptasks.plugin.voice import say
from looptasks.plugin.workplace import Workplace

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
        above = dict.fromkeys((*stage.inputs, *stage.after))
        course.after = (*(by_stage[name] for name in above), *made)
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


def unroll(
    course: Course,
    goal: int = 0,
    tried: tuple[int, int] = (0, 0),
    heard: Lines = (),
) -> Iterator[Task]:
    """Yield what the stage does next, and itself again, until nothing is left.

    With a `goal`, the placeholder is that iteration, and everything after it waits.
    If what was `tried`, by generation and number, is still due it has failed:
    `--continue` asks nevertheless. Signals that were `heard`, and held it back, hold
    it back for good when it is asked again: nothing else is left then.
    """
    name = iteration_task(course.stage.task, goal) if goal else course.stage.task
    step = settled_step(course)
    if isinstance(step, Iterate) and tried == (course.record.generation, step.number):
        yield Task(name, [(_stand_still, [course.place, course.stage, step])], io=IO)
    elif isinstance(step, Stop) and step.status == "held":
        yield resting(course.place, course.stage.name, name, step.reason)
    elif _waits(course, step, heard):
        yield from paused(course, name, lambda now: (unroll, course, goal, tried, now))
    elif isinstance(step, Stop) or (goal and goal < step.number):
        yield _last_task(course, step, goal)
    elif step.number == goal:
        yield _iteration(course, step, alone=True)
    else:
        task = _iteration(course, step)
        yield task
        args = (course, goal, (course.record.generation, step.number))
        soon = {"urgency": (AT_ONCE,)}
        yield late(name, unroll, *args, after=[task.name], doc=task.doc, meta=soon)


def _waits(course: Course, step: Step, heard: Lines) -> bool:
    if not isinstance(step, Stop) or step.status != "paused":
        return False
    return course.place.record().signals.lines != heard


def resting(place: Workplace, stage: str, task: str, why: str) -> Task:
    """Return the task of a stage that does nothing in this round, and says why."""
    place.resting[stage] = why
    meta = {"looptasks": (stage, 0)}
    return Task(task, [(rest, [why])], io=IO, doc=why, meta=meta)


def rest(reason: str) -> dict[str, str]:
    """Do nothing, and say why."""
    return {"summary": f"rests: {reason}"}


def settled_step(course: Course) -> Iterate | Stop:
    """Take the course's next step; clear away what is stale; own what will change."""
    while True:
        step = course.step()
        waved = waved_through(course, step)
        if isinstance(step, Stop) and not waved:
            return step
        if not course.place.owned:
            own(course)
            continue
        if isinstance(step, Iterate):
            course.begin()
            return step
        if isinstance(step, Stop):
            approve(course, step)
            continue
        say(f"{course.stage.task} starts again: {step.reason}")
        course.supersede(step)


def waved_through(course: Course, step: Step) -> bool:
    """Tell whether the command line has approved what a stage waits with."""
    at_gate = isinstance(step, Stop) and step.gate is not None
    return at_gate and course.request.approve


def approve(course: Course, step: Stop) -> None:
    """Put the command line's approval into the ledger."""
    from looptasks.plugin.gates import approve_at_once  # noqa: PLC0415 - seldom

    approve_at_once(course.place, course.stage.name, step.gate or "")


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
        say(f"resuming {place.session}: {counted(done, 'iteration')} done")
    if isinstance(step, Iterate):
        word = "continuing with" if step.number > done else "repeating"
        where = "" if len(course.pipeline.stages) == 1 else f" of {course.stage.task}"
        say(
            f"resuming {place.session}: {counted(done, 'iteration')} done, "
            f"{word} {step.number}{where}"
        )


def _iteration(course: Course, step: Iterate, *, alone: bool = False) -> Task:
    from looptasks.plugin.actions import iterate  # noqa: PLC0415 - not for a no-op

    number, job = step.number, course.job(step)._replace(alone=alone)
    course.derive_last()
    before = course.path("iterations", f"{number - 1:04d}", "state.json")
    return Task(
        course.task(number),
        [(iterate, [course.place, job, course.request.record])],
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
        meta={"looptasks": (course.stage.name, number), **course.turn()},
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
    args = [course.place, course.stage, step, course.pipeline]
    return _task(course, [(_publish, args)], step)


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


def _publish(place: Any, stage: Stage, stop: Stop, pipeline: Pipeline) -> Any:
    from looptasks.plugin.handing_on import publish  # noqa: PLC0415 - not for a no-op

    done = publish(place, stage, stop)
    if isinstance(done, dict) and any(below.parent for below in pipeline.stages):
        from looptasks.plugin.invalidation import invalidate_below  # noqa: PLC0415

        invalidate_below(place, pipeline, stage.name)
    return done


def _stand_still(place: Any, stage: Stage, step: Iterate | Stop) -> Any:
    from looptasks.plugin.closing import stand_still  # noqa: PLC0415 - as above

    return stand_still(place, stage, step)
