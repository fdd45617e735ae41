"""A duration: seconds, or a number with a unit (`30m`, `2h`, `1h30m`)."""

import re

from looptasks.errors import DeclarationError

# The schemas hold the same pattern, for editors; a test compares them.
PATTERN = (
    r"^[0-9]{1,9}(\.[0-9]{1,6})?"
    r"( ?(ms|s|m|h|d)( ?[0-9]{1,9}(\.[0-9]{1,6})? ?(ms|s|m|h|d))*)?$"
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ENDLESS = float("inf")
_PART = r"([0-9.]+) ?(ms|[smhd])"


def seconds(value: str | float | None) -> float | None:
    """Return a duration in seconds; None stays None (no limit).

    >>> seconds("1h30m"), seconds(3), seconds(None)
    (5400.0, 3.0, None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _read(value)
    if isinstance(value, bool) or not 0 <= value < _ENDLESS:
        raise _no_duration(value)
    return float(value)


def _read(value: str) -> float:
    text = value.strip()
    if not re.match(PATTERN, text):
        raise _no_duration(value)
    if text[-1].isdigit():
        return float(text)
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text))


def _no_duration(value: object) -> DeclarationError:
    return DeclarationError(
        f"`{value}` is no duration",
        fix="use seconds, or a number with a unit: `90`, `30m`, `1h30m`",
    )


def spoken(value: float) -> str:
    """Say a duration the way people do.

    >>> spoken(0.25), spoken(75), spoken(7200)
    ('0.2 s', '1 min 15 s', '2 h')
    """
    if value < 60:  # noqa: PLR2004 - a minute
        return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"  # noqa: PLR2004
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "min"), (rest if not hours else 0, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)
