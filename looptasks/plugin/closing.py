"""Closing: how a stage stops, in the ledger and in what derives from it."""

import os
from typing import Any

from doit.exceptions import TaskFailed

from looptasks.core.pipeline import Stage
from looptasks.core.step import Iterate, Stop
from looptasks.core.taskname import bead_of
from looptasks.effects.session_folder import stage_state
from looptasks.effects.transcripts import pack
from looptasks.errors import LoopError, SessionBusy
from looptasks.plugin.board_file import write_board
from looptasks.plugin.child_failure import child_failed
from looptasks.plugin.gates import derive
from looptasks.plugin.workplace import Workplace


def stand_still(place: Workplace, stage: Stage, step: Iterate | Stop) -> Any:
    """Say that a stage is not complete and does not go on; doit's action for that."""
    if isinstance(step, Iterate):
        return TaskFailed(f"iteration {step.number} comes first: {step.reason}")
    if step.status == "complete":
        return TaskFailed(f"{stage.task} was complete before: {step.reason}")
    return fail(place, stage, step)


def fail(place: Workplace, stage: Stage, stop: Stop) -> Any:
    """Record that a stage stopped short; return what that means for doit."""
    try:
        place.hold()
        if stage.parent and _is_told(place, stage, stop):
            return {"summary": f"{stop.status}: {stop.reason}"}
        stop = _naming_branch(place, stage, stop)
        close(place, stage, stop)
        if bead := bead_of(stage.name):
            return _bead_failed(place, bead, stop)
        if stage.parent:
            return child_failed(place, stage, stop)
    except SessionBusy as error:
        return TaskFailed(str(error))
    except LoopError as error:
        return TaskFailed(f"{stop.reason}\n{error}")
    return TaskFailed(stop.reason)


def _is_told(place: Workplace, stage: Stage, stop: Stop) -> bool:
    """Tell whether this run has already said that an instance stopped like that."""
    session = place.record()
    record = session.stage(stage.name)
    fresh = record.stopped > max(session.run_at, record.touched)
    return fresh and (record.status, record.reason) == (stop.status, stop.reason)


def _naming_branch(place: Workplace, stage: Stage, stop: Stop) -> Stop:
    """Say where the work is that does not come home."""
    if not os.path.isdir(place.folder.file("worktrees")):
        return stop
    from looptasks.plugin.worksite import kept_branch  # noqa: PLC0415 - git is seldom

    branch = kept_branch(place, stage.name)
    if not branch:
        return stop
    why, line, more = stop.reason.partition("\n")
    return stop._replace(reason=f"{why}; its work is on branch `{branch}`{line}{more}")


def _bead_failed(place: Workplace, bead: str, stop: Stop) -> dict[str, str]:
    """Let go of a bead that failed; others go on, the stage fails at its end."""
    place.beads.let_go(bead)
    return {"summary": f"{stop.status}: {stop.reason}"}


def close(place: Workplace, stage: Stage, stop: Stop) -> None:
    """Record how a stage stopped, in the ledger and in what derives from it."""
    asked: dict[str, Any] = {} if stop.gate is None else {"gate": stop.gate}
    place.event(
        "stop",
        stage=stage.name,
        status=stop.status,
        reason=stop.reason,
        fix=stop.fix,
        **asked,
    )
    record = place.record().stage(stage.name)
    state = stage_state(place.session, stage.loop.name, record, whole=True)
    place.folder.write_state(state)
    if record.answers.latest is not None:
        derive(place, stage.name)
    write_board(place, at_once="/" not in stage.name)
    if stop.status == "complete":
        pack(place.folder.stage(stage.name))
