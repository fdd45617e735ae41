"""Actions: what doit calls for an iteration."""

import inspect
from typing import Any

from doit.exceptions import TaskFailed

from looptasks.core.duration import spoken
from looptasks.core.iteration import Iteration
from looptasks.core.job import Checked, Failed, Finished, Job
from looptasks.core.pipeline import Stage
from looptasks.core.step import Stop
from looptasks.effects.session_folder import stage_state
from looptasks.effects.transcripts import cut_long
from looptasks.errors import LoopError
from looptasks.plugin.closing import fail
from looptasks.plugin.iteration_tools import tools_for
from looptasks.plugin.pausing import acknowledge
from looptasks.plugin.workplace import Workplace
from looptasks.runner import run_iteration


def iterate(place: Workplace, job: Job, recording: str | None) -> Any:
    """Run one iteration; doit's action for it."""
    try:
        with place:
            write_head(place, job)
            outcome = run_iteration(job, tools_for(place, job, recording))
            _cut_transcripts(place, job)
    except LoopError as error:
        return fail(place, job.stage, Stop("failed", str(error)))
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
            return fail(place, job.stage, _stop(job.stage, verdict, text))


# doit asks for it before every call, and finding it out takes longer than the prompt.
iterate.__signature__ = inspect.signature(iterate)  # type: ignore[attr-defined]


def _interrupted(place: Workplace, job: Job, reason: str) -> Any:
    """Give an iteration up that was ended; the ledger says what comes next."""
    if place.news():
        return {"summary": "ended at once: something new comes first"}
    return TaskFailed(f"iteration {job.number} failed: {reason}", report=False)


def _paused(place: Workplace, job: Job, reason: str) -> Any:
    """Give an iteration up that was only waiting; its stage says the rest."""
    if job.alone:
        return fail(place, job.stage, Stop("paused", reason))
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
