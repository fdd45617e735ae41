"""Artifact text: JSON that an agent or a person wrote, read strictly; and its one form.

What is wrong becomes a problem in words: it is feedback for the next agent.
"""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

from looptasks.core.layout import dotted

DEEPEST = 50
_SHOWN = 60

Path = tuple[str | int, ...]


class Problem(NamedTuple):
    """Something that is wrong with an artifact, and where in it."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"`{self.path}` {self.what}" if self.path else self.what


def parsed(text: str) -> dict[str, Any] | Problem:
    r"""Return the object that a JSON text holds, or why it is none that we take.

    >>> parsed('{"a": 1, "a": 2}')
    Problem(path='a', what='stands twice in the same object')
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_constant,
            parse_float=_finite,
        )
    except _Refused as refused:
        return refused.problem
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Problem("", f"it is not JSON: {error.msg} ({where})")
    except (ValueError, RecursionError) as error:
        return Problem("", f"it is not JSON that can be read: {str(error)[:_SHOWN]}")
    return _object(value)


def _object(value: Any) -> dict[str, Any] | Problem:  # noqa: ANN401
    if not isinstance(value, dict):
        return Problem("", f"it must be an object, not {kind(value)}")
    if deep := next(_too_deep(value, ()), ()):
        return Problem(dotted(deep)[:_SHOWN], f"is nested deeper than {DEEPEST} levels")
    try:
        canonical(value).encode()
    except UnicodeEncodeError:
        return Problem("", "a text in it holds half a character (a lone surrogate)")
    return value


class _Refused(Exception):  # noqa: N818 - it never leaves this module
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.what)
        self.problem = problem


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(Problem(shown(twice), "stands twice in the same object"))
    return value


def _constant(word: str) -> float:
    raise _Refused(Problem("", f"it is not JSON: there is no number `{word}`"))


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        what = f"the number `{shown(digits)}` is too large"
        raise _Refused(Problem("", what))
    return number


def _too_deep(value: Any, path: Path) -> Iterator[Path]:  # noqa: ANN401
    if len(path) > DEEPEST:
        yield path
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _too_deep(member, (*path, key))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _too_deep(member, (*path, number))


def kind(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Say what sort of JSON value it is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    for sort, words in ((str, "a text"), (list, "a list"), (dict, "an object")):
        if isinstance(value, sort):
            return words
    return "a number"


def shown(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return a value in one short line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split()).replace("`", "'")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def canonical(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return the one text of a JSON value, however it was written before."""
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False
    )
    return f"{text}\n"
