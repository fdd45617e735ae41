"""A play: a project, and acts with commands that make a point of it."""

from collections.abc import Mapping
from typing import NamedTuple

_KILLED = -9


class Step(NamedTuple):
    """A command that is run for real, and what to notice in its output.

    As soon as the path `fatal` exists, the command is killed.
    """

    command: str
    notice: str
    fatal: str = ""
    code: int = 0

    @property
    def ends_with(self) -> int:
        """The exit code that it must end with."""
        return _KILLED if self.fatal else self.code


class Act(NamedTuple):
    """Some steps that make one point."""

    title: str
    about: str
    steps: tuple[Step, ...]


class Play(NamedTuple):
    """Acts on one project, copied to a new folder; `leaves` is worth opening then."""

    project: str
    folder: str
    acts: tuple[Act, ...]
    leaves: Mapping[str, str]
