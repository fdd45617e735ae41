"""Pausing: a stage that was asked to rest keeps still while others go on."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from doit.task import Task

from looptasks.core.selector import Subject
from looptasks.plugin.course import Course
from looptasks.plugin.late import late
from looptasks.plugin.urgency import AT_ONCE
from looptasks.plugin.workplace import Workplace

Lines = tuple[int, ...]


class Patience:
    """How many of those that paused may go on: none until something else is asked."""

    def __init__(self, place: Workplace, heard: Lines) -> None:
        self.place = place
        self.heard = heard

    def __call__(self) -> int:
        """Return as many as like, or none."""
        return 0 if self.place.record().signals.lines == self.heard else sys.maxsize


def paused(
    course: Course, name: str, again: Callable[[Lines], tuple[Any, ...]]
) -> Iterator[Task]:
    """Yield the stage once more, for when it is resumed or nothing else is left.

    `again` returns what makes the stage's task then, and with which arguments.
    """
    acknowledge(course.place, course.subject())
    heard = course.place.record().signals.lines
    kind = (("paused", heard), Patience(course.place, heard))
    course.look_again()  # what was seen of the project is old by then
    # Only another task gets into the queue again, and can be kept back there.
    rest = f"_paused:{name}:{'+'.join(map(str, heard))}"
    yield Task(rest, None, meta={"kind": kind})
    soon = {"urgency": (AT_ONCE,)}
    yield late(name, *again(heard), after=[rest], meta=soon)


def acknowledge(place: Workplace, subject: Subject, iteration: int = 0) -> str:
    """Note in the ledger that a stage has heard what was asked; return that in words.

    With an `iteration`, that one was on its way, and has been given up.
    """
    place.hold()
    signal = place.record().signals.asked(subject)
    if signal is None:
        return ""
    if iteration or subject.name not in signal.acknowledged:
        place.event(
            "ack",
            stage=subject.name,
            signal=signal.word,
            line=signal.line,
            iteration=iteration or None,
            reason=signal.asked,
        )
    return signal.asked
