"""The attempts at one iteration: adopted, made, retried, waited for."""

from collections.abc import Mapping, Sequence
from typing import Any

from looptasks.core.agent import Answer, Call
from looptasks.core.job import Failed, Job, Tools
from looptasks.core.pipeline import Loop
from looptasks.core.progress import feedback, user_feedback
from looptasks.core.prompt import render, variables
from looptasks.core.step import out_of_time
from looptasks.core.usage_limit import spoken_limit
from looptasks.errors import StorageError
from looptasks.runner.limits import held, limited, wait_for_limit

RETRIED = frozenset({"transient", "timeout", "hung", "garbled"})
_NO_LESSON = ("interrupted", "limit")  # nothing that the next agent could do better
_TELLING = frozenset({"FEEDBACK", "PROGRESS", "PROGRESS_FILE"})


def adopt(job: Job, tools: Tools) -> tuple[str, Answer] | None:
    """Take over a finished call; note calls that ended while nobody looked."""
    noted = {event.get("attempt") for event in _own(job)}
    for attempt in tools.folder.attempts():
        answer = tools.agent.read(attempt)
        number = _number(attempt)
        if answer is not None and answer.verdict == "ok":
            tools.folder.save_answer(answer, attempt)
            return attempt, answer
        if number not in noted:
            tools.folder.save_answer(answer, attempt)
            _note_failure(job, tools, number, answer)
    return None


def try_attempts(job: Job, tools: Tools) -> tuple[str, Answer] | Failed:
    """Make attempts until one is good, or no further one makes sense."""
    loop, tried, limits = job.stage.loop, 0, 0
    failures = _own(job)
    while True:
        if cut := _pause(job, tools, tried):
            return cut
        attempt, answer = _attempt(job, tools, failures)
        if answer.verdict == "ok":
            return attempt, answer
        told = limited(job, answer)
        failures.append(_note_failure(job, tools, _number(attempt), answer, **told))
        job = poorer(job, answer)
        end = _ended(job, answer)
        if end is not None:
            return end
        if answer.verdict == "limit":
            limits += 1  # it is nobody's failure: no attempt is counted
            if cut := wait_for_limit(answer, limits, tools):
                return cut
            continue
        tried, limits = tried + 1, 0
        if tried >= loop.attempts:
            return Failed(answer.verdict, answer.reason)


def _pause(job: Job, tools: Tools, tried: int) -> Failed | None:
    """Let pass what must pass before an agent starts; return what cut it short."""
    loop = job.stage.loop
    delay = loop.delay if job.history else 0.0
    pause = loop.backoff * 2 ** (tried - 1) if tried else delay
    cut = tools.clock.pause(pause, "") if pause else None
    return cut or held(tools)


def _own(job: Job) -> list[Mapping[str, Any]]:
    """Return the failed attempts of the same role: each counts its own."""
    return [event for event in job.failures if event.get("role", "") == job.role]


def _number(attempt: str) -> int:
    return int(attempt.rpartition("/")[2])


def poorer(job: Job, answer: Answer) -> Job:
    """Return the job with the time and the money that an attempt has left."""
    seconds, dollars = job.seconds_left, job.dollars_left
    return job._replace(
        seconds_left=None if seconds is None else seconds - answer.seconds,
        dollars_left=None if dollars is None else dollars - (answer.cost_usd or 0.0),
    )


def _ended(job: Job, answer: Answer) -> Failed | None:
    """Say why no further attempt is to be made, if so."""
    waits = answer.verdict == "limit" and job.stage.loop.on_limit == "wait"
    if answer.verdict == "limit" and not waits:
        return Failed("limit", spoken_limit(answer.reason, answer.resets_at))
    if answer.verdict not in RETRIED and not waits:
        return Failed(answer.verdict, answer.reason)
    if job.seconds_left is not None and job.seconds_left <= 0:
        return Failed(answer.verdict, out_of_time(job.stage.loop))
    if job.dollars_left is not None and job.dollars_left <= 0:
        return Failed("budget", f"the budget is used up after: {answer.reason}")
    return None


def _attempt(
    job: Job, tools: Tools, failures: Sequence[Mapping[str, Any]]
) -> tuple[str, Answer]:
    attempt = tools.folder.new_attempt()
    if job.words:
        tools.folder.hear(job.words, job.heard)
    prompt = tools.folder.write_prompt(_prompt(job, tools, failures))
    loop = job.stage.loop
    call = Call(
        prompt=prompt,
        folder=attempt,
        cwd=tools.project.root,
        stage="/".join(filter(None, (job.stage.name, job.role))),
        iteration=job.number,
        model=loop.model,
        env=job.env,
        timeout=_shorter(loop.timeout, job.seconds_left),
        idle_timeout=loop.idle_timeout,
        budget_usd=job.dollars_left,
    )
    try:
        tools.agent.call(call)
    except KeyboardInterrupt:
        _keep_interrupted(job, tools, attempt)
        raise
    answer = tools.agent.read(attempt)
    tools.folder.save_answer(answer, attempt)
    if answer is None:
        raise _no_result(attempt)
    return attempt, answer


def _keep_interrupted(job: Job, tools: Tools, attempt: str) -> None:
    """Note an attempt that was cut short; an answer that was complete is adopted."""
    answer = tools.agent.read(attempt)
    tools.folder.save_answer(answer, attempt)
    if answer is None or answer.verdict != "ok":
        _note_failure(job, tools, _number(attempt), answer)


def _shorter(first: float | None, second: float | None) -> float | None:
    limits = [limit for limit in (first, second) if limit is not None]
    return min(limits, default=None)


def _no_result(attempt: str) -> StorageError:
    # Another try would not fare better, and cost as much.
    return StorageError(
        "the agent has ended, but how could not be written",
        where=f"{attempt}/result.json",
        fix="make room on the disk, then run the same command again",
    )


def _note_failure(
    job: Job,
    tools: Tools,
    attempt: int,
    answer: Answer | None,
    **more: Any,  # noqa: ANN401 - fields of an event
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "iteration": job.number,
        "attempt": attempt,
        "verdict": answer.verdict if answer else "interrupted",
        "reason": answer.reason if answer else "its runner died",
        "seconds": answer.seconds if answer else 0.0,
        "cost_usd": answer.cost_usd if answer else None,
        "tokens": answer.tokens._asdict() if answer and answer.tokens else None,
        "estimated": bool(answer and answer.estimated),
        **({"role": job.role} if job.role else {}),
        **more,
    }
    tools.ledger.event("attempt", **fields)
    return fields


def _prompt(job: Job, tools: Tools, failures: Sequence[Mapping[str, Any]]) -> str:
    loop = job.stage.loop
    failed = bool(job.history) and not job.history[-1].valid
    log = tools.folder.previous_log() if failed else ""
    unmet = tools.project.missing(loop.writes) if job.history else ()
    kept = [f for f in failures if f["verdict"] not in _NO_LESSON]
    values = {
        "SESSION": job.session,
        "SESSION_NAME": job.session,
        "ITERATION": str(job.number),
        "INDEX": str(job.number - 1),
        "PERSPECTIVE": perspective(loop, job.number),
        "ITEM": job.item,
        "GOAL": job.goal,
        "FEEDBACK": feedback(log, kept, unmet, job.words),
        "VALIDATE": loop.validate,
        "PASS": job.pass_name,
        "PASS.prompt": _pass_prompt(loop, job.pass_name),
        "ARTIFACT.previous": tools.folder.artifact_of(_last_good(job)),
        **tools.folder.variables(loop.prompt),
        **job.variables,
    }
    if not loop.artifact:
        values["ARTIFACT"] = ""
    text = render(loop.prompt, values)
    told = _TELLING.intersection(variables(loop.prompt))
    return text if told else "\n".join([text, *map(user_feedback, job.words)])


def _pass_prompt(loop: Loop, name: str) -> str:
    return next((found.prompt for found in loop.passes if found.name == name), "")


def _last_good(job: Job) -> int:
    """Return the last iteration with a good artifact, 0 when there is none."""
    return next((i.number for i in reversed(job.history) if i.artifact), 0)


def perspective(loop: Loop, number: int) -> str:
    """Return the perspective of an iteration: each in turn."""
    if not loop.perspectives:
        return ""
    return loop.perspectives[(number - 1) % len(loop.perspectives)]
