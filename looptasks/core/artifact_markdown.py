"""An artifact's markdown: the JSON as people like to read it. Nobody parses it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from looptasks.core.artifact_text import canonical, shown
from looptasks.core.json_text import line

_FIRST = ("overview", "objective", "description", "summary")
_HEADS = frozenset({"title", "name"})
_TOP, _DEEPEST_HEADING = 2, 6


def markdown(artifact: Mapping[str, Any], kind: str) -> str:
    """Return an artifact as markdown; `kind` is its title where it has none."""
    artifact = json.loads(canonical(artifact))  # the order of keys says nothing
    lines = [f"# {_title(artifact) or kind}", *_body(artifact, _TOP)]
    return "\n\n".join(lines) + "\n"


def _title(value: Mapping[str, Any]) -> str:
    found = [value.get(key) for key in ("title", "name")]
    said = [_line(text) for text in found if isinstance(text, str) and text.strip()]
    if not all(isinstance(text, str) for text in found):
        return said[0] if said else ""
    return f"{said[0]} (`{said[1]}`)" if len(set(said)) > 1 else "".join(said[:1])


def _body(value: Mapping[str, Any], level: int) -> Iterator[str]:
    keys = [key for key in value if key not in _HEADS or not _is_text(value[key])]
    for key in sorted(keys, key=lambda key: (*_rank(key, value[key]), key)):
        yield from _member(key, value[key], level)


def _rank(key: str, value: Any) -> tuple[int, int]:  # noqa: ANN401 - any JSON
    """Order members: what it is about, what is short, entries, steps, the rest."""
    if key in _FIRST:
        return 0, _FIRST.index(key)
    if not isinstance(value, Mapping | list):
        return 1, 0
    if _are_named(value):
        return 2, 0
    steps = isinstance(value, list) and any(isinstance(s, Mapping) for s in value)
    return (3, 0) if steps else (4, 0)


def _member(key: str, value: Any, level: int) -> Iterator[str]:  # noqa: ANN401
    if value in ("", [], {}, None):
        return
    if key in _FIRST and _is_text(value):
        yield value.strip()
    elif isinstance(value, Mapping):
        yield _heading(_label(key), level)
        yield from _body(value, level + 1)
    elif _are_named(value):
        yield _heading(_label(key), level)
        for number, entry in enumerate(value, 1):
            yield _heading(f"{number}. {_title(entry)}", level + 1)
            yield from _body(entry, level + 2)
    elif key == "dependencies" and isinstance(value, list):
        yield f"**{_label(key)}:** {', '.join(map(_brief, value))}"
    elif isinstance(value, list):
        yield _heading(_label(key), level) if level == _TOP else f"**{_label(key)}:**"
        yield "\n".join(f"- {_bullet(item)}" for item in value)
    else:
        yield f"**{_label(key)}:** {_scalar(key, value)}"


def _heading(text: str, level: int) -> str:
    return f"{'#' * min(level, _DEEPEST_HEADING)} {text}"


def _bullet(item: Any) -> str:  # noqa: ANN401 - any JSON
    if not isinstance(item, Mapping):
        return _indented(_scalar("", item))
    first = next((key for key in _FIRST if _is_text(item.get(key))), None)
    rest = [f"{_label(k).lower()}: {_brief(v)}" for k, v in item.items() if k != first]
    tail = f" ({', '.join(rest)})" if rest else ""
    return _indented(f"{item[first].strip() if first else ''}{tail}".strip())


def _brief(value: Any) -> str:  # noqa: ANN401 - any JSON
    return f"`{value}`" if _is_text(value) and "`" not in value else shown(value)


def _scalar(key: str, value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        is_code = key.endswith("command") and "\n" not in value and "`" not in value
        return f"`{value}`" if is_code else value.strip()
    return line(value)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _line(text: str) -> str:
    return " ".join(text.split())


def _label(key: str) -> str:
    """Return a key as words.

    >>> _label("non_goals")
    'Non goals'
    """
    words = _line(key.replace("_", " "))
    return words[:1].upper() + words[1:]


def _is_text(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str)


def _are_named(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(entry, Mapping) and _title(entry) for entry in value)
    )
