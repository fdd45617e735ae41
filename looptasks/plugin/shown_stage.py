"""A shown stage: its history as doit tasks, each knowing whether it would run."""

from collections.abc import Iterator
from typing import Any

from doit.task import Task

from looptasks.core.step import Restart, Stop
from looptasks.core.taskname import padded
from looptasks.plugin.course import Course


def shown_stage(course: Course, entry: str, *, whole: bool) -> Iterator[Task]:
    """Yield a stage and its iterations, each knowing whether it would run and why."""
    step, record, stage = course.step(), course.record, course.stage
    count = len(record.iterations) if whole else 0
    certified = 0 if isinstance(step, Restart) else record.certified()
    names = []
    for number in range(1, count + 1):
        names.append(course.task(number))
        stands = number <= certified
        reason = "up to date" if stands else _why(course, number, step)
        yield _shown_iteration(course, number, stands=stands, reason=reason)
    settled = isinstance(step, Stop) and step.status == "complete"
    yield Task(
        stage.task,
        None,
        task_dep=names,
        targets=[course.path("state.json"), course.path("progress.md")],
        has_subtask=bool(names),
        subtask_of=entry if stage.task != entry else None,
        doc=f"{stage.loop.description or stage.name} ({record.status})",
        meta={"looptasks": (stage.name, 0), "stands": settled, "why": step.reason},
    )


def _why(course: Course, number: int, step: Any) -> str:
    record = course.record
    if number in record.forgotten:
        return record.forgotten[number]
    return str(step.reason)


def _shown_iteration(course: Course, number: int, *, stands: bool, reason: str) -> Task:
    folder = course.path("iterations", padded(number))
    before = course.path("iterations", padded(number - 1), "state.json")
    return Task(
        course.task(number),
        None,
        file_dep=[before] if number > 1 else [],
        targets=[f"{folder}/state.json", f"{folder}/progress.md"],
        subtask_of=course.stage.task,
        doc=f"iteration {number}",
        meta={
            "looptasks": (course.stage.name, number),
            "stands": stands,
            "why": reason,
        },
    )
