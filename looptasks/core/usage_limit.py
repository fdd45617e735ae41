"""A usage limit: an agent was told to come back later, and so is everybody else.

All agents of a session draw on the same account: who starts one more only hits the
limit again. So from then on nobody starts an agent until the limit is over, or the
run has stopped.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from looptasks.core.instant import instant

UNTOLD, MARGIN = 15 * 60.0, 5.0  # seconds: an end that was not told; to be sure


class UsageLimit(NamedTuple):
    """A limit that was hit; `waits` is whether the session waits until its `end`."""

    reason: str
    end: float
    waits: bool

    def left(self, now: float) -> float:
        """Return how many seconds it still holds."""
        return max(self.end - now, 0.0)


def end_of(resets_at: str, now: float) -> float:
    """Return when a limit that was hit just now is over, in seconds since 1970."""
    told = instant(resets_at)
    return now + UNTOLD if told is None else told / 10**9 + MARGIN


def spoken_limit(reason: str, resets_at: str) -> str:
    """Say why and until when; what to do about it stays on lines of its own.

    >>> spoken_limit("5-hour limit reached", "2026-01-01T12:00:00Z")
    '5-hour limit reached, until 2026-01-01T12:00:00Z'
    """
    why, line, fix = reason.partition("\n")
    until = f", until {resets_at}" if resets_at else ""
    return f"{why}{until}{line}{fix}"


def limit_from(event: Mapping[str, Any]) -> UsageLimit | None:
    """Return the limit that an attempt of this run has hit, if it has."""
    if event["verdict"] != "limit" or "on_limit" not in event:
        return None
    resets_at = event.get("resets_at") or ""
    return UsageLimit(
        reason=spoken_limit(event["reason"], resets_at),
        end=end_of(resets_at, (instant(event["at"]) or 0) / 10**9),
        waits=event["on_limit"] == "wait",
    )
