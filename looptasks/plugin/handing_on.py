"""Handing on: what a complete stage leaves for the stages after it."""

import os
from typing import Any

from doit.exceptions import TaskFailed

from looptasks.core.pipeline import Stage
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Stop
from looptasks.core.taskname import bead_of
from looptasks.errors import LoopError, SessionBusy
from looptasks.plugin.closing import close, fail
from looptasks.plugin.workplace import Workplace


def publish(place: Workplace, stage: Stage, stop: Stop) -> Any:
    """Hand on what a complete stage made; doit's action for the stage."""
    try:
        place.hold()
        record = place.record().stage(stage.name)
        hand_on(place, stage, record)
        if bead := bead_of(stage.name):
            _close_bead(place, bead, stop)
        _put_away(place, stage)
        close(place, stage, stop)
    except LoopError as error:
        if bead_of(stage.name) and not isinstance(error, SessionBusy):
            # Such as a blocker that somebody added while it was worked on.
            return fail(place, stage, Stop("failed", str(error)))
        return TaskFailed(str(error))
    return {"summary": f"complete: {stop.reason}"}


def _close_bead(place: Workplace, bead: str, stop: Stop) -> None:
    """Close a bead in the tracker before the ledger calls its loop complete.

    The other way round, a crash in between would look like a bead opened again.
    """
    if place.beads.seen()[bead].status != "closed":
        place.beads.tracker.close(bead, stop.reason)


def _put_away(place: Workplace, stage: Stage) -> None:
    """Remove the worktree of finished work, if it has one."""
    if os.path.isdir(place.folder.file("worktrees")):
        from looptasks.plugin.worksite import put_away  # noqa: PLC0415 - git is seldom

        put_away(place, stage.name)


def hand_on(place: Workplace, stage: Stage, record: StageRecord) -> None:
    """Put what a stage made where the next one looks."""
    if not stage.loop.artifact:
        place.folder.publish(record, published(stage, record))
        return
    from looptasks.effects.artifact_file import publish_artifact  # noqa: PLC0415

    publish_artifact(place.folder, record, stage.loop.artifact, stage.loop.entries)


def published(stage: Stage, record: StageRecord) -> dict[int, str]:
    """Return which iterations' outputs a stage hands on, and under which names."""
    if not record.iterations:
        return {}
    if stage.loop.perspectives or stage.loop.completion == "all-items":
        return {i.number: f"{i.number:04d}.md" for i in record.iterations}
    return {record.iterations[-1].number: "output.md"}
