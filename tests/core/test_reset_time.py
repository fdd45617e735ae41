"""When a limit ends is understood in all the ways in which agents put it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.reset_time import reset_in

NOW = datetime(2026, 11, 18, 9, 0, tzinfo=UTC).timestamp()


def at(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Claude AI usage limit reached|1795000000", 1795000000.0),
        ("You've hit your limit · resets 3pm (UTC)", at(2026, 11, 18, 15)),
        ("limit reached, resets 8:30am (UTC)", at(2026, 11, 19, 8, 30)),
        ("resets 12am (Europe/Berlin)", at(2026, 11, 18, 23)),
        ("resets Nov 21, 5pm (UTC)", at(2026, 11, 21, 17)),
        ("Try again in 2 days 3 hours 5 minutes.", NOW + 183900),
        ("Your quota will reset after 3h20m10s.", NOW + 12010),
        ("Please retry in 12.5s", NOW + 12.5),
        ("slow down", None),
        ("try again later", None),
        ("resets 3pm (Nowhere/Atall)", None),
    ],
)
def test_a_reset_time_is_understood(words: str, expected: float | None) -> None:
    assert reset_in(words, NOW) == expected


def test_a_clock_without_a_zone_is_the_machines_own() -> None:
    found = reset_in("try again at Nov 21st, 2026 3:04 PM.", NOW)
    assert found is not None
    local = datetime.fromtimestamp(found, UTC).astimezone()
    assert (local.day, local.hour, local.minute) == (21, 15, 4)


@given(st.text(max_size=200) | st.from_regex(r"(in|after|resets|at) .{0,40}"))
def test_no_words_can_break_it(words: str) -> None:
    found = reset_in(words, NOW)
    assert found is None or found > 0
