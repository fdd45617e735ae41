"""A reset time: when a usage limit ends, read from what an agent says of it."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

_EPOCH = re.compile(r"\|(\d{10})\b")
_SPAN = re.compile(
    r"(?:\bin|after|retry.after:?)\s+((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+)",
    re.I,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[smhd])[a-z]*", re.I)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_CLOCK = re.compile(
    r"(?:\bat|resets?(?: at)?)\s+"
    r"(?:(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>\d{4}))?,?(?: at)? )?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)\b"
    r"(?:\s*\((?P<zone>[A-Za-z_]+(?:/[A-Za-z_]+)*)\))?",
    re.I,
)
_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_FARTHEST = 400 * 86400.0


def reset_in(words: str, now: float) -> float | None:
    """Return when the limit ends, in seconds since 1970, None when it is not told.

    >>> reset_in("Try again in 1 hour 30 minutes.", 1000.0)
    6400.0
    """
    words = words[:4000]
    if found := _EPOCH.search(words):
        return float(found[1])
    if (found := _SPAN.search(words)) and (seconds := _seconds(found[1])):
        return now + seconds
    if found := _CLOCK.search(words):
        return _clock(found, now)
    return None


def _seconds(span: str) -> float:
    parts = _PART.findall(span)
    total = sum(float(count) * _UNITS[unit.lower()] for count, unit in parts)
    return total if total <= _FARTHEST else 0.0


def _clock(found: re.Match[str], now: float) -> float | None:
    try:
        # Without a name the zone is the one of this machine.
        zone = _zone(found["zone"])
        here = datetime.fromtimestamp(now, UTC).astimezone(zone)
        hour = int(found["hour"]) % 12 + (12 if found["half"].lower() == "pm" else 0)
        clock = here.replace(
            hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0
        )
        return _dated(found, clock, here).timestamp()
    except (ValueError, OverflowError, OSError, LookupError):
        return None


def _dated(found: re.Match[str], clock: datetime, here: datetime) -> datetime:
    if not found["month"]:
        return clock if clock > here else clock + timedelta(days=1)
    month = _MONTHS.index(found["month"].lower()) + 1
    year = int(found["year"] or here.year)
    dated = clock.replace(year=year, month=month, day=int(found["day"]))
    if dated < here and not found["year"]:
        return dated.replace(year=year + 1)
    return dated


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - limits are rare

    return ZoneInfo(name)
