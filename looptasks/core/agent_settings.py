"""An agent's settings: what people say of it beside the loop that uses it."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

from looptasks.core.agent_env import Policy
from looptasks.core.price import Price
from looptasks.core.suggestion import choice
from looptasks.errors import DeclarationError

Sandbox = Literal["auto", "bwrap", "none"]


class AgentSettings(NamedTuple):
    """What is the same for all calls of an agent.

    `command` and `read` belong to agents of the user's own; `provider` names the
    codex provider whose retries are cut down, a built-in one to leave them alone.
    """

    program: str = ""
    model: str = ""
    args: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    env: Policy = "inherit"
    sandbox: Sandbox = "auto"
    network: bool = True
    writable: tuple[str, ...] = ()
    budget_usd: float | None = None
    provider: str = ""
    command: tuple[str, ...] = ()
    read: Mapping[str, str] = {}
    prices: Mapping[str, Price] = {}


def settings_from(table: Mapping[str, Any], where: str) -> AgentSettings:
    """Return the settings that a table says, or say what is wrong with it."""
    fields: dict[str, Any] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            fix = choice(key, _READERS)
            raise _bad(where, f"`{key}` is not a setting of an agent", fix)
        fields[key] = reader(value, f"{where}.{key}")
    return AgentSettings(**fields)


def prices_from(table: Mapping[str, Any], where: str) -> dict[str, Price]:
    """Return the price table, or say what is wrong with it."""
    return {model: _price(row, f'{where}."{model}"') for model, row in table.items()}


def _price(row: object, where: str) -> Price:
    fix = (
        "write it as {input = 1.25, output = 10, cached = 0.125}: $ per million tokens"
    )
    if not isinstance(row, dict) or not {"input", "output"} <= row.keys():
        raise _bad(where, "needs the prices `input` and `output`", fix)
    unknown = row.keys() - {"input", "output", "cached"}
    if unknown or not all(_is_amount(value) for value in row.values()):
        raise _bad(where, "has something that is not a price", fix)
    cached = row["cached"] if "cached" in row else row["input"]
    return Price(row["input"], row["output"], cached)


def _is_amount(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= float(str(value)) < float("inf")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _bad(where, "is not a text", "put it in quotes")
    return value


def _words(value: object, where: str) -> tuple[str, ...]:
    listed = isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)
    if not listed or not isinstance(value, list | tuple):
        raise _bad(where, "is not a list of texts", 'write it as ["--flag", "value"]')
    return tuple(value)


def _command(value: object, where: str) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else _words(value, where)
    if not words or not words[0].strip():
        raise _bad(where, "is empty", "name the program to start")
    return words


def _texts(value: object, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(
        isinstance(v, str) for v in value.values()
    ):
        raise _bad(where, "is not a table of texts", 'write it as {NAME = "value"}')
    return dict(value)


def _policy(value: object, where: str) -> Policy:
    if value in ("inherit", "minimal"):
        return cast("Policy", value)
    if isinstance(value, str):
        raise _bad(
            where, f"`{value}` is unknown", 'use "inherit", "minimal" or ["NAME"]'
        )
    return _words(value, where)


def _sandbox(value: object, where: str) -> Sandbox:
    if value in ("auto", "bwrap", "none"):
        return value
    raise _bad(where, f"`{value}` is unknown", 'use "auto", "bwrap" or "none"')


def _yes_or_no(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _bad(where, "is neither true nor false", "write true or false")
    return value


def _dollars(value: object, where: str) -> float:
    if not _is_amount(value) or not isinstance(value, int | float):
        raise _bad(where, "is not an amount of dollars", "write it as 2.5")
    return float(value)


def _bad(where: str, what: str, fix: str) -> DeclarationError:
    return DeclarationError(what, where=where, fix=fix)


_READERS: dict[str, Any] = {
    "program": _text,
    "model": _text,
    "args": _words,
    "variables": _texts,
    "env": _policy,
    "sandbox": _sandbox,
    "network": _yes_or_no,
    "writable": _words,
    "budget_usd": _dollars,
    "provider": _text,
    "command": _command,
    "read": _texts,
}
