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
    before that it changed, and `reads` which it was told to read. `heard` is up to
    which word of people its agent was told, 0 when there was nothing new. `artifact`
    is the digest of a good artifact, `judge` what the judge said.
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
    session_id: str | None = None
    turns: int | None = None
    base_commit: str | None = None
    head_commit: str | None = None
    decision: Mapping[str, str] = {}
    heard: int = 0
    artifact: str = ""
    judge: Mapping[str, Any] | None = None

    @property
    def valid(self) -> bool:
        """Whether the stage's check passed; true where there is none."""
        return self.validation is None or self.validation["exit_code"] == 0

    @property
    def complaint(self) -> str:
        """What the check that failed says in a line."""
        check = self.validation or {}
        plain = f"`{check.get('command')}` failed with exit code"
        return str(check.get("reason") or f"{plain} {check.get('exit_code')}")


# By position: as keywords the 25 names would be compared with each other.
_VALUES = itemgetter("iteration", *Iteration._fields[1:])


def iteration_from(event: Mapping[str, Any]) -> Iteration:
    """Return the iteration that a ledger's event tells of."""
    return Iteration._make(_VALUES({**Iteration._field_defaults, **event}))


def result_digest(
    output: str,
    parsed: Mapping[str, str],
    validation: Mapping[str, Any] | None,
    artifact: str = "",
) -> str:
    """Return what an iteration came to, without when it did and what it cost."""
    code = None if validation is None else validation["exit_code"]
    made = [artifact] if artifact else []
    return of_value([output, dict(parsed), code, *made])


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
