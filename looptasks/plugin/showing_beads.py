"""Showing beads: a fan's beads and their iterations as doit tasks."""

from collections.abc import Iterator

from doit.task import Task

from looptasks.core.fan import due, folder_of, task_of
from looptasks.core.step import Stop
from looptasks.core.taskname import iteration_task, padded
from looptasks.plugin.bead_course import BeadCourse
from looptasks.plugin.course import Course
from looptasks.plugin.foresight import fan_step
from looptasks.plugin.shown_stage import shown_stage


def shown_fan(course: Course, entry: str, *, whole: bool) -> Iterator[Task]:
    """Yield a stage over beads, with all beads and their iterations if `whole`."""
    stage, step = course.stage, fan_step(course)
    names = []
    for task in shown_beads(course) if whole else ():
        if task.subtask_of == stage.task:
            names.append(task.name)
        yield task
    stands = isinstance(step, Stop) and step.status == "complete"
    yield Task(
        stage.task,
        None,
        task_dep=names,
        targets=[course.path("state.json"), course.path("progress.md")],
        has_subtask=bool(names),
        subtask_of=entry if stage.task != entry else None,
        doc=f"{stage.loop.description or stage.name} ({course.record.status})",
        # None: what is done to it is done to its beads.
        meta={"looptasks": None, "stands": stands, "why": step.reason},
    )


def shown_beads(course: Course) -> Iterator[Task]:
    """Yield each bead that was worked on or will be; only what is due is looked at."""
    place = course.place
    seen, record = place.beads.seen(), place.record()
    found = due(seen, record, place.session)
    for bead in seen:
        if bead in found:
            own = BeadCourse(course, bead, isolated=False)
            yield from shown_stage(own, course.stage.task, whole=True)
        elif folder_of(bead) in record.stages:
            yield from _settled(course, bead)


def _settled(course: Course, bead: str) -> Iterator[Task]:
    place, name = course.place, folder_of(bead)
    record, relative = place.record().stage(name), place.folder.relative
    names = []
    for number in range(1, len(record.iterations) + 1):
        names.append(iteration_task(task_of(bead), number))
        folder = relative(name, "iterations", padded(number))
        yield _task(names[-1], task_of(bead), folder, (name, number))
    task = _task(task_of(bead), course.stage.task, relative(name), (name, 0))
    task.task_dep[:] = names
    task.has_subtask = bool(names)
    yield task


def _task(name: str, above: str, folder: str, what: tuple[str, int]) -> Task:
    return Task(
        name,
        None,
        targets=[f"{folder}/state.json", f"{folder}/progress.md"],
        subtask_of=above,
        doc=f"iteration {what[1]}" if what[1] else f"{what[0]} (complete)",
        meta={"looptasks": what, "stands": True, "why": "up to date"},
    )
