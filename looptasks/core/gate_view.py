"""A gate's view: what a person is shown before giving the word."""

from collections.abc import Iterator, Mapping
from typing import Any

from looptasks.core.gate import ASKING, commands, typed

_LINES, _ENTRIES = 12, 30
_SAYS_MORE = ("overview", "objective", "description")


def view(
    stage: str, session: str, shown: tuple[Any, str, str], *, ways: bool = True
) -> Iterator[str]:
    """Yield what is asked: the artifact in short, where it is, and how to answer."""
    artifact, text, where = shown
    yield f"{typed(stage)} {ASKING}:"
    inner = _artifact(artifact) if isinstance(artifact, Mapping) else _head(text)
    yield from (f"  {line}" for line in inner)
    if where:
        yield f"  all of it: {where}"
    if ways:
        yield from (f"  {command}" for command in commands(stage, session))


def _artifact(artifact: Mapping[str, Any]) -> Iterator[str]:
    if title := artifact.get("title"):
        yield str(title)
    for key in _SAYS_MORE:
        if artifact.get(key):
            yield from str(artifact[key]).strip().splitlines()[:_LINES]
            break
    for key, entries in artifact.items():
        if isinstance(entries, list) and entries:
            yield from _entries(key, entries)


def _entries(key: str, entries: list[Any]) -> Iterator[str]:
    named = [e for e in entries if isinstance(e, Mapping) and e.get("name")]
    if not named:
        yield f"{key}: {len(entries)}"
        return
    yield f"{key}:"
    for entry in named[:_ENTRIES]:
        title = entry.get("title")
        yield f"  - {entry['name']}" + (f": {title}" if title else "")
    if len(named) > _ENTRIES:
        yield f"  - and {len(named) - _ENTRIES} more"


def _head(text: str) -> Iterator[str]:
    lines = text.strip().splitlines()
    yield from lines[:_LINES]
    if len(lines) > _LINES:
        yield "…"
