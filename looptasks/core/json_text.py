"""JSON text, read and written without the `json` package.

That package imports `re` and `enum`, which takes as long as starting Python itself. An
agent asks the tracker dozens of times a session, so the tracker uses the same C scanner
directly, and asks the package only where this one is missing or the text is wrong.
"""

from __future__ import annotations

try:
    from _json import encode_basestring, make_scanner
except ImportError:  # pragma: no cover - another Python than CPython
    from json.encoder import encode_basestring
    from json.scanner import make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class _Context:
    """What the scanner asks of a decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    parse_string = None
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner empties it after each call


_scan = make_scanner(_Context)  # type: ignore[arg-type]
_WORDS = {None: "null", True: "true", False: "false"}
# The C scanner answers with these where `json` is not loaded.
_REFUSALS = (StopIteration, ValueError, SystemError, TypeError, IndexError)


def read(text: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a JSON text; `ValueError` when it is not JSON.

    >>> read('{"a": [1, true]}')
    {'a': [1, True]}
    """
    try:
        value, end = _scan(text, 0)
    except _REFUSALS:
        return _read_slowly(text)
    return value if end == len(text) or not text[end:].strip() else _read_slowly(text)


def _read_slowly(text: str) -> object:
    import json  # noqa: PLC0415 - only for its message, and for blanks in front

    return json.loads(text, strict=False)


def line(value: object) -> str:
    """Return a value as JSON on one line, as short as it gets.

    >>> line({"a": [1, True, None, "é"]})
    '{"a":[1,true,null,"é"]}'
    """
    return "".join(_parts(value, "", ""))


def block(value: object) -> str:
    """Return a value as JSON over several lines, indented by two."""
    return "".join(_parts(value, "\n", "  "))


def _parts(value: object, newline: str, step: str) -> Iterator[str]:
    if isinstance(value, str):
        yield encode_basestring(value)
    elif isinstance(value, dict) and value:
        yield from _members(value, newline, step)
    elif isinstance(value, list | tuple) and value:
        yield from _entries(value, newline, step)
    else:
        yield _scalar(value)


def _members(value: dict[str, object], newline: str, step: str) -> Iterator[str]:
    inner = newline + step
    colon = ": " if step else ":"
    before = "{"
    for key, member in value.items():
        yield f"{before}{inner}{encode_basestring(key)}{colon}"
        yield from _parts(member, inner, step)
        before = ","
    yield newline + "}"


def _entries(
    value: list[object] | tuple[object, ...], newline: str, step: str
) -> Iterator[str]:
    inner = newline + step
    before = "["
    for entry in value:
        yield before + inner
        yield from _parts(entry, inner, step)
        before = ","
    yield newline + "]"


def _scalar(value: object) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"`{type(value).__name__}` is not JSON")
