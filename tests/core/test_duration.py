import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import looptasks
from looptasks.core.duration import PATTERN, seconds, spoken
from looptasks.errors import DeclarationError

SCHEMA = Path(looptasks.__file__).parent / "schemas" / "loop.schema.json"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90.0),
        ("1.5", 1.5),
        ("250ms", 0.25),
        ("30m", 1800.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("2 h", 7200.0),
        (" 1d ", 86400.0),
        (3, 3.0),
        (0, 0.0),
    ],
)
def test_people_write_durations_in_many_ways(text: str, expected: float) -> None:
    assert seconds(text) == expected


def test_no_limit_stays_no_limit() -> None:
    assert seconds(None) is None


@pytest.mark.parametrize(
    "text",
    ["", "soon", "-5", "-5m", "nan", "inf", "1e5", "1:30", "5 parsecs", "m", "1..5s"],
)
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(DeclarationError, match="is no duration"):
        seconds(text)


@pytest.mark.parametrize("number", [-1, float("nan"), float("inf"), True])
def test_a_number_that_no_clock_shows_is_refused(number: float) -> None:
    with pytest.raises(DeclarationError):
        seconds(number)


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_refused(text: str) -> None:
    try:
        value = seconds(text)
    except DeclarationError:
        return
    assert value is not None
    assert value >= 0


@given(st.from_regex(PATTERN))
def test_whatever_the_schema_lets_through_is_a_duration(text: str) -> None:
    assert seconds(text) is not None


def test_the_schema_holds_the_same_pattern() -> None:
    found = re.findall(r'"pattern": ("\^\[0-9\].*")', SCHEMA.read_text())
    assert {json.loads(text) for text in found} == {PATTERN}


def test_durations_are_said_the_way_people_do() -> None:
    assert spoken(12) == "12 s"
    assert spoken(5400) == "1 h 30 min"
