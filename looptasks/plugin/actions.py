"""Actions: what doit calls for an iteration, and when a stage comes to its end."""

import inspect
import os
from collections.abc import Callable
from typing import Any

from doit.exceptions import TaskFailed

from looptasks.core.agent import Agent
from looptasks.core.artifact import Inspection
from looptasks.core.duration import spoken
from looptasks.core.iteration import Iteration
from looptasks.core.job import Checked, Failed, Finished, Job, Project, Tools
from looptasks.core.pipeline import Stage
from looptasks.core.selector import Subject
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate, Stop
from looptasks.core.taskname import bead_of
from looptasks.effects.iteration_folder import IterationFolder
from looptasks.effects.session_folder import stage_state
from looptasks.effects.transcripts import cut_long, pack
from looptasks.errors import LoopError, SessionBusy
from looptasks.plugin.agents import agent_for, judging
from looptasks.plugin.board_file import write_board
from looptasks.plugin.child_failure import child_failed
from looptasks.plugin.gates import derive
from looptasks.plugin.pausing import acknowledge
from looptasks.plugin.processes import processes
from looptasks.plugin.rules import rule_of
from looptasks.plugin.workplace import Workplace
from looptasks.runner import run_iteration


class _StageLedger:
    """The ledger as one stage's iterations write to it."""

    def __init__(self, place: Workplace, stage: str) -> None:
        self._place = place
        self._stage = stage

    def event(self, event: str, **fields: Any) -> None:
        """Append an event of the stage."""
        self._place.event(event, stage=self._stage, **fields)


class _StageClock:
    """The clock as one stage's iterations wait by it."""

    def __init__(self, place: Workplace, subject: Subject) -> None:
        self._place = place
        self._subject = subject
        self.now = place.now

    def pause(self, seconds: float, why: str) -> Failed | None:
        """Wait, saying why if that is worth a word; return what cut it short."""
        return self._place.pause(seconds, why, self._subject)


def iterate(place: Workplace, job: Job, recording: str | None) -> Any:
    """Run one iteration; doit's action for it."""
    try:
        with place:
            write_head(place, job)
            outcome = run_iteration(job, _tools(place, job, recording))
            _cut_transcripts(place, job)
    except LoopError as error:
        return _failed(place, job.stage, Stop("failed", str(error)))
    match outcome:
        case Finished(iteration):
            return {"summary": summary(iteration)}
        case Checked(reason):
            return {"summary": f"not needed: {reason}"}
        case Failed("paused", reason):
            return _paused(place, job, reason)
        case Failed("interrupted", reason):
            return _interrupted(place, job, reason)
        case Failed(verdict, reason):
            text = f"iteration {job.number} failed: {verdict}: {reason}"
            return _failed(place, job.stage, _stop(job.stage, verdict, text))


def _interrupted(place: Workplace, job: Job, reason: str) -> Any:
    """Give an iteration up that was ended; the ledger says what comes next."""
    if place.news():
        return {"summary": "ended at once: something new comes first"}
    return TaskFailed(f"iteration {job.number} failed: {reason}", report=False)


def _paused(place: Workplace, job: Job, reason: str) -> Any:
    """Give an iteration up that was only waiting; its stage says the rest."""
    if job.alone:
        return _failed(place, job.stage, Stop("paused", reason))
    acknowledge(place, job.subject, job.number)
    return {"summary": f"not made: {reason}"}


def _stop(stage: Stage, verdict: str, text: str) -> Stop:
    budget = stage.loop.budget_usd
    if verdict == "budget" and budget is not None:
        return Stop("waiting", text, fix=f"budget={budget * 2:g}")
    return Stop("waiting" if verdict == "limit" else "failed", text)


def _cut_transcripts(place: Workplace, job: Job) -> None:
    """Keep no more of what agents printed than the project wants."""

    def limit() -> int:
        from looptasks.effects.agent_settings import (  # noqa: PLC0415 - 10 ms
            transcript_limit,
        )

        return transcript_limit(place.root)

    cut_long(place.folder.iteration(job.stage.name, job.number), limit)


def _bead_failed(place: Workplace, bead: str, stop: Stop) -> dict[str, str]:
    """Let go of a bead that failed; others go on, the stage fails at its end."""
    place.beads.let_go(bead)
    return {"summary": f"{stop.status}: {stop.reason}"}


# doit asks for it before every call, and finding it out takes longer than the prompt.
iterate.__signature__ = inspect.signature(iterate)  # type: ignore[attr-defined]


def summary(iteration: Iteration) -> str:
    """Say in a line what an iteration came to."""
    parts = [f"done in {spoken(iteration.seconds)}"]
    parts += [f"{name}={value[:60]}" for name, value in iteration.parsed.items()]
    if iteration.validation is not None:
        parts.append("check passed" if iteration.valid else "check failed")
    if iteration.cost_usd is not None:
        guess = " (estimated)" if iteration.estimated else ""
        parts.append(f"${iteration.cost_usd:.2f}{guess}")
    return ", ".join(parts)


def _tools(place: Workplace, job: Job, recording: str | None) -> Tools:
    stage = job.stage
    name = stage.name
    folder = IterationFolder(
        place.folder,
        (name, stage.loop.validate, stage.inputs),
        job.number,
        lambda iteration: place.put(name, iteration),
        place.now,
    )
    folder.durable |= stage.loop.judge is not None
    watched = stage.loop.completion == "beads-empty"
    project, integrate = _project(place, job, folder.log())
    return Tools(
        agent=agent_for(stage, place.root, recording, place.interrupted.is_set),
        folder=folder,
        project=project,
        workload=place.beads.workload if watched else lambda: None,
        integrate=integrate,
        processes=processes(),
        ledger=_StageLedger(place, name),
        clock=_StageClock(place, job.subject),
        limit=lambda: place.record().limit,
        inspect=_inspector(place, stage, folder.artifact),
        judge=_judge(place, stage, recording),
        rule=rule_of(stage.loop),
    )


def _inspector(
    place: Workplace, stage: Stage, path: str
) -> Callable[[str], Inspection] | None:
    if not stage.loop.artifact:
        return None
    from looptasks.effects.artifact_answer import inspected  # noqa: PLC0415 - seldom

    kind = stage.loop.artifact, stage.loop.entries
    return lambda answer: inspected(place.root, kind, path, answer)


def _judge(place: Workplace, stage: Stage, recording: str | None) -> Agent | None:
    if stage.loop.judge is None:
        return None
    stopped = place.interrupted.is_set
    return agent_for(judging(stage), place.root, recording, stopped)


def _project(
    place: Workplace, job: Job, log: str
) -> tuple[Project, Callable[[], str] | None]:
    if job.site is None:
        return place, None
    from looptasks.plugin.worksite import Worksite  # noqa: PLC0415 - git is seldom

    site = Worksite(place, job, job.site, log)
    site.catch_up()
    return site, site.integrate


def write_head(place: Workplace, job: Job) -> None:
    """Show in the stage's `state.json` that an iteration is on its way."""
    stage = job.stage
    record = place.ledger.record.stage(stage.name)
    state = stage_state(place.session, stage.loop.name, record, whole=False)
    state |= {
        "status": "running",
        "iteration": job.number,
        "iteration_completed": len(record.iterations),
        "iteration_started": place.now(),
        "completion_reason": None,
    }
    place.folder.write_state(state)


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
            return _failed(place, stage, Stop("failed", str(error)))
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


def stand_still(place: Workplace, stage: Stage, step: Iterate | Stop) -> Any:
    """Say that a stage is not complete and does not go on; doit's action for that."""
    if isinstance(step, Iterate):
        return TaskFailed(f"iteration {step.number} comes first: {step.reason}")
    if step.status == "complete":
        return TaskFailed(f"{stage.task} was complete before: {step.reason}")
    return _failed(place, stage, step)


def _failed(place: Workplace, stage: Stage, stop: Stop) -> Any:
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
