"""A session: one named run; everything it knows is in `.loop/<session>/`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from looptasks.errors import UsageError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
RESERVED = frozenset({"archive"})
_NUMBERED = r"(\d{3})-.+"  # a text: hardly a command gets to compile it
_DULL_WORDS = (
    "a an and are as at be by do for from in into is it its let make of on or our "
    "please so that the their then this to up us we with you your"
)
_DULL = frozenset(_DULL_WORDS.split())
_SLUG_WORDS, _SLUG_LENGTH = 5, 40


def checked_name(name: str) -> str:
    """Return the name, or say why it cannot be one."""
    reserved = name.lower() in RESERVED  # not every file system knows the difference
    if NAME.fullmatch(name) and not reserved:
        return name
    if reserved:
        what = f"`{name}` is the folder of superseded work, not a session's name"
    else:
        what = f"`{name}` cannot be a session's name"
    raise UsageError(
        what,
        where="session",
        fix="use at most 64 letters, digits, `.`, `_`, `-`; begin with no sign",
    )


def slug(goal: str) -> str:
    """Return up to five keywords of a goal, joined by dashes.

    >>> slug("Please add a login page to the shop, with tests!")
    'add-login-page-shop-tests'
    """
    words = re.findall(r"[a-z0-9]+", goal.lower())
    keywords = [word for word in words if word not in _DULL] or words or ["goal"]
    text = "-".join(keywords[:_SLUG_WORDS])
    if len(text) > _SLUG_LENGTH:
        text = text[: _SLUG_LENGTH + 1].rpartition("-")[0] or text[:_SLUG_LENGTH]
    return text


def new_name(goal: str, existing: Iterable[str]) -> str:
    """Return the next `NNN-slug` name."""
    numbers = [int(m[1]) for name in existing if (m := re.fullmatch(_NUMBERED, name))]
    number = f"{max(numbers, default=0) + 1:03d}-"
    text = slug(goal)
    while len(number) + len(text) > _SLUG_LENGTH and "-" in text:
        text = text.rpartition("-")[0]
    return number + text[: _SLUG_LENGTH - len(number)]


def find(part: str, existing: Iterable[str]) -> str:
    """Return the session that `part` means: its name, or a unique part of one.

    Only `NNN-slug` names are found by a part; any other word is a name of its own.
    """
    names = sorted(existing)
    if part in names:
        return part
    parts = bool(NAME.fullmatch(part))
    matches = [n for n in names if parts and part in n and re.fullmatch(_NUMBERED, n)]
    if len(matches) > 1:
        listed = ", ".join(f"`{name}`" for name in matches)
        raise UsageError(
            f"`{part}` could be any of {listed}",
            where="session",
            fix=f"write more of the name, such as `session={matches[0]}`",
        )
    return matches[0] if matches else checked_name(part)


def session_file(
    session: str, events: Iterable[Mapping[str, Any]], version: str
) -> dict[str, Any]:
    """Return a session's `session.json`: what was asked first, and all entries."""
    entries = [
        {key: value for key, value in event.items() if key != "event"}
        for event in events
    ]
    first = entries[0] if entries else {}
    return {
        "schema": 1,
        "session": session,
        "entry": first.get("entry"),
        "goal": first.get("goal"),
        "variables": first.get("variables", {}),
        "created_at": first.get("at"),
        "version": first.get("version", version),
        "entries": entries,
    }
