"""The place where a command works: its store of beads, who asks, and the time."""

from __future__ import annotations

import os

from looptasks.core.instant import instant
from looptasks.effects.beads_file import BeadsFile
from looptasks.effects.beads_folder import find_folder
from looptasks.effects.system_clock import SystemClock, stamp
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.beads.asked import Asked

_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30, "y": 24 * 365}


def store() -> BeadsFile:
    """Return the beads of the folder that we are in."""
    return BeadsFile(find_folder("."))


def actor(asked: Asked) -> str:
    """Return who asks."""
    named = asked.text("actor") or os.environ.get("BD_ACTOR")
    if named or os.environ.get("LOOP_SESSION"):
        return named or os.environ["LOOP_SESSION"]
    return os.environ.get("USER") or os.environ.get("LOGNAME") or "unknown"


def now() -> int:
    """Return the time as an instant."""
    return int(SystemClock().epoch() * 10**9)


def time_of(text: str) -> str:
    """Return the RFC 3339 time that a person's words mean; empty stays empty."""
    said = text.strip().lower()
    if not said or instant(text) is not None:
        return text.strip()
    if said == "tomorrow":
        said = "+1d"
    number, unit = said[1:-1], said[-1]
    if said[0] in "+-" and number.isdecimal() and unit in _HOURS:
        sign = -1 if said[0] == "-" else 1
        hours = sign * int(number) * _HOURS[unit]
        return stamp(SystemClock().epoch() + hours * 3600)
    if instant(f"{said}T00:00:00Z") is not None:
        return f"{said}T00:00:00Z"
    raise UsageError(
        f"`{text}` is no time",
        fix="use `+6h`, `+1d`, `+2w`, `tomorrow`, `2027-01-31`, or an RFC 3339 time",
    )
