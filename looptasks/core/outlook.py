"""An outlook: what a run would do to each stage, through all descendants."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from looptasks.core.pipeline import Stage
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate, Restart, Step

Fate = Literal["run", "maybe", "rest", "blocked", "archive"]


_NAMED = 3


class Outlook(NamedTuple):
    """What would become of one stage.

    `run`: it runs; `maybe`: it runs if an earlier stage's output comes out
    differently; `rest`: nothing happens; `blocked`: it cannot run now; `archive`: what
    it worked on is gone. `gate` is the digest of what a person is asked about.
    """

    stage: str
    task: str
    fate: Fate
    reason: str
    next: int
    done: int
    status: str
    superseded: int = 0
    estimate_usd: float | None = None
    gate: str | None = None

    @property
    def next_task(self) -> str:
        """The first iteration that would run, if any."""
        return f"{self.task}:{self.next:04d}" if self.next else ""


def outlooks(
    stages: Sequence[tuple[Stage, StageRecord, Step]],
) -> list[Outlook]:
    """Foresee a run: each stage's own step, then what that means further down."""
    seen: dict[str, Outlook] = {}
    for stage, record, step in stages:
        own = _own(stage, record, step)
        seen[stage.name] = _inherit(stage, own, seen)
    return list(seen.values())


def _own(stage: Stage, record: StageRecord, step: Step) -> Outlook:
    done = len(record.iterations)
    plain = Outlook(stage.name, stage.task, "rest", step.reason, 0, done, record.status)
    if isinstance(step, Iterate):
        cost = _estimate(stage, record, step.number)
        return plain._replace(fate="run", next=step.number, estimate_usd=cost)
    if isinstance(step, Restart):
        first = step.keep + 1
        return plain._replace(
            fate="run",
            next=first,
            superseded=done - step.keep,
            estimate_usd=_estimate(stage, record, first),
        )
    if step.status == "complete":
        return plain
    return plain._replace(fate="blocked", gate=step.gate)


def _inherit(stage: Stage, own: Outlook, seen: Mapping[str, Outlook]) -> Outlook:
    above = [seen[name] for name in stage.inputs if name in seen]
    held = next((o for o in above if o.fate == "blocked"), None)
    if held is not None and own.fate != "rest":
        return own._replace(fate="blocked", reason=f"waits for {held.task}")
    moving = [o.task for o in above if o.fate in ("run", "maybe")]
    if moving and own.fate == "rest" and "inputs" in stage.loop.restart_on:
        reason = f"if the output of {_named(moving)} comes out differently"
        return own._replace(fate="maybe", reason=reason, next=1, superseded=own.done)
    if moving and own.fate == "run":
        return own._replace(reason=f"{own.reason}; after {_named(moving)}")
    return own


def _named(tasks: Sequence[str]) -> str:
    """Name some tasks, and count the rest."""
    rest = len(tasks) - _NAMED
    return ", ".join(tasks[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _estimate(stage: Stage, record: StageRecord, first: int) -> float | None:
    """Guess the cost from what iterations of this stage have cost so far."""
    costs = [i.cost_usd for i in record.iterations if i.cost_usd is not None]
    if not costs:
        return None
    rest = stage.loop.max_iterations - first + 1
    likely = max(len(record.iterations) - first + 1, 1)
    return round(sum(costs) / len(costs) * min(likely, rest or likely), 6)
