"""A bead's turn: what it does when its blockers are through, or why it does nothing."""

from typing import Any, Protocol

from doit.task import Task

from looptasks.core.fan import folder_of, is_finished, task_of, why_due
from looptasks.errors import BeadTaken
from looptasks.plugin.bead_course import BeadCourse
from looptasks.plugin.course import Course
from looptasks.plugin.fan_actions import close_container, rest_bead
from looptasks.plugin.graph import IO, unroll
from looptasks.plugin.urgency import AT_ONCE


class Beads(Protocol):
    """The beads of one stage in one run, as far as a turn has to do with them."""

    course: Course
    courses: dict[str, BeadCourse]

    @property
    def isolated(self) -> bool:
        """Whether each bead gets a worktree of its own."""


def turn(
    fan: Beads, bead: str, goal: int, tried: tuple[Any, ...]
) -> tuple[list[Task], str]:
    """Return what a bead does next, or why it can do nothing."""
    if why := _why_not(fan, bead):
        return [], why
    if fan.course.place.beads.seen()[bead].container:
        return [_closing(fan, bead)], ""
    if bead not in fan.courses:
        fan.courses[bead] = BeadCourse(fan.course, bead, isolated=fan.isolated)
    try:
        return list(unroll(fan.courses[bead], goal, *tried)), ""
    except BeadTaken as error:
        return [], error.what


def _why_not(fan: Beads, bead: str) -> str:
    """Say why a bead cannot be worked on, nothing when it can."""
    place = fan.course.place
    seen = place.beads.seen().get(bead)
    if seen is None:
        return "it is gone"
    if seen.holders:
        return f"blocked by {', '.join(seen.holders)}"
    record = place.record().stages.get(folder_of(bead))
    if is_finished(seen, record) or why_due(seen, record, place.session):
        return ""
    return f"it is {seen.status}"


def resting(fan: Beads, name: str, bead: str, reason: str) -> Task:
    """Return the task of a bead that does nothing in this run."""
    meta = {"looptasks": (folder_of(bead), 0)}
    action = rest_bead, [fan.course.place, bead, reason]
    return Task(name, [action], io=IO, doc=reason, meta=meta)


def _closing(fan: Beads, bead: str) -> Task:
    """Return the task of a bead whose children were all that was to do."""
    meta = {"looptasks": (folder_of(bead), 0), "urgency": (AT_ONCE,)}
    action = close_container, [fan.course.place, bead]
    doc = "its children are closed"
    return Task(task_of(bead), [action], io=IO, doc=doc, meta=meta)
