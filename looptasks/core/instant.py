"""An instant: a point in time that RFC 3339 texts of any offset can be compared by.

`datetime` would do, and would take longer to import than a command of the tracker runs.
"""

_MONTHS = 12
_DAY = 86400
_SHORTEST = len("2026-01-01T00:00:00Z")


def instant(text: object) -> int | None:
    """Return the nanoseconds since 1970 that an RFC 3339 text means, None if none.

    >>> instant("1970-01-01T01:00:00.5+01:00")
    500000000
    >>> instant("soon") is None
    True
    """
    if not isinstance(text, str):
        return None
    try:
        return _instant(text.strip())
    except ValueError:
        return None


def _instant(text: str) -> int:
    if len(text) < _SHORTEST or text[10] not in "Tt ":
        raise ValueError(text)
    day = _day(int(text[:4]), int(text[5:7]), int(text[8:10]))
    clock = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    fraction, offset = _split(text[19:])
    return (day * _DAY + clock - offset) * 10**9 + fraction


def _split(tail: str) -> tuple[int, int]:
    """Return the fraction in nanoseconds and the offset in seconds."""
    digits = ""
    if tail.startswith("."):
        digits = tail[1 : len(tail) - len(tail[1:].lstrip("0123456789"))]
        tail = tail[1 + len(digits) :]
    return int(digits.ljust(9, "0")[:9]), _offset(tail)


def _offset(text: str) -> int:
    if text in ("Z", "z"):
        return 0
    sign = {"+": 1, "-": -1}.get(text[:1])
    if sign is None or len(text) != len("+00:00"):
        raise ValueError(text)
    return sign * (int(text[1:3]) * 3600 + int(text[4:6]) * 60)


def _day(year: int, month: int, day: int) -> int:
    """Return the days since 1970, by the calendar's 400-year cycle."""
    if not 1 <= month <= _MONTHS or not 1 <= day <= 31:  # noqa: PLR2004
        raise ValueError(month, day)
    # Counted from March, so that the leap day is a year's last.
    year -= month <= 2  # noqa: PLR2004
    cycle, of_cycle = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    of_cycle = of_cycle * 365 + of_cycle // 4 - of_cycle // 100 + of_year
    return cycle * 146097 + of_cycle - 719468
