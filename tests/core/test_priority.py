"""Priorities: which ready work gets the next slot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.priority import base, priority

MINUTE = 60.0
bases = st.integers(0, 200)
depths = st.integers(0, 20)
waits = st.floats(0, 10_000, allow_nan=False)
failures = st.integers(0, 50)


def test_the_innermost_work_goes_first_and_may_be_overtaken_by_what_waits() -> None:
    code, phase = base(3, 3), base(2, 3)
    waiting_code = priority(code, 3, waited=5 * MINUTE)
    waiting_phase = priority(phase, 2, waited=30 * MINUTE)
    failing_code = priority(code, 3, waited=1 * MINUTE, failed=4)

    assert (waiting_code, waiting_phase, failing_code) == (135, 130, 111)


@pytest.mark.parametrize(
    ("depth", "deepest", "expected"),
    [(0, 0, 100), (0, 1, 80), (0, 3, 40), (3, 3, 100), (0, 5, 0), (0, 9, 0)],
)
def test_the_base_falls_by_twenty_per_layer_above_the_leaves(
    depth: int, deepest: int, expected: int
) -> None:
    assert base(depth, deepest) == expected


@pytest.mark.parametrize("declared", [0, 7, 1000, -5])
def test_a_declared_base_stands_for_the_one_by_depth(declared: int) -> None:
    assert base(2, 3, declared) == declared


def test_only_full_minutes_count() -> None:
    assert priority(0, 0, waited=59.9) == 0
    assert priority(0, 0, waited=60.0) == 1
    assert priority(0, 0, waited=119.9) == 1


@given(bases, depths, waits, failures)
def test_waiting_and_failing_weigh_no_more_than_they_may(
    start: int, depth: int, waited: float, failed: int
) -> None:
    moved = priority(start, depth, waited, failed) - start - 10 * depth
    assert -30 <= moved <= 50


@given(bases, depths, waits, waits, failures)
def test_who_waits_longer_never_falls_behind(
    start: int, depth: int, waited: float, more: float, failed: int
) -> None:
    now = priority(start, depth, waited, failed)
    assert priority(start, depth, waited + more, failed) >= now


@given(bases, depths, waits, failures)
def test_another_failure_never_helps(
    start: int, depth: int, waited: float, failed: int
) -> None:
    now = priority(start, depth, waited, failed)
    assert priority(start, depth, waited, failed + 1) <= now


@given(depths, st.integers(0, 20), waits, failures)
def test_deeper_work_of_the_same_chain_comes_first_if_all_else_is_equal(
    depth: int, below: int, waited: float, failed: int
) -> None:
    deepest = depth + below + 1
    upper = priority(base(depth, deepest), depth, waited, failed)
    lower = priority(base(depth + 1, deepest), depth + 1, waited, failed)
    assert lower > upper
