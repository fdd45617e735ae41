"""A child's failure: what becomes of an instance that failed for good."""

from looptasks.core.pipeline import Stage
from looptasks.core.step import Stop
from looptasks.core.taskname import SPOKEN
from looptasks.plugin.invalidation import keep_branch
from looptasks.plugin.workplace import Workplace


def child_failed(place: Workplace, stage: Stage, stop: Stop) -> dict[str, str]:
    """Let others go on; tell the parent, or try again, where that was asked for."""
    policy, word = stage.on_failure, f"{stop.status}: {stop.reason}"
    if stop.status != "failed" or policy.do == "fail":
        return {"summary": word}
    if policy.do == "retry":
        return {"summary": f"{word}{_retry(place, stage, stop)}"}
    return {"summary": f"{word}{_raise(place, stage, stop)}"}


def _retry(place: Workplace, stage: Stage, stop: Stop) -> str:
    record = place.record().stage(stage.name)
    if record.retries >= stage.on_failure.limit:
        return f" (tried again {record.retries} times)"
    keep_branch(place, stage.name)
    where = place.folder.archive_stage(stage.name, place.now())
    reason = f"tried again after: {stop.reason}"
    place.event(
        "restart", stage=stage.name, keep=0, reason=reason, archive=where, retry=True
    )
    return "; it is tried again"


def _raise(place: Workplace, stage: Stage, stop: Stop) -> str:
    """Have the parent iterate again, with the failure as feedback."""
    above = place.record().stage(stage.parent)
    raised = sum(word.by.startswith(SPOKEN) for word in above.answers.words)
    if raised >= stage.on_failure.limit:
        return f" ({stage.parent} was told {raised} times)"
    place.event(
        "feedback",
        stage=stage.parent,
        by=stage.task,
        feedback=f"{stage.task} failed for good: {stop.reason}",
        iteration=len(above.iterations),
        durable=True,
    )
    return f"; {stage.parent} iterates again"
