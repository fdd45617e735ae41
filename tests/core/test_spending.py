"""Spending adds up, and what is unknown is never taken for nothing."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.spending import Spending

costs = st.one_of(st.none(), st.integers(0, 400).map(lambda cents: cents / 4))
tokens = st.one_of(
    st.none(),
    st.fixed_dictionaries({"input": st.integers(0, 9), "output": st.integers(0, 9)}),
)
calls = st.lists(st.tuples(costs, tokens, st.integers(0, 9)), max_size=6)


def spent(made: list[tuple[Any, Any, int]]) -> Spending:
    total = Spending()
    for cost, told, seconds in made:
        total = total.add(cost, told, seconds)
    return total


@given(calls, calls)
def test_two_spendings_together_are_all_calls_together(first: Any, second: Any) -> None:
    assert spent(first).plus(spent(second)) == spent(first + second)


@given(calls)
def test_a_cost_is_known_only_when_every_call_told_it(made: Any) -> None:
    known = bool(made) and all(cost is not None for cost, _, _ in made)
    assert (spent(made).cost is not None) == known
    if known:
        assert spent(made).cost == sum(cost for cost, _, _ in made)


@given(calls)
def test_tokens_are_known_only_when_every_call_told_them(made: Any) -> None:
    known = bool(made) and all(told is not None for _, told, _ in made)
    assert (spent(made).tokens is not None) == known


def test_words_never_claim_a_zero_that_is_not_known() -> None:
    assert Spending().spoken() == "no cost yet"
    assert Spending().add(None, None, 1).spoken() == "cost unknown"
    assert Spending().add(0.0, None, 1).spoken() == "$0.00"
    assert Spending().add(0.5, None, 1).add(None, None, 1).spoken() == (
        "$0.50 + 1 unknown"
    )
