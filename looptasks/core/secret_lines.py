"""Lines without secrets: what was an event in JSON before is one afterwards."""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from looptasks.core.json_value import event_in
from looptasks.core.secret import HIDDEN, masked


def masked_lines(text: str, known: Iterable[str] = ()) -> str:
    r"""Return the text with secrets hidden, and no event broken by that.

    >>> masked_lines('{"cmd": "password=\'x", "cost": 1}\n')
    '{"cmd": "password=\'***", "cost": 1}\n'
    """
    known = tuple(known)
    # Plain lines are masked together: a private key has many of them.
    grouped = groupby(text.split("\n"), key=_is_event)
    return "\n".join(_masked(list(lines), known, event) for event, lines in grouped)


def _is_event(line: str) -> bool:
    return line.startswith("{") and event_in(line) is not None


def _masked(lines: Sequence[str], known: Sequence[str], event: bool) -> str:  # noqa: FBT001
    if not event:
        return masked("\n".join(lines), known)
    return "\n".join(_masked_event(line, known) for line in lines)


def _masked_event(line: str, known: Sequence[str]) -> str:
    if masked(line, known) == line:
        return line
    return json.dumps(_inside(event_in(line), known))


def _inside(value: Any, known: Sequence[str], key: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {masked(k, known): _inside(v, known, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_inside(one, known, key) for one in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    text = masked(value, known) if isinstance(value, str) else value
    telling = masked(f"{key}={value}", known) != f"{key}={text}"
    return HIDDEN if telling else text
