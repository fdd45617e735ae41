"""A stream note: `stream.json`, which says how to read what an attempt prints.

It lies beside the stream, so that whoever watches needs no declarations, which may
have been changed since.
"""

from collections.abc import Mapping
from importlib import import_module

from looptasks.core.reading import Dialect
from looptasks.effects.files import read_json, write_json
from looptasks.errors import DeclarationError

NOTE = "stream.json"
KNOWN = ("claude", "codex", "gemini", "opencode")


def write_note(folder: str, agent: str, read: Mapping[str, str]) -> None:
    """Say which agent's stream it is, and how its user describes it."""
    value = {"schema": 1, "agent": agent, "read": dict(read)}
    write_json(f"{folder}/{NOTE}", value)


def dialect_in(folder: str) -> Dialect | None:
    """Return how an attempt's stream is read; None when it is plain text."""
    found = read_json(f"{folder}/{NOTE}")
    if not isinstance(found, dict):
        return None
    agent, read = found.get("agent"), found.get("read")
    if read and isinstance(read, dict):
        return _described(str(agent), read)
    if agent not in KNOWN:
        return None
    dialect: Dialect = getattr(
        import_module(f"looptasks.core.{agent}_stream"), agent.upper()
    )
    return dialect


def _described(agent: str, read: Mapping[str, str]) -> Dialect | None:
    from looptasks.core.configured_stream import configured  # noqa: PLC0415

    try:
        return configured(agent, read)
    except DeclarationError:
        return None
