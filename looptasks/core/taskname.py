"""A task name: `loop:NAME`, `pipeline:NAME`, `stage:NAME`, each iteration below it."""

import re
from typing import NamedTuple

KINDS = ("loop", "pipeline", "stage", "bead", "wave")
_PATTERN = re.compile(r"(loop|pipeline|stage|bead|wave):([^:]+)(?::(\d{4,}))?")


class TaskName(NamedTuple):
    """A task of ours, taken apart; `iteration` 0 means the whole."""

    kind: str
    name: str
    iteration: int = 0

    @property
    def whole(self) -> str:
        """The task that the iteration belongs to."""
        return f"{self.kind}:{self.name}"


def parsed(text: str) -> TaskName | None:
    """Take a task's name apart; None when it is not one of ours.

    >>> parsed("stage:plan:0003")
    TaskName(kind='stage', name='plan', iteration=3)
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        return None
    return TaskName(match[1], match[2], int(match[3] or 0))


def padded(number: int) -> str:
    """Return an iteration's number as files and tasks write it."""
    return f"{number:04d}"


def iteration_task(stage_task: str, number: int) -> str:
    """Return the name of an iteration's task."""
    return f"{stage_task}:{number:04d}"
