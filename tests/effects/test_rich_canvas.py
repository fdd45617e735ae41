"""The canvas: what it sends to a terminal, byte by byte."""

import io

import pytest

from looptasks.core.view import ASCII, Piece, Row, Signs, Size
from looptasks.effects.rich_canvas import Canvas

UP = "\x1b[1A\x1b[2K"
ROWS: list[Row] = [(Piece("one"),), (Piece("two"),)]


@pytest.fixture(autouse=True)
def _usual(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XTERM_VERSION", "STY", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


class Paper(io.TextIOWrapper):
    """A stream that keeps what was written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, encoding=encoding, newline="")

    def taken(self) -> str:
        """Return what was written since this was last asked."""
        found = self.bytes.getvalue().decode(self.encoding)
        self.bytes.seek(0)
        self.bytes.truncate()
        return found


def test_rows_are_drawn_without_wrapping() -> None:
    paper = Paper()

    Canvas(paper).draw(ROWS)

    assert paper.taken() == "\x1b[?7lone\ntwo\n\x1b[?7h"


def test_what_did_not_change_is_not_drawn_again() -> None:
    paper = Paper()
    canvas = Canvas(paper)
    canvas.draw(ROWS)
    paper.taken()

    canvas.draw(list(ROWS))

    assert paper.taken() == ""


def test_new_rows_replace_the_old_ones() -> None:
    paper = Paper()
    canvas = Canvas(paper)
    canvas.draw(ROWS)
    paper.taken()

    canvas.draw(ROWS[:1])

    assert paper.taken() == f"\r\x1b[2K{UP}{UP}\x1b[?7lone\n\x1b[?7h"


def test_what_is_said_stays_above_the_rows() -> None:
    paper = Paper()
    canvas = Canvas(paper)
    canvas.draw(ROWS)
    paper.taken()

    canvas.draw(ROWS, "hello\nworld\n")

    assert paper.taken() == f"\r\x1b[2K{UP}{UP}hello\nworld\n\x1b[?7lone\ntwo\n\x1b[?7h"


def test_half_a_line_waits_for_its_end() -> None:
    paper = Paper()
    canvas = Canvas(paper)
    canvas.draw([], "first\nhal")
    assert paper.taken() == "first\n"
    canvas.draw([], "f\n")
    assert paper.taken() == "half\n"
    canvas.clear("no end")
    assert paper.taken() == "no end"


def test_clearing_leaves_nothing_to_clear() -> None:
    paper = Paper()
    canvas = Canvas(paper)
    canvas.draw(ROWS)
    canvas.clear()
    assert paper.taken().endswith(f"\r\x1b[2K{UP}{UP}")

    canvas.clear()

    assert paper.taken() == ""


def test_tones_become_colours() -> None:
    paper = Paper()

    Canvas(paper).draw([(Piece("good", "good"), Piece("quiet", "quiet"))])

    assert "\x1b[32mgood\x1b[0m\x1b[2mquiet\x1b[0m" in paper.taken()


def test_a_terminal_that_knows_no_signs_gets_letters() -> None:
    paper = Paper("ascii")
    canvas = Canvas(paper)
    assert canvas.signs == ASCII

    canvas.draw([(Piece("計画 [bold]"),)], "é\n")

    assert paper.taken() == "?\n\x1b[?7l?? [bold]\n\x1b[?7h"


def test_a_terminal_that_knows_all_signs_gets_them() -> None:
    assert Canvas(Paper()).signs == Signs()


def test_a_stream_without_size_is_taken_for_a_usual_terminal() -> None:
    assert Canvas(Paper()).size() == Size(80, 24)
