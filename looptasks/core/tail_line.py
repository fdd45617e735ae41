"""A tail line: something that happened in a session, for whoever follows it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from looptasks.core.duration import spoken
from looptasks.core.taskname import bead_of, padded

Event = Mapping[str, Any]


class TailLine(NamedTuple):
    """A line that an attempt printed, or with attempt 0 what the ledger says."""

    stage: str
    iteration: int
    attempt: int
    line: str

    @property
    def label(self) -> str:
        """The stage and the iteration that it is about.

        >>> TailLine("tidy", 3, 1, "Write a.txt").label
        'tidy:0003'
        """
        bead = bead_of(self.stage)
        name = f"bead:{bead}" if bead else self.stage
        return f"{name}:{padded(self.iteration)}" if self.iteration else name


def told(event: Event) -> TailLine | None:
    """Return what a ledger's event says to people; None for those that say nothing.

    What another version wrote may lack any field.
    """
    say = _SAYING.get(str(event.get("event")))
    words = say(event) if say else ""
    number = event.get("iteration")
    iteration = number if isinstance(number, int) else 0
    stage = str(event.get("stage") or "session")
    return TailLine(stage, iteration, 0, words) if words else None


def _attempt(event: Event) -> str:
    reason = event.get("reason", "")
    return f"attempt {event.get('attempt')}: {event.get('verdict')}: {reason}"


def _iteration(event: Event) -> str:
    parts = [f"attempt {event.get('attempts')}: ok in {spoken(_seconds(event))}"]
    check = event.get("validation")
    if isinstance(check, Mapping):
        code = check.get("exit_code")
        end = "passed" if code == 0 else f"failed with exit code {code}"
        parts.append(f"check `{check.get('command')}` {end}")
    cost = event.get("cost_usd")
    if isinstance(cost, int | float):
        parts.append(f"${cost:.2f}{' (estimated)' if event.get('estimated') else ''}")
    return ", ".join(parts)


def _seconds(event: Event) -> float:
    seconds = event.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _check(event: Event) -> str:
    return f"check before the first iteration: exit code {event.get('exit_code')}"


def _stop(event: Event) -> str:
    return f"{event.get('status')}: {event.get('reason')}"


def _restart(event: Event) -> str:
    return f"starts again: {event.get('reason')}"


def _signal(event: Event) -> str:
    of = f" of {event['selector']}" if event.get("selector") else ""
    return f"{event.get('signal')}{of}, asked for by {event.get('by')}"


def _ack(event: Event) -> str:
    return f"acknowledged: {event.get('reason')}"


_SAYING = {
    "attempt": _attempt,
    "iteration": _iteration,
    "check": _check,
    "stop": _stop,
    "restart": _restart,
    "signal": _signal,
    "ack": _ack,
}
