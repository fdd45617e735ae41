"""Opencode's stream: the JSON lines of `opencode run --format json`."""

import re

from looptasks.core import json_value as of
from looptasks.core.agent import Tokens
from looptasks.core.instant import instant
from looptasks.core.json_value import Event
from looptasks.core.reading import LONGEST_TEXT, Dialect, Fault, Reading, action, brief

_REJECTED = re.compile(r"rejected permission|prevents you from using", re.I)
_ASKED = re.compile(r"permission requested: (.+?); auto-rejecting")
_LOGGED = re.compile(
    r'timestamp=(\S+) level=ERROR .*\berror\.error="((?:[^"\\]|\\.)*)"'
)


def step(reading: Reading, event: Event) -> Reading:
    """Return the reading after one more event."""
    part = of.table(event, "part")
    reading = reading._replace(moved_at=(of.amount(event, "timestamp") or 0.0) / 1000)
    if session := of.text(event, "sessionID"):
        reading = reading._replace(session_id=session)
    match event.get("type"):
        case "step_start":
            return reading.working("")._replace(turns=(reading.turns or 0) + 1)
        case "text":
            words = of.text(part, "text")[:LONGEST_TEXT]
            return reading.working(brief(words))._replace(text=words)
        case "tool_use":
            return _tool(reading, part)
        case "step_finish":
            return _step_finish(reading, part)
        case "error":
            return reading._replace(fault=_fault(of.table(event, "error")), waiting="")
        case _:
            return reading


def heard(reading: Reading, line: str) -> Reading:
    """Return the reading after a line on stderr: its log, and what it refused."""
    if asked := _ASKED.search(line):
        return reading.denied(asked[1])
    logged = _LOGGED.search(line)
    if logged and (instant(logged[1]) or 0) / 1e9 > reading.moved_at:
        return reading.retrying(Fault(logged[2]), "error, retrying")
    return reading


def _tool(reading: Reading, part: Event) -> Reading:
    state = of.table(part, "state")
    tool = of.text(part, "tool")
    reading = reading.working(action(tool, of.table(state, "input")))
    if state.get("status") == "error" and _REJECTED.search(of.text(state, "error")):
        return reading.denied(tool or "a tool")
    return reading


def _step_finish(reading: Reading, part: Event) -> Reading:
    tokens = Tokens(
        (of.whole(part, "tokens", "input") or 0)
        + (of.whole(part, "tokens", "cache", "write") or 0),
        (of.whole(part, "tokens", "output") or 0)
        + (of.whole(part, "tokens", "reasoning") or 0),
        of.whole(part, "tokens", "cache", "read") or 0,
    )
    # It says 0 when it knows no price.
    cost = of.amount(part, "cost") or (0.0 if reading.cost_usd else None)
    reading = reading.spent(tokens, cost)
    match part.get("reason"):
        case "stop":
            return reading._replace(finished=True, retry=None)
        case "length" | "content-filter" as reason:
            return reading._replace(fault=Fault(f"the answer was cut off: {reason}"))
        case _:
            return reading


def _fault(error: Event) -> Fault:
    name = of.text(error, "name")
    words = of.text(error, "data", "message") or name or "an error without a word"
    return Fault(words, of.whole(error, "data", "statusCode"), name)


OPENCODE = Dialect("opencode", step, heard)
