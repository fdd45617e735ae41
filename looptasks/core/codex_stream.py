"""Codex's stream: the JSON lines of `codex exec --json`."""

import re

from looptasks.core import json_value as of
from looptasks.core.agent import Tokens
from looptasks.core.json_value import Event
from looptasks.core.reading import LONGEST_TEXT, Dialect, Fault, Reading, action, brief

_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_REFUSED = re.compile(r"router: error=(.*\breject(?:ed)?\b.*)")
_BOX = re.compile(r"^(?:bwrap: |.*codex-linux-sandbox|.*\bLandlock\b)", re.M)


def step(reading: Reading, event: Event) -> Reading:
    """Return the reading after one more event."""
    match event.get("type"):
        case "thread.started":
            return reading._replace(session_id=of.text(event, "thread_id"))
        case "item.started" | "item.updated" | "item.completed":
            return _item(reading, of.table(event, "item"))
        case _:
            return _turn(reading, event)


def _turn(reading: Reading, event: Event) -> Reading:
    match event.get("type"):
        case "turn.started":
            return reading.working("")._replace(turns=(reading.turns or 0) + 1)
        case "error":
            # A mere warning: only `turn.failed` says that it has given up.
            return reading.retrying(
                _fault(of.text(event, "message")), "error, retrying"
            )
        case "turn.completed":
            return _completed(reading, of.table(event, "usage"))
        case "turn.failed":
            fault = _fault(of.text(event, "error", "message"))
            return reading._replace(finished=True, fault=fault, waiting="")
        case _:
            return reading


def heard(reading: Reading, line: str) -> Reading:
    """Return the reading after a line on stderr, the only place that tells refusals."""
    refused = _REFUSED.search(line)
    return reading.denied(brief(refused[1])) if refused else reading


def _fault(message: str) -> Fault:
    status = _STATUS.search(message)
    return Fault(message or "the turn failed", int(status[1]) if status else None)


def _item(reading: Reading, item: Event) -> Reading:
    match item.get("type"):
        case "agent_message":
            words = of.text(item, "text")[:LONGEST_TEXT]
            return reading.working(brief(words))._replace(text=words)
        case "command_execution":
            return _command(reading, item)
        case "file_change":
            changes = of.objects(item, "changes")
            said = action("edit", changes[0] if changes else {})
        case "mcp_tool_call":
            said = action(of.text(item, "tool"), of.table(item, "arguments"))
        case "web_search":
            said = action("search", item)
        case _:
            return reading
    return _declined(reading.working(said), item, said)


def _command(reading: Reading, item: Event) -> Reading:
    said = action("shell", item)
    reading = _declined(reading.working(said), item, said)
    failed = item.get("status") == "failed"
    if failed and _BOX.search(of.text(item, "aggregated_output")):
        return reading.denied(f"{said} (its sandbox is broken)")
    return reading


def _declined(reading: Reading, item: Event, said: str) -> Reading:
    return reading.denied(said) if item.get("status") == "declined" else reading


def _completed(reading: Reading, usage: Event) -> Reading:
    cached = of.whole(usage, "cached_input_tokens") or 0
    fresh, output = of.whole(usage, "input_tokens"), of.whole(usage, "output_tokens")
    tokens = None
    if fresh is not None and output is not None:
        tokens = Tokens(max(fresh - cached, 0), output, cached)
    return reading._replace(finished=True, tokens=tokens, retry=None, waiting="")


CODEX = Dialect("codex", step, heard)
