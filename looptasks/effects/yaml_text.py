"""YAML text, read with care: plain JSON values, or an error with line and column.

Values follow YAML 1.2, so that `no` is a word, `1:30` is no number and `007` keeps
its zeros. Tags, keys that are no text, keys that stand twice and aliases that blow
up are refused.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from looptasks.errors import DeclarationError

MAX_DEPTH = 40
MAX_NODES = 20_000
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MERGE = "<<"


def parse(text: str, where: str) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return the value of the only document in a text."""
    import yaml  # noqa: PLC0415 - 13 ms that a cached load does not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Reader(yaml.parse(text, Loader=loader), where).document()
    except yaml.YAMLError as error:
        raise _unparsable(error, text, where) from error


def _unparsable(error: Any, text: str, where: str) -> DeclarationError:  # noqa: ANN401
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    begun = getattr(error, "context_mark", None)
    if begun is not None and mark is not None and begun.line != mark.line:
        problem = f"{error.context} in line {begun.line + 1}: {problem}"
    fix = "correct the YAML there"
    if mark is not None:
        where = f"{where}:{mark.line + 1}:{mark.column + 1}"
        line = text.splitlines()[mark.line : mark.line + 1]
        if line and "\t" in line[0][: mark.column + 1]:
            fix = "indent with spaces, YAML takes no tabs"
    return DeclarationError(f"not YAML: {problem or error}", where=where, fix=fix)


class _Sized(NamedTuple):
    """A value, and how many nodes it stands for when aliases are followed."""

    value: Any
    nodes: int


class _Reader:
    """Builds values from the parser's events, which no text can make recurse."""

    def __init__(self, events: Iterator[Any], where: str) -> None:
        self._events = events
        self._where = where
        self._anchors: dict[str, _Sized] = {}
        self._nodes = 0

    def document(self) -> Any:  # noqa: ANN401
        """Return the value of the stream's first document, and refuse a second."""
        value = None
        documents = 0
        for event in self._events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise self._refusal(event, "a second document begins", "keep one")
            elif not kind.startswith(("Stream", "Document")):
                value = self._node(event, 1)
        return value

    def _node(self, event: Any, depth: int) -> Any:  # noqa: ANN401
        before = self._nodes
        if depth > MAX_DEPTH:
            raise self._refusal(event, "nested too deeply", "write it flatter")
        self._count(event, 1)
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self._alias(event)
        if event.tag is not None:
            what = f"the tag `{event.tag}` is not allowed"
            raise self._refusal(event, what, "write the plain value")
        value = self._value(event, kind, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Sized(value, self._nodes - before)
        return value

    def _value(self, event: Any, kind: str, depth: int) -> Any:  # noqa: ANN401
        if kind == "ScalarEvent":
            return self._scalar(event)
        if kind == "SequenceStartEvent":
            return self._sequence(depth)
        return self._mapping(depth)

    def _alias(self, event: Any) -> Any:  # noqa: ANN401
        sized = self._anchors.get(event.anchor)
        if sized is None:
            what = f"the alias `*{event.anchor}` has no anchor before it"
            raise self._refusal(event, what, f"define `&{event.anchor}` first")
        self._count(event, sized.nodes)
        return sized.value

    def _count(self, event: Any, nodes: int) -> None:  # noqa: ANN401
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            what = f"more than {MAX_NODES} values, with aliases followed"
            raise self._refusal(event, what, "use fewer values and aliases")

    def _scalar(self, event: Any) -> Any:  # noqa: ANN401
        text: str = event.value
        if "\0" in text or not _is_encodable(text):
            what = "a text holds a character that no file or program can take"
            raise self._refusal(event, what, "take out the NUL or surrogate")
        return text if event.style else plain(text)

    def _sequence(self, depth: int) -> list[Any]:
        result = []
        for event in self._events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            result.append(self._node(event, depth + 1))
        return result

    def _mapping(self, depth: int) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for event in self._events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key = self._key(event, depth)
            line = event.start_mark.line + 1
            if key in lines:
                what = f"the key `{key[:80]}` stands twice, first in line {lines[key]}"
                raise self._refusal(event, what, "keep one of them")
            lines[key] = line
            value = self._node(next(self._events), depth + 1)
            if key == _MERGE and not event.style:
                merged = self._merged(event, value)
            else:
                own[key] = value
        return {**merged, **own}

    def _key(self, event: Any, depth: int) -> str:  # noqa: ANN401
        if type(event).__name__ not in ("ScalarEvent", "AliasEvent"):
            what = "a key is a list or a mapping"
            raise self._refusal(event, what, "use a text as the key")
        key = self._node(event, depth + 1)
        if isinstance(key, str):
            return key
        shown = getattr(event, "value", key)
        what = f"the key `{shown}` is no text"
        raise self._refusal(event, what, f'write it in quotes: `"{shown}"`')

    def _merged(self, event: Any, value: Any) -> dict[str, Any]:  # noqa: ANN401
        layers = value if isinstance(value, list) else [value]
        result: dict[str, Any] = {}
        for layer in reversed(layers):
            if not isinstance(layer, dict):
                what = "`<<` takes a mapping, or a list of mappings"
                raise self._refusal(event, what, "name an anchor of a mapping")
            result |= layer
        return result

    def _refusal(self, event: Any, what: str, fix: str) -> DeclarationError:  # noqa: ANN401
        mark = event.start_mark
        where = f"{self._where}:{mark.line + 1}:{mark.column + 1}"
        return DeclarationError(what, where=where, fix=fix)


def plain(text: str) -> Any:  # noqa: ANN401
    """Return the value of an unquoted word.

    >>> plain("25"), plain("True"), plain("no"), plain("007"), plain("1.5")
    (25, True, 'no', '007', 1.5)
    """
    if text in (text.lower(), text.upper(), text.capitalize()):
        word = text.lower()
        if word in _WORDS:
            return _WORDS[word]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
