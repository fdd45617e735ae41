"""Screen text: what of a text may be put on a screen, and how much room it takes."""

import re
import unicodedata
from collections.abc import Iterable

from looptasks.core.secret import masked

# Texts, not patterns: what is never met is never compiled.
_ESCAPE = (
    r"(?s)\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|$)"  # colours, cursor
    r"|[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)"  # titles, links, strings
    r"|[ -/]*(?:[0-~]|$))"
    r"|\x9b[0-?]*[ -/]*[@-~]?"
)
_BREAK = r"[\r\n\v\f\x85\u2028\u2029]+"
# Unicode 16 made these wide: terminals know it, and Python's own tables may be older.
_WIDENED = (
    range(0x2630, 0x2638),
    range(0x268A, 0x2690),
    range(0x4DC0, 0x4E00),
    range(0x1D300, 0x1D357),
    range(0x1D360, 0x1D377),
)
_SELECTORS = range(0xFE00, 0xFE10)  # they change how wide a character is drawn


def plain(line: str) -> str:
    r"""Return a line without anything that does more than fill cells.

    >>> plain("\x1b[31mred\x1b[0m\tand\x07 calm")
    'red and calm'
    """
    if line.isascii() and line.isprintable():
        return line
    return "".join(map(_kept, re.sub(_ESCAPE, "", line)))


def _kept(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "Z" or character == "\t":
        return " "
    unseen = category[0] == "C" or ord(character) in _SELECTORS
    return "" if unseen else character


def shown(text: str, known: Iterable[str] = ()) -> str:
    r"""Return lines that may come from an agent, fit for other people's eyes.

    >>> shown("PASSWORD=\x1b[1mabc", known=["12345678"])
    'PASSWORD=***'
    """
    return masked("\n".join(map(plain, text.split("\n"))), known)


def lines(text: str) -> list[str]:
    """Split a text where a terminal would start a line or write over it."""
    return re.split(_BREAK, text)


def width(text: str) -> int:
    """Return how many cells a plain text fills; too many rather than too few.

    >>> width("plan"), width("計画")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 2 if any(ord(character) in wide for wide in _WIDENED) else 1


def cut(text: str, cells: int, ellipsis: str = "…") -> str:
    """Return the text, shortened to fit.

    >>> cut("a long story", 8), cut("short", 8)
    ('a long…', 'short')
    """
    if width(text) <= cells:
        return text
    room = cells - width(ellipsis)
    if room < 0:
        return ""
    end = 0
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        end += 1
    return text[:end].rstrip() + ellipsis


def encodable(text: str, encoding: str | None) -> str:
    """Return the text with question marks for what an encoding does not have."""
    if text.isascii():
        return text
    name = encoding or "utf-8"
    return text.encode(name, "replace").decode(name)
