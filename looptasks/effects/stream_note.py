"""A stream note: `stream.json`, which says how to read and price an attempt's stream.

It lies beside the stream, so that whoever watches needs no declarations, which may
have been changed since.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from looptasks.core import json_value as of
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.price import Price, estimate
from looptasks.core.reading import Dialect, Reading
from looptasks.effects.files import read_json, write_json
from looptasks.errors import DeclarationError

NOTE = "stream.json"
KNOWN = ("claude", "codex", "gemini", "opencode")


class Note(NamedTuple):
    """What is known of a stream before it begins."""

    dialect: Dialect
    model: str = ""
    prices: Mapping[str, Price] = {}

    def estimated(self, reading: Reading) -> float | None:
        """Return the cost by the price table, None when the agent told its own."""
        if reading.cost_usd is not None:
            return None
        return estimate(reading.tokens, reading.model or self.model, self.prices)


def write_note(folder: str, agent: str, model: str, settings: AgentSettings) -> None:
    """Say which agent's stream it is, and what its user says of it."""
    value = {
        "schema": 1,
        "agent": agent,
        "model": model or None,
        "read": dict(settings.read),
        "prices": {name: price._asdict() for name, price in settings.prices.items()},
    }
    write_json(f"{folder}/{NOTE}", value)


def note_in(folder: str) -> Note | None:
    """Return how an attempt's stream is read; None when it is plain text."""
    found = read_json(f"{folder}/{NOTE}")
    dialect = _dialect(found) if isinstance(found, dict) else None
    if dialect is None:
        return None
    rows = of.table(found, "prices").items()
    return Note(dialect, of.text(found, "model"), {k: _price(row) for k, row in rows})


def _price(row: object) -> Price:
    return Price(*(of.amount(row, field) or 0.0 for field in Price._fields))


def _dialect(found: Mapping[str, Any]) -> Dialect | None:
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
