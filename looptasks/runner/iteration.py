"""One iteration, start to finish: asks the core, calls effects through protocols."""

from collections.abc import Mapping
from typing import NamedTuple

from looptasks.core.agent import Answer
from looptasks.core.completion import Evidence
from looptasks.core.digest import MISSING, of_value
from looptasks.core.iteration import Iteration, result_digest
from looptasks.core.job import Checked, Failed, Finished, Job, Outcome, Tools
from looptasks.core.output import read_fields
from looptasks.core.process import CutShort
from looptasks.core.sight import Sight
from looptasks.core.step import Iterate, Stop, completion
from looptasks.runner.attempts import adopt, try_attempts
from looptasks.runner.layers import Layers, checked_layers, validated


def run_iteration(job: Job, tools: Tools) -> Outcome:
    """Run one iteration, or adopt the agent call that a crash left finished."""
    try:
        return _run(job, tools)
    except CutShort:
        return Failed("interrupted", "interrupted during the check")


def _run(job: Job, tools: Tools) -> Outcome:
    tools.folder.prepare(job.generation, job.inputs)
    if job.stage.loop.artifact:
        job = job._replace(env={**job.env, "LOOP_ARTIFACT": tools.folder.artifact})
    checked = _check_before(job, tools)
    if checked is not None:
        return checked
    before = _before(job, tools)
    found = adopt(job, tools) or try_attempts(job, tools)
    if isinstance(found, Failed):
        return found
    attempt, answer = found
    output = tools.folder.save_output(answer.text)
    layers = checked_layers(job, tools, answer)
    if isinstance(layers, Failed):
        return layers
    work = Work(attempt, answer, output, before, layers)
    iteration = _iteration(job, tools, work)
    tools.folder.settle(iteration)
    return Finished(iteration)


class Before(NamedTuple):
    """How things were when the iteration began."""

    time: str
    commit: str | None
    fingerprint: str
    files: Mapping[str, str]


class Work(NamedTuple):
    """A good attempt, and what came of it."""

    attempt: str
    answer: Answer
    output: str
    before: Before
    layers: Layers


def _before(job: Job, tools: Tools) -> Before:
    return Before(
        tools.clock.now(),
        tools.project.head(),
        _fingerprint(job, tools),
        _files(job, tools),
    )


def _files(job: Job, tools: Tools) -> dict[str, str]:
    loop = job.stage.loop
    return tools.project.digests((*loop.reads, *loop.writes))


def _fingerprint(job: Job, tools: Tools) -> str:
    """Return what progress is measured by; only loops without end need it."""
    loop = job.stage.loop
    watched = loop.completion == "beads-empty" and loop.no_progress
    return tools.project.fingerprint() if watched else ""


def _check_before(job: Job, tools: Tools) -> Checked | None:
    loop = job.stage.loop
    if not loop.check_before or job.history or job.number > 1:
        return None
    code = validated(job, tools) if loop.validate else None
    seen = {"left": _files(job, tools), "reads": list(loop.reads)}
    tools.ledger.event("check", exit_code=code, **seen)
    sight = Sight(
        missing=tools.project.missing(loop.writes),
        evidence=Evidence(items=job.items, checked=code, workload=tools.workload()),
    )
    step = completion(loop, (), sight, tools.rule)
    done = isinstance(step, Stop) and step.status == "complete"
    return Checked(step.reason) if done else None


def _iteration(job: Job, tools: Tools, work: Work) -> Iteration:
    answer, before, layers = work.answer, work.before, work.layers
    loop, spent = job.stage.loop, layers.spent(answer)
    parsed = read_fields(tools.folder.chunks(answer.text), loop.output_parse)
    # What is done elsewhere changes no file here until it lands.
    left = {} if job.is_away else _left(job, tools, before)
    iteration = Iteration(
        number=job.number,
        started_at=before.time,
        finished_at=tools.clock.now(),
        attempts=int(work.attempt.rpartition("/")[2]),
        agent=tools.agent.name,
        model=answer.model or loop.model,
        exit_code=answer.exit_code,
        parsed=parsed,
        validation=layers.validation,
        cost_usd=spent.cost_usd,
        tokens=spent.tokens._asdict() if spent.tokens else None,
        estimated=spent.estimated,
        session_id=answer.session_id or None,
        turns=answer.turns,
        seconds=spent.seconds,
        inputs=of_value(dict(job.inputs)),
        previous=job.history[-1].result if job.history else "",
        result=result_digest(work.output, parsed, layers.validation, layers.artifact),
        output=work.output,
        left=left,
        reads=() if job.is_away else loop.reads,
        changed=_changed(before, left),
        item=job.item,
        base_commit=before.commit,
        heard=tools.folder.heard,
        artifact=layers.artifact,
        judge=layers.judge,
    )
    if before.fingerprint:
        moved = before.fingerprint != tools.project.fingerprint()
        iteration = iteration._replace(progress=moved)
    return _integrated(job, tools, iteration)


def _integrated(job: Job, tools: Tools, iteration: Iteration) -> Iteration:
    """Bring finished work back to where it belongs; only then is it finished."""
    step = _after(job, tools, iteration)
    complete = isinstance(step, Stop) and step.status == "complete"
    if complete and tools.integrate is not None and (refusal := tools.integrate()):
        tools.folder.append_log(refusal)
        check = {"command": "merge", "exit_code": 1}
        known = iteration.output, iteration.parsed
        result = result_digest(*known, check, iteration.artifact)
        iteration = iteration._replace(validation=check, result=result)
        step = _after(job, tools, iteration)
    action = "stop" if isinstance(step, Stop) else "continue"
    decision = {"action": action, "reason": step.reason}
    return iteration._replace(decision=decision, head_commit=tools.project.head())


def _left(job: Job, tools: Tools, before: Before) -> dict[str, str]:
    """Return how the stage's files are now, those that are gone included."""
    known = {*before.files, *(job.history[-1].left if job.history else ())}
    now = _files(job, tools)
    gone = tools.project.missing(sorted(known.difference(now)))
    return now | dict.fromkeys(gone, MISSING)


def _changed(before: Before, left: Mapping[str, str]) -> dict[str, str]:
    """Return how the files were that the iteration changed."""
    was = {path: before.files.get(path, MISSING) for path in left}
    return {path: digest for path, digest in was.items() if digest != left[path]}


def _after(job: Job, tools: Tools, iteration: Iteration) -> Iterate | Stop:
    """Say what the stage would do after this iteration."""
    loop = job.stage.loop
    sight = Sight(
        missing=tools.project.missing(loop.writes),
        evidence=Evidence(items=job.items, workload=tools.workload()),
        since=job.since,
    )
    return completion(loop, [*job.history, iteration], sight, tools.rule)
