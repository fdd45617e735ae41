"""A selector: which part of a session a signal is meant for.

Nothing is the whole session. `stage:NAME` is a stage or an instance, with all that is
inside it; `descendants:NAME` is all that rests on one, and not itself; `bead:ID` is a
bead's loop; `status:WORD` is whatever stands like that when the signal is given.
"""

from collections.abc import Iterable
from typing import NamedTuple

from looptasks.core.suggestion import choice, did_you_mean, listed
from looptasks.errors import UsageError

STATUSES = (
    "pending",
    "running",
    "complete",
    "failed",
    "waiting",
    "paused",
    "invalidated",
    "archived",
    "interrupted",
)
_KINDS = ("stage", "descendants", "status", "bead")


class Subject(NamedTuple):
    """A stage as selectors see it.

    `upstream` names all that it rests on, `within` the stage that a bead belongs to.
    """

    name: str
    upstream: frozenset[str] = frozenset()
    within: str = ""


class Selector(NamedTuple):
    """Which part of a session is meant; without a kind, all of it."""

    kind: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        """The selector as people write it, empty for the whole session."""
        return f"{self.kind}:{self.name.replace('/', ':')}" if self.kind else ""

    def matches(self, subject: Subject, status: str = "") -> bool:
        """Tell whether a stage is meant."""
        match self.kind:
            case "stage":
                return is_within(subject.within or subject.name, self.name)
            case "descendants":
                return any(_touch(name, self.name) for name in subject.upstream)
            case "bead":
                return subject.name == f"beads/{self.name}"
            case "status":
                return status == self.name
            case _:
                return True


def selector_from(text: str) -> Selector:
    """Return the selector that a word means, or say what is wrong with it.

    >>> selector_from("descendants:stage:spec:api")
    Selector(kind='descendants', name='spec/api')
    """
    kind, _, name = text.partition(":")
    if kind == "loop":
        kind = "stage"
    if kind not in _KINDS or not name:
        raise UsageError(
            f"`{text}` selects nothing{did_you_mean(kind, _KINDS)}",
            fix=f"use {listed(('stage:NAME', 'descendants:NAME', 'bead:ID'))}, "
            "`status:WORD`, or nothing for the whole session",
        )
    if kind == "status" and name not in STATUSES:
        raise UsageError(f"`{name}` is no status", fix=choice(name, STATUSES))
    if kind in ("status", "bead"):
        return Selector(kind, name)
    if kind == "descendants":
        name = name.removeprefix("stage:").removeprefix("loop:")
    return Selector(kind, name.replace(":", "/"))


def refuse_unknown(
    selector: Selector, stages: Iterable[str], beads: Iterable[str]
) -> None:
    """Raise when a selector names a stage or a bead that is not there."""
    if selector.kind in ("stage", "descendants"):
        known, noun = list(stages), "stage"
    elif selector.kind == "bead":
        known, noun = list(beads), "bead"
    else:
        return
    if not any(is_within(name, selector.name) for name in known):
        name = selector.name.replace("/", ":")
        names = [other.replace("/", ":") for other in known]
        there = choice(name, names) if names else f"there is no {noun} yet"
        raise UsageError(f"the session has no {noun} `{name}`", fix=there)


def is_within(name: str, whole: str) -> bool:
    """Tell whether a stage is another one, or one of its instances.

    >>> is_within("spec/api", "spec"), is_within("specs", "spec")
    (True, False)
    """
    return name == whole or name.startswith(f"{whole}/")


def _touch(name: str, other: str) -> bool:
    return is_within(name, other) or is_within(other, name)
