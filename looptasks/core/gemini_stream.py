"""Gemini's stream: the JSON lines of `gemini -o stream-json`."""

import re

from looptasks.core import json_value as of
from looptasks.core.agent import Tokens
from looptasks.core.json_value import Event
from looptasks.core.reading import LONGEST_TEXT, Dialect, Fault, Reading, action, brief

_CODE = re.compile(r'"code": ?(\d{3})\b')
_STATUS = re.compile(r"failed with status (\d{3})\b.*?(?:\"message\": ?\"([^\"]*)|$)")
_REFUSALS = re.compile(r"den(?:y|ied)|policy|permission|reject", re.I)
# A tool that was not approved is not offered, so a call of it finds nothing.
_GUARDED = frozenset({"write_file", "replace", "run_shell_command", "web_fetch"})


def step(reading: Reading, event: Event) -> Reading:
    """Return the reading after one more event."""
    match event.get("type"):
        case "init":
            return reading._replace(
                session_id=of.text(event, "session_id"), model=of.text(event, "model")
            )
        case "message" if event.get("role") == "assistant":
            return _message(reading, of.text(event, "content"))
        case "tool_use":
            tool = of.text(event, "tool_name")
            said = action(tool, of.table(event, "parameters"))
            return reading.working(said)._replace(text="", counted=tool)
        case "tool_result":
            return _tool_result(reading, event)
        case "result":
            return _result(reading, event)
        case _:
            return reading


def heard(reading: Reading, line: str) -> Reading:
    """Return the reading after a line on stderr, where its retries show."""
    found = _STATUS.search(line)
    if not found:
        return reading
    fault = Fault(found[2] or f"status {found[1]}", int(found[1]))
    reading = reading._replace(hint=fault)
    # The line has no time: after any progress it may be an old one.
    return reading if reading.action else reading.retrying(fault, "error, retrying")


def _message(reading: Reading, words: str) -> Reading:
    # A message comes in pieces; those since the last tool call are the answer.
    whole = (reading.text + words)[:LONGEST_TEXT]
    return reading.working(brief(whole))._replace(text=whole)


def _tool_result(reading: Reading, event: Event) -> Reading:
    if event.get("status") != "error":
        return reading
    kind, tool = of.text(event, "error", "type"), reading.counted
    hidden = kind == "tool_not_registered" and tool in _GUARDED
    return reading.denied(tool) if hidden or _REFUSALS.search(kind) else reading


def _result(reading: Reading, event: Event) -> Reading:
    stats = of.table(event, "stats")
    reading = reading._replace(finished=True, waiting="", tokens=_tokens(stats))
    if event.get("status") == "success":
        return reading._replace(retry=None)
    words = of.text(event, "error", "message")
    code = _CODE.search(words)
    fault = Fault(words or "failed without a word", int(code[1]) if code else None)
    return reading._replace(fault=fault)


def _tokens(stats: Event) -> Tokens | None:
    fresh, output = of.whole(stats, "input"), of.whole(stats, "output_tokens")
    if fresh is None or output is None:
        return None
    return Tokens(fresh, output, of.whole(stats, "cached") or 0)


GEMINI = Dialect("gemini", step, heard)
