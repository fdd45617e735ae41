"""Output: what an agent answered, and the fields that are read out of it."""

import re
from collections.abc import Iterable


def field_pattern(pairs: Iterable[tuple[str, str]]) -> re.Pattern[str] | None:
    """Return a pattern that finds `MARKER: value` lines, decorated or not."""
    markers = "|".join(re.escape(marker) for _, marker in pairs)
    if not markers:
        return None
    # No line break among the signs in front: a page of empty lines would take hours.
    signs = r"[ \t\r>*_#`-]*"
    return re.compile(
        rf"^{signs}({markers})[*_`]*[ \t]*:[ \t]*(.*)$", flags=re.MULTILINE
    )


def read_fields(
    chunks: Iterable[str], pairs: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    r"""Return each field's last value; the text comes in chunks of whole lines.

    >>> read_fields(["PLATEAU: no\n", "**PLATEAU:** yes\n"], (("p", "PLATEAU"),))
    {'p': 'yes'}
    """
    pattern = field_pattern(pairs)
    if pattern is None:
        return {}
    found: dict[str, str] = {}
    for chunk in chunks:
        found.update(pattern.findall(chunk))
    return {
        field: found[marker].strip().strip("*_`").strip()
        for field, marker in pairs
        if marker in found
    }
