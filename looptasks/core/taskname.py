"""A task name: `loop:NAME`, `pipeline:NAME`, `stage:NAME`, each iteration below it.

The instances of a stage have names below it, too: `stage:spec:api`.
"""

from typing import NamedTuple

KINDS = ("loop", "pipeline", "stage", "bead", "wave")
SPOKEN = "stage:"
_DIGITS = 4


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
    >>> parsed("stage:spec:api")
    TaskName(kind='stage', name='spec:api', iteration=0)
    """
    kind, _, rest = text.partition(":")
    name, colon, number = rest.rpartition(":")
    if not colon or not (len(number) >= _DIGITS and number.isdecimal()):
        name, number = rest, "0"
    if kind not in KINDS or not all(name.split(":")):
        return None
    if ":" in name and kind != "stage":
        return None
    return TaskName(kind, name, int(number))


def padded(number: int) -> str:
    """Return an iteration's number as files and tasks write it."""
    return f"{number:04d}"


def iteration_task(stage_task: str, number: int) -> str:
    """Return the name of an iteration's task."""
    return f"{stage_task}:{number:04d}"


def bead_of(stage: str) -> str:
    """Return the bead of a stage, empty when it is none's.

    >>> bead_of("beads/ab-1"), bead_of("plan")
    ('ab-1', '')
    """
    folder, slash, bead = stage.partition("/")
    return bead if slash and folder == "beads" else ""
