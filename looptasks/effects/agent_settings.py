"""Agents' settings in `pyproject.toml`: `[tool.looptasks.agents.NAME]` and prices."""

import os
from contextlib import suppress
from typing import Any

from looptasks.core.agent_settings import AgentSettings, prices_from, settings_from
from looptasks.core.json_value import at
from looptasks.core.size import bytes_in
from looptasks.effects.scrub import learn_secrets
from looptasks.errors import DeclarationError, LoopError

FILE = "pyproject.toml"
_TRANSCRIPT = "50MB"


def agent_settings(root: str, name: str) -> AgentSettings:
    """Return what the project says of an agent; the defaults when it says nothing."""
    said = _said(root)
    agents = _table(said, "agents")
    settings = settings_from(_table(agents, name, "agents"), f"{_PLACE}.agents.{name}")
    prices = prices_from(_table(said, "prices"), f"{_PLACE}.prices")
    _limit_in(said)  # a mistake is told before an agent starts
    return settings._replace(prices=prices)


def transcript_limit(root: str) -> int:
    """Return how many bytes of what an agent prints are kept."""
    return _limit_in(_said(root))


def _limit_in(said: dict[str, Any]) -> int:
    limit = said.get("transcript_limit", _TRANSCRIPT)
    return bytes_in(limit, f"{_PLACE}.transcript_limit")


def configured_names(root: str) -> tuple[str, ...]:
    """Return the names of the agents that the project describes by itself."""
    agents = _table(_said(root), "agents")
    return tuple(name for name, said in agents.items() if at(said, "command"))


_PLACE = f"{FILE}: tool.looptasks"


def learn_agents_secrets(root: str) -> None:
    """Know the secrets that agents are given, whoever shows what they print."""
    with suppress(LoopError):  # told when an agent is about to start
        _said(root)


def _said(root: str) -> dict[str, Any]:
    path = os.path.join(root, FILE)
    try:
        with open(path, "rb") as file:
            import tomllib  # noqa: PLC0415 - only when an agent is about to start

            found = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DeclarationError(str(error), where=path, fix="mend the file") from error
    said = _table(_table(found, "tool"), "looptasks")
    for agent in _table(said, "agents").values():
        given = at(agent, "variables")
        pairs = given.items() if isinstance(given, dict) else ()
        learn_secrets({name: text for name, text in pairs if isinstance(text, str)})
    return said


def _table(value: dict[str, Any], key: str, above: str = "") -> dict[str, Any]:
    found = value.get(key, {})
    if not isinstance(found, dict):
        place = f"{_PLACE}.{above}".rstrip(".")
        what = f"`{key}` is not a table"
        raise DeclarationError(
            what, where=place, fix=f"write `[…{key}]` above its keys"
        )
    return found
