"""A JSON value from outside: asked for what it may or may not hold."""

import json
from math import isfinite
from typing import Any

Event = dict[str, Any]
_LARGEST = 1 << 53


def event_in(line: bytes | str) -> Event | None:
    """Return the object that a line holds, None when it holds something else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def at(value: object, *path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what stands at a path of keys, None where it breaks off."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text(value: object, *path: str) -> str:
    """Return the text at a path, empty when there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def whole(value: object, *path: str) -> int | None:
    """Return the count at a path, None when there is no sensible one."""
    found = amount(value, *path)
    return int(found) if found is not None and found == int(found) else None


def amount(value: object, *path: str) -> float | None:
    """Return the amount at a path: finite and not below zero, or None."""
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return float(found) if 0 <= found <= _LARGEST and isfinite(found) else None


def objects(value: object, *path: str) -> list[Event]:
    """Return the objects of the list at a path."""
    found = at(value, *path)
    listed = found if isinstance(found, list) else []
    return [item for item in listed if isinstance(item, dict)]


def table(value: object, *path: str) -> Event:
    """Return the object at a path, an empty one when there is none."""
    found = at(value, *path)
    return found if isinstance(found, dict) else {}
