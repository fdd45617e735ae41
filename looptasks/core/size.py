"""A size: bytes, or a number with a unit (`500kB`, `50MB`, `2GiB`)."""

import re

from looptasks.errors import DeclarationError

_PATTERN = r"(?i)^([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([kmg]?)(i?)b?$"
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}


def bytes_in(value: object, where: str = "") -> int:
    """Return a size in bytes.

    >>> bytes_in("50MB"), bytes_in("1.5 KiB"), bytes_in(4096)
    (50000000, 1536, 4096)
    """
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    found = re.match(_PATTERN, str(value).strip())
    if found is None or not (whole or isinstance(value, str)):
        raise DeclarationError(
            f"`{value}` is no size",
            where=where,
            fix='use bytes, or a number with a unit: `4096`, `"500kB"`, `"50MB"`',
        )
    number, unit, binary = found.groups()
    base = 1024 if binary else 1000
    return int(float(number) * base ** _POWERS[unit.lower()])
