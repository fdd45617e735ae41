"""The usage limits of agents: waited for, and told to all that would hit them too."""

from typing import Any

from looptasks.core.agent import Answer
from looptasks.core.duration import spoken
from looptasks.core.instant import instant
from looptasks.core.job import Failed, Job, Tools
from looptasks.core.usage_limit import MARGIN, UNTOLD, end_of

_SLICE = 60.0  # seconds: no single wait outlasts a machine that was put to sleep


def wait_for_limit(answer: Answer, limits: int, tools: Tools) -> Failed | None:
    """Wait until a usage limit is over; return what cut that short.

    One that is hit again although its end has passed is waited for ever longer.
    """
    now = _now(tools)
    longer = min(MARGIN + _SLICE * (limits - 1), UNTOLD)
    end = max(end_of(answer.resets_at, now), now + longer)
    until = f" until {answer.resets_at}" if answer.resets_at else ""
    why = f"usage limit: waiting{until} ({spoken(end - now)})"
    while (left := end - _now(tools)) > 0:
        if cut := tools.clock.pause(min(left, _SLICE), why):
            return cut
        why = ""
    return None


def held(tools: Tools) -> Failed | None:
    """Wait while a usage limit holds that any stage has hit, or say that it does.

    Whoever has hit it has said how long that takes.
    """
    while (limit := tools.limit()) and (left := limit.left(_now(tools))):
        if not limit.waits:
            return Failed("limit", limit.reason)
        if cut := tools.clock.pause(min(left, _SLICE), ""):
            return cut
    return None


def limited(job: Job, answer: Answer) -> dict[str, Any]:
    """Return what an attempt has to say to all others, if it hit a usage limit."""
    if answer.verdict != "limit":
        return {}
    on_limit = job.stage.loop.on_limit
    return {"resets_at": answer.resets_at or None, "on_limit": on_limit}


def _now(tools: Tools) -> float:
    return (instant(tools.clock.now()) or 0) / 10**9
