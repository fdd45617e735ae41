"""An owner counts while its process lives and its heart beats."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.owner import STALE, Owner, clock_time, owner_from, why_dead

OWNER = Owner(
    session="auth",
    run="0123456789ab",
    pid=4711,
    host="here",
    born="77",
    started_at="2026-03-01T10:05:00.000Z",
    heartbeat="2026-03-01T10:05:30.000Z",
    heartbeat_epoch=1000.0,
)
anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.none())
)


def test_an_owner_survives_the_way_through_its_file() -> None:
    assert owner_from(OWNER._asdict()) == OWNER


@given(st.dictionaries(st.sampled_from(Owner._fields), anything))
def test_whatever_the_file_says_it_names_an_owner_or_nobody(fields: Any) -> None:
    found = owner_from(fields)
    assert found is None or isinstance(found.pid, int)


@given(
    st.floats(0, 10_000),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "77", "78"]),
)
def test_only_the_same_living_process_with_a_fresh_heartbeat_counts(
    age: float, here: bool, running: bool, born: str
) -> None:
    dead = why_dead(OWNER, 1000.0 + age, here=here, running=running, born=born)
    alive = age <= STALE and (not here or (running and born in ("", "77")))
    assert (dead is None) == alive


def test_the_reason_names_the_process() -> None:
    gone = why_dead(OWNER, 1000.0, here=True, running=False, born="")
    assert gone == "process 4711 is gone"
    silent = why_dead(OWNER, 1095.0, here=True, running=True, born="77")
    assert silent == "process 4711 gave no sign of life for 95 s"


def test_a_clock_that_went_back_does_not_kill_the_owner() -> None:
    assert why_dead(OWNER, 0.0, here=True, running=True, born="77") is None


@pytest.mark.parametrize(
    ("stamp", "shown"), [("2026-03-01T10:05:00.000Z", "10:05"), ("", "")]
)
def test_the_time_of_day_is_shown(stamp: str, shown: str) -> None:
    assert clock_time(stamp) == shown
