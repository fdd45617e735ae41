"""Foresight: what a run would do, by the code that would do it."""

from collections.abc import Iterator, Sequence
from typing import Any

from looptasks.core.count import counted
from looptasks.core.fan import due, folder_of, startable, waves
from looptasks.core.outlook import Outlook, outlooks
from looptasks.core.step import Iterate, Step, Stop
from looptasks.core.taskname import bead_of
from looptasks.plugin.course import Course
from looptasks.plugin.engagement import Engagement

_CLOSES = Iterate(0, "closes after its children, without an agent")


def foreseen(engaged: Engagement, entry: str) -> list[Outlook]:
    """Return what a run of an entry would do, beads below the stage they belong to."""
    courses = engaged.courses(entry)
    if any(course.stage.parent for course in courses):
        return list(_grown(engaged, entry, courses))
    views = outlooks([(c.stage, c.record, _step(c)) for c in courses])
    return [
        outlook
        for course, view in zip(courses, views, strict=True)
        for outlook in (view, *_beads(course))
    ]


def _grown(
    engaged: Engagement, entry: str, courses: Sequence[Course]
) -> Iterator[Outlook]:
    """Yield the outlook of stages and their instances, each below its stage."""
    from looptasks.plugin.grove import Grove  # noqa: PLC0415 - seldom
    from looptasks.plugin.grove_foresight import grove_rows, leaving  # noqa: PLC0415
    from looptasks.plugin.invalidation import gone_by_now  # noqa: PLC0415

    how = engaged.pipelines[entry], engaged.requests[entry]
    grove = Grove(engaged.place, *how)
    gone = gone_by_now(grove)
    rows = [
        row
        for course in courses
        for row in (
            grove_rows(grove, course, gone)
            if course.stage.parent
            else [(course.stage, course.record, _step(course))]
        )
    ]
    views = outlooks(rows)
    below = {s.name: bool(grove.tree.levels[s.name]) for s in grove.pipeline.stages}
    for course in courses:
        name = course.stage.name
        inner = [view for view in views if view.stage.startswith(f"{name}/")]
        for view in views:
            if view.stage == name:
                # What a stage with instances does, and what is done to it, is theirs.
                done = sum(one.done for one in inner)
                whole = view._replace(next=0, superseded=0, done=done)
                yield whole if below[name] else view
        yield from _beads(course)
        yield from inner
    yield from leaving(grove, views, gone)


def _step(course: Course) -> Step:
    beads = course.stage.loop.each == "beads"
    return fan_step(course) if beads else course.own_step()


def fan_step(course: Course) -> Iterate | Stop:
    """Say what a stage over beads does next."""
    place = course.place
    place.beads.refuse_cycles()
    seen = place.beads.seen()
    if found := due(seen, place.record(), place.session):
        return Iterate(0, f"{counted(len(found), 'bead')} to look at")
    if others := [bead.id for bead in seen.values() if not bead.settled]:
        return Stop("waiting", f"in other hands: {', '.join(others)}")
    if course.record.status != "complete":
        return Iterate(0, "no bead is left")
    return Stop("complete", course.record.reason)


def _beads(course: Course) -> Iterator[Outlook]:
    """Yield the outlook of each bead that is due, or rests on one that is."""
    if course.stage.loop.each != "beads":
        return
    from looptasks.plugin.bead_course import BeadCourse  # noqa: PLC0415 - seldom

    place = course.place
    seen = place.beads.seen()
    found = due(seen, place.record(), place.session)
    rows = []
    for bead in _in_order(list(found), course):
        own = BeadCourse(course, bead, isolated=False)
        step = _CLOSES if seen[bead].container else own.step()
        blockers = tuple(folder_of(b) for b in seen[bead].blockers if b in found)
        rows.append((own.stage._replace(inputs=blockers), own.record, step))
    can = startable(seen, found)
    for view in outlooks(rows):
        bead = bead_of(view.stage)
        if bead not in can and view.fate == "run":
            reason = f"blocked by {', '.join(seen[bead].holders)}"
            yield view._replace(fate="blocked", reason=reason)
        else:
            yield view


def _in_order(beads: list[str], course: Course) -> list[str]:
    level = waves(course.place.beads.seen(), course.place.record())
    return sorted(beads, key=lambda bead: level.get(bead, 0))


def outlook_fields(view: Outlook) -> dict[str, Any]:
    """Return an outlook for programs."""
    return {**view._asdict(), "next_task": view.next_task or None}
