"""One iteration, start to finish: asks the core, calls effects through protocols."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from looptasks.core.agent import Agent, Answer, Call
from looptasks.core.completion import Evidence, Rule
from looptasks.core.digest import of_value
from looptasks.core.iteration import Iteration, result_digest
from looptasks.core.output import read_fields
from looptasks.core.pipeline import Loop, Stage
from looptasks.core.process import Command, Processes
from looptasks.core.progress import feedback
from looptasks.core.prompt import render
from looptasks.core.step import Sight, Stop, completion

RETRIED = frozenset({"transient", "timeout", "hung", "garbled"})


class Job(NamedTuple):
    """An iteration to be run, and all that it rests on."""

    session: str
    stage: Stage
    number: int
    item: str
    goal: str
    inputs: Mapping[str, str]
    items: tuple[str, ...]
    generation: int
    history: Sequence[Iteration]
    failures: Sequence[Mapping[str, Any]]
    seconds_left: float | None
    env: Mapping[str, str]


class Finished(NamedTuple):
    """The iteration is done and recorded."""

    iteration: Iteration


class Checked(NamedTuple):
    """The stage was complete before the first agent started."""

    reason: str


class Failed(NamedTuple):
    """No attempt was good; the work goes on with the next run."""

    verdict: str
    reason: str


Outcome = Finished | Checked | Failed


class Folder(Protocol):
    """The iteration's folder."""

    def prepare(self, generation: int, inputs: Mapping[str, str]) -> None:
        """Make it, moving what an older generation left there to the archive."""

    def attempts(self) -> list[str]:
        """Return the folders of attempts made so far, oldest first."""

    def new_attempt(self) -> str:
        """Make the folder of the next attempt."""

    def variables(self, prompt: str) -> dict[str, str]:
        """Return the variables of a prompt that come from files."""

    def write_prompt(self, text: str) -> str:
        """Keep the prompt, and return its path."""

    def previous_log(self) -> str:
        """Return the end of what the check of the iteration before printed."""

    def save_answer(self, answer: Answer, attempt: str) -> None:
        """Write the verdict into the attempt's `result.json`."""

    def save_output(self, text: str) -> str:
        """Keep the answer as `output.md`; return the digest of its content."""

    def chunks(self, text: str) -> Iterable[str]:
        """Return a text file's content in pieces of whole lines."""

    def log(self) -> str:
        """Return the path of the check's log."""

    def settle(self, iteration: Iteration) -> None:
        """Record the finished iteration: ledger first, then what derives from it."""


class Project(Protocol):
    """The project that agents work on."""

    root: str

    def digests(self, patterns: Iterable[str]) -> dict[str, str]:
        """Return path and digest of each file that the patterns mean."""

    def missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the paths that do not exist."""

    def head(self) -> str | None:
        """Return the commit that is checked out."""


class Ledger(Protocol):
    """Where events go."""

    def event(self, event: str, **fields: Any) -> None:  # noqa: ANN401
        """Append an event of this stage."""


class Clock(Protocol):
    """Tells and passes time."""

    def now(self) -> str:
        """Return the time as RFC 3339."""

    def pause(self, seconds: float) -> bool:
        """Wait; tell whether it was cut short."""


class Tools(NamedTuple):
    """The effects that an iteration needs."""

    agent: Agent
    folder: Folder
    project: Project
    processes: Processes
    ledger: Ledger
    clock: Clock
    rule: Rule


def run_iteration(job: Job, tools: Tools) -> Outcome:
    """Run one iteration, or adopt the agent call that a crash left finished."""
    tools.folder.prepare(job.generation, job.inputs)
    checked = _check_before(job, tools)
    if checked is not None:
        return checked
    base = tools.project.head()
    started = tools.clock.now()
    found = _adopt(job, tools) or _try_attempts(job, tools)
    if isinstance(found, Failed):
        return found
    attempt, answer = found
    iteration = _iteration(job, tools, answer, (started, base, attempt))
    tools.folder.settle(iteration)
    return Finished(iteration)


def _check_before(job: Job, tools: Tools) -> Checked | None:
    loop = job.stage.loop
    if not loop.check_before or job.history or job.number > 1:
        return None
    code = _validate(job, tools) if loop.validate else None
    tools.ledger.event("check", exit_code=code)
    sight = Sight(
        missing=tools.project.missing(loop.writes),
        evidence=Evidence(items=job.items, checked=code),
    )
    step = completion(loop, (), sight, tools.rule)
    done = isinstance(step, Stop) and step.status == "complete"
    return Checked(step.reason) if done else None


def _adopt(job: Job, tools: Tools) -> tuple[str, Answer] | None:
    """Take over a finished call; note calls that ended while nobody looked."""
    noted = {event.get("attempt") for event in job.failures}
    for attempt in tools.folder.attempts():
        answer = tools.agent.read(attempt)
        number = int(attempt.rpartition("/")[2])
        if answer is not None and answer.verdict == "ok":
            return attempt, answer
        if number not in noted:
            _note_failure(job, tools, number, answer)
    return None


def _try_attempts(job: Job, tools: Tools) -> tuple[str, Answer] | Failed:
    loop = job.stage.loop
    failures = list(job.failures)
    failed = Failed("error", "no attempt was made")
    for tried in range(loop.attempts):
        pause = loop.backoff * 2 ** (tried - 1) if tried else _delay(job)
        if pause and tools.clock.pause(pause):
            return Failed("interrupted", "interrupted while waiting")
        attempt, answer = _attempt(job, tools, failures)
        if answer.verdict == "ok":
            return attempt, answer
        number = int(attempt.rpartition("/")[2])
        failures.append(_note_failure(job, tools, number, answer))
        failed = Failed(answer.verdict, answer.reason)
        if answer.verdict not in RETRIED:
            break
    return failed


def _delay(job: Job) -> float:
    return job.stage.loop.delay if job.history else 0.0


def _attempt(
    job: Job, tools: Tools, failures: Sequence[Mapping[str, Any]]
) -> tuple[str, Answer]:
    attempt = tools.folder.new_attempt()
    prompt = tools.folder.write_prompt(_prompt(job, tools, failures))
    loop = job.stage.loop
    call = Call(
        prompt=prompt,
        folder=attempt,
        cwd=tools.project.root,
        stage=job.stage.name,
        iteration=job.number,
        model=loop.model,
        env=job.env,
        timeout=_shorter(loop.timeout, job.seconds_left),
        idle_timeout=loop.idle_timeout,
    )
    try:
        tools.agent.call(call)
    except KeyboardInterrupt:
        number = int(attempt.rpartition("/")[2])
        _note_failure(job, tools, number, tools.agent.read(attempt))
        raise
    answer = tools.agent.read(attempt) or _no_answer(tools)
    tools.folder.save_answer(answer, attempt)
    return attempt, answer


def _shorter(first: float | None, second: float | None) -> float | None:
    limits = [limit for limit in (first, second) if limit is not None]
    return min(limits, default=None)


def _no_answer(tools: Tools) -> Answer:
    now = tools.clock.now()
    return Answer("garbled", "the attempt left no result", "", None, now, now, 0.0)


def _note_failure(
    job: Job, tools: Tools, attempt: int, answer: Answer | None
) -> dict[str, Any]:
    fields = {
        "iteration": job.number,
        "attempt": attempt,
        "verdict": answer.verdict if answer else "interrupted",
        "reason": answer.reason if answer else "its runner died",
        "seconds": answer.seconds if answer else 0.0,
        "cost_usd": answer.cost_usd if answer else None,
        "tokens": answer.tokens._asdict() if answer and answer.tokens else None,
    }
    tools.ledger.event("attempt", **fields)
    return fields


def _prompt(job: Job, tools: Tools, failures: Sequence[Mapping[str, Any]]) -> str:
    loop = job.stage.loop
    failed = bool(job.history) and not job.history[-1].valid
    log = tools.folder.previous_log() if failed else ""
    unmet = tools.project.missing(loop.writes) if job.history else ()
    kept = [f for f in failures if f["verdict"] != "interrupted"]
    values = {
        "SESSION": job.session,
        "SESSION_NAME": job.session,
        "ITERATION": str(job.number),
        "INDEX": str(job.number - 1),
        "PERSPECTIVE": perspective(loop, job.number),
        "ITEM": job.item,
        "GOAL": job.goal,
        "FEEDBACK": feedback(log, kept, unmet),
        "VALIDATE": loop.validate,
        **tools.folder.variables(loop.prompt),
    }
    return render(loop.prompt, values)


def perspective(loop: Loop, number: int) -> str:
    """Return the perspective of an iteration: each in turn."""
    if not loop.perspectives:
        return ""
    return loop.perspectives[(number - 1) % len(loop.perspectives)]


def _validate(job: Job, tools: Tools) -> int:
    log = tools.folder.log()
    ended = tools.processes.run(
        Command(
            argv=("sh", "-c", job.stage.loop.validate),
            cwd=tools.project.root,
            stdin="/dev/null",
            stdout=log,
            stderr=log,
            env=job.env,
            timeout=job.stage.loop.timeout,
        )
    )
    if ended.how == "exit" and ended.exit_code is not None:
        return ended.exit_code
    return 128 + ended.signal if ended.signal else 124


def _iteration(
    job: Job, tools: Tools, answer: Answer, since: tuple[str, str | None, str]
) -> Iteration:
    started, base, attempt = since
    loop = job.stage.loop
    output = tools.folder.save_output(answer.text)
    parsed = read_fields(tools.folder.chunks(answer.text), loop.output_parse)
    validation = None
    if loop.validate:
        validation = {"command": loop.validate, "exit_code": _validate(job, tools)}
    iteration = Iteration(
        number=job.number,
        started_at=started,
        finished_at=tools.clock.now(),
        attempts=int(attempt.rpartition("/")[2]),
        agent=tools.agent.name,
        model=answer.model or loop.model,
        exit_code=answer.exit_code,
        parsed=parsed,
        validation=validation,
        cost_usd=answer.cost_usd,
        tokens=answer.tokens._asdict() if answer.tokens else None,
        seconds=answer.seconds,
        inputs=of_value(dict(job.inputs)),
        previous=job.history[-1].result if job.history else "",
        result=result_digest(output, parsed, validation),
        output=output,
        left=tools.project.digests((*loop.reads, *loop.writes)),
        item=job.item,
        base_commit=base,
        head_commit=tools.project.head(),
    )
    return iteration._replace(decision=_decision(job, tools, iteration))


def _decision(job: Job, tools: Tools, iteration: Iteration) -> dict[str, str]:
    loop = job.stage.loop
    sight = Sight(
        missing=tools.project.missing(loop.writes), evidence=Evidence(items=job.items)
    )
    step = completion(loop, [*job.history, iteration], sight, tools.rule)
    action = "stop" if isinstance(step, Stop) else "continue"
    return {"action": action, "reason": step.reason}
