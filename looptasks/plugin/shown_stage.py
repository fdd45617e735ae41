"""A shown stage: its history as doit tasks, each knowing whether it would run."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from doit.task import Task

from looptasks.core.step import Restart, Stop
from looptasks.core.taskname import iteration_task, padded
from looptasks.plugin.course import Course


class Mark(NamedTuple):
    """What a shown task is of: a stage and an iteration, or 0; whether it stands."""

    what: tuple[str, int] | None
    stands: bool
    why: str

    def meta(self) -> dict[str, Any]:
        """Return it as doit carries it."""
        return {"looptasks": self.what, "stands": self.stands, "why": self.why}


def shown_stage(course: Course, entry: str, *, whole: bool) -> Iterator[Task]:
    """Yield a stage and its iterations, each knowing whether it would run and why."""
    step, record, stage = course.step(), course.record, course.stage
    count = len(record.iterations) if whole else 0
    certified = 0 if isinstance(step, Restart) else record.certified()
    marks = []
    for number in range(1, count + 1):
        stands = number <= certified
        reason = "up to date" if stands else _why(course, number, step)
        marks.append(Mark((stage.name, number), stands, reason))
    yield from shown_iterations(stage.task, course.path(), marks)
    settled = isinstance(step, Stop) and step.status == "complete"
    yield stage_task(
        (stage.task, entry),
        course.path(),
        [iteration_task(stage.task, number) for number in range(1, count + 1)],
        f"{stage.loop.description or stage.name} ({record.status})",
        Mark((stage.name, 0), settled, step.reason),
    )


def stage_task(
    names: tuple[str, str], folder: str, below: Sequence[str], doc: str, mark: Mark
) -> Task:
    """Return the task of a stage, by its name and that of the task above it."""
    name, above = names
    return Task(
        name,
        None,
        task_dep=list(below),
        targets=_targets(folder),
        has_subtask=bool(below),
        subtask_of=above if name != above else None,
        doc=doc,
        meta=mark.meta(),
    )


def shown_iterations(task: str, folder: str, marks: Sequence[Mark]) -> Iterator[Task]:
    """Yield the iterations of a stage, from the first on, each with its mark."""
    for number, mark in enumerate(marks, 1):
        before = f"{folder}/iterations/{padded(number - 1)}/state.json"
        yield Task(
            iteration_task(task, number),
            None,
            file_dep=[before] if number > 1 else [],
            targets=_targets(f"{folder}/iterations/{padded(number)}"),
            subtask_of=task,
            doc=f"iteration {number}",
            meta=mark.meta(),
        )


def _targets(folder: str) -> list[str]:
    return [f"{folder}/state.json", f"{folder}/progress.md"]


def _why(course: Course, number: int, step: Any) -> str:
    record = course.record
    if number in record.forgotten:
        return record.forgotten[number]
    return str(step.reason)
