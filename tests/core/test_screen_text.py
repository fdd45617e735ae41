"""Screen text: nothing but visible characters, and never more cells than allowed."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from looptasks.core.screen_text import cut, encodable, lines, plain, shown, width

PIECES = st.sampled_from(
    ["\x1b", "[", "]", "0;", "31", "m", "\x07", "\x9b", "\\", "P", "a", "é", "計", "\t"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_plain_text_holds_nothing_that_moves_a_cursor(text: str) -> None:
    found = {unicodedata.category(character)[0] for character in plain(text)}

    assert "C" not in found
    assert not {"\u2028", "\u2029"} & set(plain(text))


@given(st.text())
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;32mgreen\x1b[0m grass", "green grass"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2K\x1b[1Gline\x1b[?25l", "line"),
        ("half an escape \x1b[3", "half an escape "),
        ("an endless title \x1b]0;abc", "an endless title "),
        ("\x9b31mred", "red"),
        ("tab\tbell\x07null\x00", "tab bellnull"),
        ("turned \u202eround", "turned round"),
        ("heart \u2764\ufe0f", "heart \u2764"),
        ("日本語 stays", "日本語 stays"),
    ],
)
def test_escapes_and_controls_are_taken_out(text: str, left: str) -> None:
    assert plain(text) == left


@given(st.text(), st.integers(0, 40), st.sampled_from(["…", "...", ""]))
def test_a_cut_text_never_takes_more_cells_than_it_may(
    text: str, cells: int, ellipsis: str
) -> None:
    assert width(cut(plain(text), cells, ellipsis)) <= cells


@given(st.text())
@example("☰ ䷀ \U0001d300 計 é")
def test_text_is_never_wider_on_the_screen_than_was_counted(text: str) -> None:
    assert cell_len(plain(text)) <= width(plain(text))


@given(st.text(max_size=20))
def test_text_that_fits_is_not_cut(text: str) -> None:
    assert cut(plain(text), width(plain(text))) == plain(text)


def test_a_cut_text_says_that_it_was_cut() -> None:
    assert cut("one two three", 9) == "one two…"
    assert cut("計画を作る", 6) == "計画…"
    assert cut("abc", 0) == ""


def test_lines_end_where_a_terminal_starts_to_write_over() -> None:
    assert lines("10%\r20%\r\nnext") == ["10%", "20%", "next"]


@given(st.text(), st.sampled_from(["ascii", "latin-1", "utf-8", None]))
def test_text_can_always_be_encoded(text: str, encoding: str | None) -> None:
    encodable(text, encoding).encode(encoding or "utf-8")


def test_no_escape_hides_a_secret() -> None:
    assert shown("to\x1b[0mken=a\x1b[1mbc\nnext") == "token=***\nnext"
