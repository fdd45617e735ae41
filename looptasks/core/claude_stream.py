"""Claude's stream: JSON lines of `claude -p --output-format stream-json --verbose`."""

from looptasks.core import json_value as of
from looptasks.core.agent import Tokens
from looptasks.core.json_value import Event
from looptasks.core.reading import LONGEST_TEXT, Dialect, Fault, Reading, action, brief


def step(reading: Reading, event: Event) -> Reading:
    """Return the reading after one more event."""
    match event.get("type"):
        case "system":
            return _system(reading, event)
        case "assistant":
            return _assistant(reading, event)
        case "rate_limit_event":
            return _rate_limit(reading, of.table(event, "rate_limit_info"))
        case "result":
            return _result(reading, event)
        case _:
            return reading


def _system(reading: Reading, event: Event) -> Reading:
    match event.get("subtype"):
        case "init":
            return reading._replace(
                session_id=of.text(event, "session_id"), model=of.text(event, "model")
            )
        case "api_retry":
            return _retry(reading, event)
        case "permission_denied":
            return reading.denied(of.text(event, "tool_name") or "a tool")
        case _:
            return reading


def _retry(reading: Reading, event: Event) -> Reading:
    status = of.whole(event, "error_status")
    kind = of.text(event, "error")
    fault = Fault(kind.replace("_", " "), status, kind)
    why = "rate limit" if status == 429 else f"error {status or kind}"  # noqa: PLR2004
    seconds = (of.amount(event, "retry_delay_ms") or 0.0) / 1000
    return reading.retrying(fault, f"{why}, next try in {seconds:.0f}s")


def _assistant(reading: Reading, event: Event) -> Reading:
    if event.get("is_api_error_message") is True:
        return reading
    message = of.table(event, "message")
    said = ""
    for block in of.objects(message, "content"):
        if block.get("type") == "tool_use":
            said = action(of.text(block, "name"), of.table(block, "input"))
        elif block.get("type") == "text":
            said = brief(of.text(block, "text"))
    return _counted(reading.working(said), message)


def _counted(reading: Reading, message: Event) -> Reading:
    name, usage = of.text(message, "id"), of.table(message, "usage")
    if not usage or not name or name == reading.counted:
        return reading  # one message comes as several events, each with its usage
    cached = of.whole(usage, "cache_read_input_tokens") or 0
    fresh = of.whole(usage, "input_tokens") or 0
    fresh += of.whole(usage, "cache_creation_input_tokens") or 0
    tokens = Tokens(fresh, of.whole(usage, "output_tokens") or 0, cached)
    return reading.spent(tokens, None)._replace(counted=name)


def _rate_limit(reading: Reading, info: Event) -> Reading:
    if info.get("status") != "rejected":
        return reading
    resets = of.amount(info, "resetsAt")
    return reading._replace(resets_at=resets, waiting="usage limit")


def _result(reading: Reading, event: Event) -> Reading:
    reading = reading._replace(
        finished=True,
        text=of.text(event, "result")[:LONGEST_TEXT],
        fault=_fault(event),
        session_id=of.text(event, "session_id") or reading.session_id,
        turns=of.whole(event, "num_turns"),
        cost_usd=of.amount(event, "total_cost_usd"),
        tokens=_tokens(event) or reading.tokens,
        retry=None,
        waiting="",
    )
    for denial in of.objects(event, "permission_denials"):
        reading = reading.denied(of.text(denial, "tool_name") or "a tool")
    return reading


def _fault(event: Event) -> Fault | None:
    # API errors say `subtype: success` together with `is_error: true`.
    kind = of.text(event, "subtype")
    if event.get("is_error") is False and kind == "success":
        return None
    errors = event.get("errors")
    listed = (
        [e for e in errors if isinstance(e, str)] if isinstance(errors, list) else []
    )
    words = of.text(event, "result") or "; ".join(listed) or kind.replace("_", " ")
    reason = of.text(event, "terminal_reason")
    return Fault(words, of.whole(event, "api_error_status"), reason or kind)


def _tokens(event: Event) -> Tokens | None:
    # `usage` is zero after a fallback to another model; `modelUsage` has them all.
    models = [m for m in of.table(event, "modelUsage").values() if isinstance(m, dict)]
    if not models:
        return None
    names = ("inputTokens", "cacheCreationInputTokens", "outputTokens")
    fresh, written, output = (sum(of.whole(m, n) or 0 for m in models) for n in names)
    cached = sum(of.whole(m, "cacheReadInputTokens") or 0 for m in models)
    return Tokens(fresh + written, output, cached)


CLAUDE = Dialect("claude", step)
