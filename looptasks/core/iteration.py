"""An iteration: one fresh agent run in a stage, and what came of it."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from looptasks.core.digest import of_value


class Iteration(NamedTuple):
    """One finished iteration, as the ledger keeps it.

    `result` is the digest of what it came to and `previous` that of the iteration
    before: an iteration counts while its `previous` is still the truth. `left` says
    how it left the files that its stage reads and writes, `changed` how those were
    before that it changed, and `reads` which it was told to read. `heard` is how much
    of the feedback that the stage ever got its agent knew.
    """

    number: int
    started_at: str
    finished_at: str
    attempts: int
    agent: str
    model: str
    exit_code: int | None
    parsed: Mapping[str, str]
    validation: Mapping[str, Any] | None
    cost_usd: float | None
    tokens: Mapping[str, int] | None
    seconds: float
    inputs: str
    previous: str
    result: str
    output: str
    left: Mapping[str, str] = {}
    reads: Sequence[str] = ()
    changed: Mapping[str, str] = {}
    item: str = ""
    progress: bool | None = None
    estimated: bool = False
    base_commit: str | None = None
    head_commit: str | None = None
    decision: Mapping[str, str] = {}
    heard: int = 0

    @property
    def valid(self) -> bool:
        """Whether the stage's check passed; true where there is none."""
        return self.validation is None or self.validation["exit_code"] == 0


# By position: as keywords the 25 names would be compared with each other.
_VALUES = itemgetter("iteration", *Iteration._fields[1:])


def iteration_from(event: Mapping[str, Any]) -> Iteration:
    """Return the iteration that a ledger's event tells of."""
    return Iteration._make(_VALUES({**Iteration._field_defaults, **event}))


def result_digest(
    output: str, parsed: Mapping[str, str], validation: Mapping[str, Any] | None
) -> str:
    """Return what an iteration came to, without when it did and what it cost."""
    code = None if validation is None else validation["exit_code"]
    return of_value([output, dict(parsed), code])


def state_of(iteration: Iteration) -> dict[str, Any]:
    """Return the iteration's `state.json`."""
    fields = iteration._asdict()
    number = fields.pop("number")
    return {"schema": 1, "iteration": number, **fields}


def history_entry(iteration: Iteration) -> dict[str, Any]:
    """Return the iteration's line in the `history` of its stage."""
    return {
        "iteration": iteration.number,
        "started_at": iteration.started_at,
        "finished_at": iteration.finished_at,
        "parsed": dict(iteration.parsed),
        "validation": iteration.validation,
        "cost_usd": iteration.cost_usd,
        "tokens": iteration.tokens,
        "attempts": iteration.attempts,
        "decision": dict(iteration.decision),
    }
