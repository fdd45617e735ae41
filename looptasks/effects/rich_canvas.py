"""A canvas: the lowest lines of a terminal, drawn over again and again.

The cursor always rests, visible, at the start of the line below. So whatever ends the
program leaves a terminal that can be used, and keys that are typed disturb nothing.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from looptasks.core.screen_text import encodable
from looptasks.core.view import ASCII, Row, Signs, Size, height, row_width

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {
    "": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "busy": "cyan",
    "bad": "red",
}
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_ERASE, _ERASE_ABOVE = "\r\x1b[2K", "\x1b[1A\x1b[2K"
_USUAL = os.terminal_size((80, 24))


class Canvas:
    """Draws rows; what is said meanwhile stays above them for good.

    Only one thread may use it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = _console(stream)
        self._widths: list[int] = []
        self._drawn: tuple[Sequence[Row], Size] = ([], Size(0, 0))
        self._unfinished = ""
        self.signs = Signs() if _can_show(stream, Signs()) else ASCII

    def size(self) -> Size:
        """Return how large the terminal is by now."""
        try:
            found = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            found = _USUAL
        # A terminal that was never told its size says zero.
        return Size(found.columns or _USUAL.columns, found.lines or _USUAL.lines)

    def draw(self, rows: Sequence[Row], said: str = "") -> None:
        """Replace the rows, after putting what was said above them."""
        size = self.size()
        if not said and (rows, size) == self._drawn:
            return
        whole, newline, self._unfinished = (self._unfinished + said).rpartition("\n")
        text = self._erasing(size) + whole + newline
        if rows:
            text += _NO_WRAP + self._styled(rows) + _WRAP
        self._widths = [row_width(row) for row in rows]
        self._drawn = (rows, size)
        self._put(text)

    def clear(self, said: str = "") -> None:
        """Take the rows away and leave everything that was said."""
        self.draw([], said)
        if self._unfinished:
            self._put(self._unfinished)
            self._unfinished = ""

    def _erasing(self, size: Size) -> str:
        if not self._widths:
            return ""
        columns = size.columns if _wraps_again() else self._drawn[1].columns
        # Line by line: tmux keeps a copy of a screen that is erased as a whole.
        return _ERASE + _ERASE_ABOVE * height(self._widths, columns)

    def _styled(self, rows: Sequence[Row]) -> str:
        from rich.text import Text  # noqa: PLC0415 - only a terminal pays for it

        with self._console.capture() as captured:
            for row in rows:
                text = Text.assemble(*((p.text, _STYLES[p.tone]) for p in row))
                self._console.print(text, soft_wrap=True)
        return captured.get()

    def _put(self, text: str) -> None:
        self._stream.write(encodable(text, self._stream.encoding))
        self._stream.flush()


def _console(stream: TextIO) -> "Console":
    from rich.console import Console  # noqa: PLC0415 - only a terminal pays for it

    return Console(
        file=stream, force_terminal=True, markup=False, emoji=False, highlight=False
    )


def _can_show(stream: TextIO, signs: Signs) -> bool:
    text = "".join(signs)
    return encodable(text, stream.encoding) == text


def _wraps_again() -> bool:
    """Tell whether the terminal breaks long lines anew when it becomes narrower."""
    return not (os.environ.get("XTERM_VERSION") or os.environ.get("STY"))
