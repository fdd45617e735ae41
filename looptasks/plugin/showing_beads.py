"""Showing beads: a fan's beads and their iterations as doit tasks."""

from collections.abc import Iterator

from doit.task import Task

from looptasks.core.fan import Standing, due, folder_of, task_of
from looptasks.core.step import Stop
from looptasks.core.taskname import iteration_task
from looptasks.plugin.bead_course import BeadCourse
from looptasks.plugin.course import Course
from looptasks.plugin.foresight import fan_step
from looptasks.plugin.shown_stage import Mark, shown_iterations, shown_stage, stage_task
from looptasks.plugin.standing import bead_standings

_KEPT = "up to date"


def shown_fan(course: Course, entry: str, *, whole: bool) -> Iterator[Task]:
    """Yield a stage over beads, with all beads and their iterations if `whole`."""
    stage, step = course.stage, fan_step(course)
    names = []
    for task in shown_beads(course) if whole else ():
        if task.subtask_of == stage.task:
            names.append(task.name)
        yield task
    stands = isinstance(step, Stop) and step.status == "complete"
    yield stage_task(
        (stage.task, entry),
        course.path(),
        names,
        f"{stage.loop.description or stage.name} ({course.record.status})",
        # None: what is done to it is done to its beads.
        Mark(None, stands, step.reason),
    )


def shown_beads(course: Course) -> Iterator[Task]:
    """Yield each bead that was worked on or will be; only what is due is looked at."""
    place = course.place
    seen, record = place.beads.seen(), place.record()
    found = due(seen, record, place.session)
    standings = {standing.bead.id: standing for standing in bead_standings(place)}
    for bead in seen:
        if bead in found and not seen[bead].container:
            own = BeadCourse(course, bead, isolated=False)
            yield from shown_stage(own, course.stage.task, whole=True)
        elif folder_of(bead) in record.stages:
            yield from _settled(course, standings[bead])


def _settled(course: Course, standing: Standing) -> Iterator[Task]:
    """Yield a bead that has nothing to do, or nothing that it can."""
    place, bead = course.place, standing.bead.id
    name, task = folder_of(bead), task_of(bead)
    numbers = range(1, len(place.record().stage(name).iterations) + 1)
    folder, done = place.folder.relative(name), standing.state == "done"
    marks = [Mark((name, number), stands=True, why=_KEPT) for number in numbers]
    yield from shown_iterations(task, folder, marks)
    state = "complete" if done else f"{standing.state}: {standing.reason}"
    yield stage_task(
        (task, course.stage.task),
        folder,
        [iteration_task(task, number) for number in numbers],
        f"{name} ({state})",
        Mark((name, 0), done, _KEPT if done else standing.reason),
    )
