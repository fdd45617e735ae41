"""Recorded things: loops, iterations and events as small as they can be."""

from typing import Any

from looptasks.core.iteration import Iteration
from looptasks.core.pipeline import Loop, loop_from


def a_loop(**settings: Any) -> Loop:
    """Return a loop with defaults for all that is not said."""
    return loop_from({"name": "work", **settings}, "Do it.")


def an_iteration(number: int = 1, **changes: Any) -> Iteration:
    """Return a finished iteration; its result and its link are told by its number."""
    fields: dict[str, Any] = {
        "number": number,
        "started_at": "2026-03-01T10:00:00.000Z",
        "finished_at": "2026-03-01T10:00:01.000Z",
        "attempts": 1,
        "agent": "command",
        "model": "",
        "exit_code": 0,
        "parsed": {},
        "validation": None,
        "cost_usd": None,
        "tokens": None,
        "seconds": 1.0,
        "inputs": "",
        "previous": f"result {number - 1}" if number > 1 else "",
        "result": f"result {number}",
        "output": f"output {number}",
    }
    return Iteration(**{**fields, **changes})


def iteration_event(number: int = 1, stage: str = "work", **changes: Any) -> Any:
    """Return the ledger's line of a finished iteration."""
    fields = an_iteration(number, **changes)._asdict()
    number = fields.pop("number")
    return event("iteration", stage=stage, iteration=number, **fields)


def attempt_event(attempt: int = 1, stage: str = "work", **changes: Any) -> Any:
    """Return the ledger's line of a failed attempt."""
    fields = {
        "iteration": 1,
        "attempt": attempt,
        "verdict": "error",
        "reason": "exit code 1",
        "seconds": 1.0,
        "cost_usd": None,
        "tokens": None,
    }
    return event("attempt", stage=stage, **{**fields, **changes})


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a line of a ledger."""
    return {"event": kind, "at": "2026-03-01T10:00:00.000Z", **fields}
