"""Showing: a session's history as doit tasks, for commands that run nothing."""

from collections.abc import Iterator, Sequence
from typing import Any

from doit.task import Task

from looptasks.core.taskname import TaskName
from looptasks.effects.session_folder import session_names
from looptasks.plugin.course import Course
from looptasks.plugin.engagement import Engagement, engagement, existing, ours
from looptasks.plugin.shown_stage import shown_stage


def tasks_to_show(loader: Any, names: Sequence[str], *, whole: bool) -> Iterator[Task]:
    """Yield the tasks of the session that a command is about, history made real."""
    engaged = _engaged(loader, ours(names))
    if engaged is None:
        return
    loader.engagement = engaged
    engaged.take_on_recorded()
    # A plain `list` draws its own picture of the session, without tasks.
    for entry in list(engaged.pipelines) if whole else ():
        yield from shown_entry(engaged, entry, whole=whole)


def _engaged(loader: Any, names: Sequence[TaskName]) -> Engagement | None:
    request = loader.request()
    if request.session is not None:
        return existing(loader.root, request, planned=True)
    own = [n.name for n in names if n.kind in ("loop", "pipeline")]
    if own and own[0] in session_names(loader.root):
        return engagement(loader.root, request, own[0])
    return existing(loader.root, request) if names else None


def shown_entry(engaged: Engagement, entry: str, *, whole: bool) -> Iterator[Task]:
    """Yield an entry's stages, with all their iterations if `whole`."""
    stages: dict[str, Task] = {}
    for course in engaged.courses(entry):
        for task in _shown(engaged, course, entry, whole=whole):
            stages[course.stage.task] = task
            yield task
    if entry not in stages:
        doc = engaged.pipelines[entry].description
        meta = _together(list(stages.values()))
        names = list(stages)
        yield Task(entry, None, task_dep=names, has_subtask=True, doc=doc, meta=meta)


def _shown(
    engaged: Engagement, course: Course, entry: str, *, whole: bool
) -> Iterator[Task]:
    if course.stage.parent:
        from looptasks.plugin.grove import Grove  # noqa: PLC0415 - seldom
        from looptasks.plugin.showing_grove import shown_grove  # noqa: PLC0415

        how = engaged.pipelines[entry], engaged.requests[entry]
        grove = Grove(engaged.place, *how)
        return shown_grove(grove, course, entry, whole=whole)
    if course.stage.loop.each != "beads":
        return shown_stage(course, entry, whole=whole)
    from looptasks.plugin.showing_beads import shown_fan  # noqa: PLC0415 - seldom

    return shown_fan(course, entry, whole=whole)


def _together(stages: Sequence[Task]) -> dict[str, Any]:
    """Say of an entry what its stages come to."""
    due = [task for task in stages if not task.meta["stands"]]
    why = f"{due[0].name}: {due[0].meta['why']}" if due else "all stages are complete"
    return {"looptasks": None, "stands": not due, "why": why}
