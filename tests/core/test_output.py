"""Fields are read out of what an agent printed, however it decorates them."""

import statistics
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.output import read_fields

PAIRS = (("plateau", "PLATEAU"), ("why", "REASON"))


@pytest.mark.parametrize(
    "line",
    [
        "PLATEAU: yes",
        "PLATEAU:yes",
        "  PLATEAU : yes",
        "**PLATEAU:** yes",
        "**PLATEAU**: yes",
        "- PLATEAU: yes",
        "> PLATEAU: yes",
        "## PLATEAU: yes",
        "`PLATEAU: yes`",
        "PLATEAU: **yes**",
        "PLATEAU: yes\r",
    ],
)
def test_a_decorated_field_is_read(line: str) -> None:
    assert read_fields([f"before\n{line}\nafter\n"], PAIRS) == {"plateau": "yes"}


@pytest.mark.parametrize(
    "line",
    [
        "my PLATEAU: yes",
        "PLATEAU yes",
        "PLATEAUS: yes",
        "plateau: yes",
        "PLATEAU\n: yes",
    ],
)
def test_what_only_looks_like_a_field_is_not_read(line: str) -> None:
    assert read_fields([f"{line}\n"], PAIRS) == {}


def test_the_last_value_counts_and_others_stay() -> None:
    chunks = ["PLATEAU: no\nREASON: none\n", "PLATEAU: yes\n", "the end"]
    assert read_fields(chunks, PAIRS) == {"plateau": "yes", "why": "none"}


def test_no_fields_asked_for_is_no_fields() -> None:
    assert read_fields(["PLATEAU: yes"], ()) == {}


values = st.text(
    st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85"), max_size=20
)


@given(st.lists(st.tuples(st.sampled_from(["PLATEAU", "REASON"]), values)))
def test_it_does_not_matter_where_the_text_is_cut_between_lines(
    said: list[tuple[str, str]],
) -> None:
    lines = [f"{marker}: {value}\n" for marker, value in said]
    assert read_fields(lines, PAIRS) == read_fields(["".join(lines)], PAIRS)


@pytest.mark.parametrize("text", ["\n", " ", "-", "* ", "PLATEAU", "> \n", "PLATEAU\n"])
def test_reading_takes_no_longer_than_there_is_to_read(text: str) -> None:
    ratios = []
    for _ in range(5):
        took = []
        for count in (4_000, 40_000):
            start = time.perf_counter()
            read_fields([text * count], PAIRS)
            took.append(time.perf_counter() - start)
        ratios.append(took[1] / took[0])
    # Ten times the text: ten times as long, while every pair of signs would be 100.
    assert statistics.median(ratios) < 40
