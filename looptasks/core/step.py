"""A step: what a stage does next, and why. Every decision carries its reason."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from looptasks.core.completion import (
    Answer,
    Deadlocked,
    Done,
    Exhausted,
    Rule,
    Waiting,
    pending_items,
)
from looptasks.core.count import counted
from looptasks.core.gate import asked, judged, spare
from looptasks.core.iteration import Iteration
from looptasks.core.pipeline import Loop
from looptasks.core.sight import Sight, has_settled, staleness
from looptasks.core.spending import Spending
from looptasks.core.stage_record import StageRecord

Status = Literal["complete", "failed", "waiting", "paused", "held"]


class Restart(NamedTuple):
    """The first iterations up to `keep` stand; the rest is superseded."""

    keep: int
    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        """All reasons in one line."""
        return "; ".join(self.reasons)


class Iterate(NamedTuple):
    """Iteration `number` is due."""

    number: int
    reason: str
    item: str = ""


class Stop(NamedTuple):
    """Nothing more is to be run; `fix` says what would change that.

    `gate` is the digest of what a person is asked about, None if nobody is.
    """

    status: Status
    reason: str
    fix: str = ""
    gate: str | None = None


Step = Restart | Iterate | Stop


class Means(NamedTuple):
    """What a session may still spend, and what people have signalled.

    `limit` says that a usage limit is to end the run.
    """

    spent: Spending = Spending()
    budget_usd: float | None = None
    signal: str = ""
    limit: str = ""


def first_step(loop: Loop, record: StageRecord, sight: Sight) -> Restart | None:
    """Say whether finished iterations are stale; asked once per stage and run."""
    if not record.failures and not has_settled(record):
        return None
    if sight.forced:
        return Restart(0, ("asked to run everything again",))
    reasons = sight.stale + staleness(loop, record, sight)
    return Restart(0, reasons) if reasons else None


def next_step(
    loop: Loop, record: StageRecord, sight: Sight, means: Means, rule: Rule
) -> Step:
    """Decide what the stage does next, from the record and what was seen."""
    certified = record.certified()
    if certified < len(record.iterations):
        return held_back(loop, record, means) or _mend(record, certified)
    step = _answering(record) or completion(loop, record.iterations, sight, rule)
    if isinstance(step, Iterate):
        return held_back(loop, record, means) or step
    return at_gate(loop, record, step)


def _answering(record: StageRecord) -> Iterate | None:
    """Say that feedback is due to be heard, whatever the rule and its limits say."""
    unheard = record.answers.unheard
    if not unheard or not record.iterations:
        return None
    names = ", ".join(dict.fromkeys(word.by for word in unheard))
    return Iterate(len(record.iterations) + 1, f"feedback by {names}")


def at_gate(loop: Loop, record: StageRecord, step: Stop) -> Stop:
    """Let a complete stage pass only with a person's word, where one is needed."""
    if step.status != "complete" or loop.gate == "none":
        return step
    digest = judged(loop, record.iterations)
    decision = asked(loop, record.answers, digest)
    if decision.verdict == "ask":
        return Stop("waiting", decision.reason, gate=digest)
    return Stop("failed", decision.reason) if decision.verdict == "fail" else step


def _mend(record: StageRecord, certified: int) -> Step:
    number = certified + 1
    if number in record.forgotten:
        item = record.iterations[certified].item
        return Iterate(number, record.forgotten[number], item)
    reason = f"iteration {certified} came out differently"
    return Restart(certified, (reason,))


def completion(
    loop: Loop, history: Sequence[Iteration], sight: Sight, rule: Rule
) -> Iterate | Stop:
    """Ask the rule, and believe it only when targets exist and the check passed."""
    answer = rule(loop, history, sight.evidence)
    unmet = _unmet(loop, history, sight)
    if isinstance(answer, Done) and not unmet:
        return Stop("complete", answer.reason)
    if ended := _ended(answer) or _stuck(loop, history, sight.since):
        return ended
    reason = unmet if isinstance(answer, Done) else answer.reason
    if _at_limit(loop, history):
        limit = counted(loop.max_iterations, "iteration")
        return Stop(
            "failed",
            f"reached the limit of {limit}: {reason}",
            fix=f"max={loop.max_iterations * 2}",
        )
    item = next(iter(pending_items(history, sight.evidence.items)), "")
    return Iterate(len(history) + 1, reason, item)


def _ended(answer: Answer) -> Stop | None:
    """Return the stop that a rule asks for, short of being done."""
    match answer:
        case Waiting(reason):
            return Stop("waiting", reason)
        case Deadlocked(reason):
            return Stop("failed", f"deadlocked: {reason}")
        case Exhausted(reason):
            return Stop("failed", reason)
        case _:
            return None


def _at_limit(loop: Loop, history: Sequence[Iteration]) -> bool:
    limit = loop.max_iterations
    over = len(history) - limit
    return limit > 0 and over >= 0 and over >= spare(history)


def _stuck(loop: Loop, history: Sequence[Iteration], since: int) -> Stop | None:
    """Stop burning money when iterations come and go and nothing moves."""
    first = max(since, len(history) - loop.no_progress)
    last = history[first:] if loop.no_progress else ()
    idle = [iteration for iteration in last if iteration.progress is False]
    if not loop.no_progress or len(idle) < loop.no_progress:
        return None
    reason = f"{counted(len(idle), 'iteration')} in a row closed and changed nothing"
    return Stop("failed", reason)


def _unmet(loop: Loop, history: Sequence[Iteration], sight: Sight) -> str:
    if history and not history[-1].valid:
        check = history[-1].validation or {}
        return str(check.get("reason") or f"`{check.get('command')}` fails")
    if not history and (loop.artifact or loop.judge):
        return "nothing was made yet"
    if sight.missing:
        return "not written: " + ", ".join(f"`{path}`" for path in sight.missing)
    exact = not loop.passes and loop.completion in ("fixed-n", "all-items")
    if history and not exact and len(history) < loop.min_iterations:
        least = counted(loop.min_iterations, "iteration")
        return f"{len(history)} of at least {least} done"
    return ""


def held_back(loop: Loop, record: StageRecord, means: Means) -> Stop | None:
    """Say what keeps a stage from doing what is due: a signal, money or time."""
    if means.signal:
        return Stop("paused", means.signal)
    if means.limit:
        return Stop("waiting", means.limit)
    if over := _over_budget(loop, record, means):
        return over
    if loop.time_limit is not None and record.spending.seconds >= loop.time_limit:
        return Stop("failed", out_of_time(loop))
    return None


def out_of_time(loop: Loop) -> str:
    """Say that a loop has no time left."""
    return f"the time limit of {loop.time_limit:g} s is used up, raise `time_limit`"


def _over_budget(loop: Loop, record: StageRecord, means: Means) -> Stop | None:
    for spent, budget in (
        (record.spending, loop.budget_usd),
        (means.spent, means.budget_usd),
    ):
        if budget is not None and spent.cost_usd >= budget:
            reason = f"the budget of ${budget:.2f} is used up ({spent.spoken()})"
            return Stop("waiting", reason, fix=f"budget={budget * 2:g}")
    return None
