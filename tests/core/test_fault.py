"""Faults fall under the right rule, by their status first and their words second."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.fault import judged
from looptasks.core.reading import Fault


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("Invalid API key · Please run /login"), "error"),
        (Fault("nope", 401), "error"),
        (Fault("nope", 403), "error"),
        (Fault("nope", 404), "error"),
        (Fault("prompt is too long: 250000 tokens > 200000 maximum", 400), "error"),
        (Fault("tools.0: bad", 400), "error"),
        (Fault("You've hit your limit · resets 3pm (Europe/Berlin)"), "limit"),
        (Fault("Claude AI usage limit reached|1795000000"), "limit"),
        (Fault("You exceeded your current quota: insufficient_quota", 429), "limit"),
        (Fault("Your credit balance is too low", 400), "limit"),
        (Fault("slow down", 429), "limit"),
        (Fault("Overloaded", 529), "transient"),
        (Fault("fetch failed"), "transient"),
        (Fault("nope", 500), "transient"),
        (Fault("error: unknown option '--flag'"), "error"),
        (Fault("", None, "error_max_budget_usd"), "error"),
        (Fault("", None, "error_max_turns"), "error"),
    ],
)
def test_a_fault_is_judged_by_what_mends_it(fault: Fault, expected: str) -> None:
    assert judged(fault)[0] == expected


@given(st.text(), st.none() | st.integers(0, 999), st.text(max_size=20))
def test_no_fault_is_ever_called_good(
    words: str, status: int | None, kind: str
) -> None:
    found, reason = judged(Fault(words, status, kind))
    assert found in ("error", "transient", "limit", "garbled", "interrupted")
    assert reason
    assert len(reason) < 700
