"""A hook: what Claude Code asks us when a person's own session starts or stops."""

from collections.abc import Mapping, Sequence
from typing import Any

EVENTS = {"Stop": "stop", "SessionStart": "start"}
_SHOWN = 3
_MARK = " -m doit hooks "


def stop_answer(
    asked: Mapping[str, Any], pending: Sequence[tuple[str, str]]
) -> dict[str, str] | None:
    """Return the reason to go on; None lets it stop.

    A hook that answers its own reminder would never end, so it reminds once.
    """
    if asked.get("stop_hook_active") or not pending:
        return None
    beads = [f"{bead}: {title}" for bead, title in pending[:_SHOWN]]
    more = len(pending) - len(beads)
    rest = f", and {more} more" if more else ""
    return {
        "decision": "block",
        "reason": f"Beads are still pending: {'; '.join(beads)}{rest}. "
        "Go on with the next one, or say why it cannot be done.",
    }


def with_hooks(
    settings: Mapping[str, Any], commands: Mapping[str, str]
) -> dict[str, Any]:
    """Return Claude Code's settings with our hooks, and all that was there."""
    cleaned = without_hooks(settings)
    hooks = dict(cleaned.get("hooks") or {})
    for event, command in commands.items():
        entry = {"hooks": [{"type": "command", "command": command}]}
        hooks[event] = [*(hooks.get(event) or []), entry]
    return {**cleaned, "hooks": hooks}


def without_hooks(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return Claude Code's settings without our hooks, all else as it was."""
    if not isinstance(settings.get("hooks"), Mapping):
        return dict(settings)
    hooks = {event: _others(found) for event, found in settings["hooks"].items()}
    left = {event: entries for event, entries in hooks.items() if entries != []}
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": left} if left else rest


def _others(entries: Any) -> Any:  # noqa: ANN401 - whatever stands in the file
    if not isinstance(entries, list):
        return entries
    return [entry for entry in entries if not _is_ours(entry)]


def _is_ours(entry: Any) -> bool:  # noqa: ANN401 - whatever stands in the file
    found = entry.get("hooks") if isinstance(entry, Mapping) else None
    if not isinstance(found, list):
        return False
    return any(
        isinstance(hook, Mapping) and _MARK in str(hook.get("command", ""))
        for hook in found
    )
