"""The completion rules say done exactly when they should."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.completion import (
    RULES,
    Deadlocked,
    Done,
    Evidence,
    NotYet,
    Waiting,
    Workload,
    pending_items,
    says_yes,
)
from looptasks.core.iteration import Iteration
from tests.support.recorded import a_loop, an_iteration

words = st.sampled_from(["yes", "Yes", "TRUE", "true", "no", "", "maybe", "yes and no"])
counts = st.integers(0, 20)


def saying(answers: Sequence[str]) -> list[Iteration]:
    return [
        an_iteration(number, parsed={"plateau": answer})
        for number, answer in enumerate(answers, 1)
    ]


def agreed_by_counting(answers: Sequence[str], consensus: int) -> bool:
    """Say it the slow way: some run of `consensus` words ends at the end, all yes."""
    if len(answers) < consensus:
        return False
    return all(
        answers[len(answers) - 1 - back].lower() in ("yes", "true")
        for back in range(consensus)
    )


@given(st.lists(words, max_size=8), st.integers(1, 5))
def test_a_plateau_is_reached_when_the_last_ones_all_say_yes(
    answers: list[str], consensus: int
) -> None:
    answer = RULES["plateau"](
        a_loop(completion="plateau", consensus=consensus), saying(answers), Evidence()
    )
    assert isinstance(answer, Done) == agreed_by_counting(answers, consensus)


@given(st.lists(words, min_size=1, max_size=6), st.integers(2, 5))
def test_one_agent_never_agrees_with_itself(answers: list[str], consensus: int) -> None:
    loop = a_loop(completion="plateau", consensus=consensus)
    last = saying(["no", "yes"])
    assert isinstance(RULES["plateau"](loop, last, Evidence()), NotYet)
    disagreeing = [*answers, "no", *["yes"] * (consensus - 1)]
    assert isinstance(RULES["plateau"](loop, saying(disagreeing), Evidence()), NotYet)


@pytest.mark.parametrize("word", ["yes", " TRUE ", "**yes**", "`true`", '"Yes".'])
def test_a_yes_is_understood_however_it_is_decorated(word: str) -> None:
    assert says_yes(word)


@pytest.mark.parametrize("word", ["", "no", "yes, but", "not true", "y", "1", "truely"])
def test_no_other_word_is_a_yes(word: str) -> None:
    assert not says_yes(word)


@given(counts, st.integers(1, 20))
def test_a_fixed_number_is_done_when_it_is_reached(done: int, limit: int) -> None:
    history = [an_iteration(number) for number in range(1, done + 1)]
    answer = RULES["fixed-n"](a_loop(max_iterations=limit), history, Evidence())
    assert isinstance(answer, Done) == (done >= limit)


@given(st.lists(st.text(), unique=True), st.data())
def test_every_item_gets_its_turn_and_none_a_second_one(
    items: list[str], data: st.DataObject
) -> None:
    done = data.draw(st.lists(st.sampled_from(items or ["x"]), max_size=10))
    history = [an_iteration(number, item=item) for number, item in enumerate(done, 1)]
    evidence = Evidence(items=tuple(items))
    left = pending_items(history, evidence.items)
    assert left == tuple(item for item in items if item not in done)
    answer = RULES["all-items"](a_loop(), history, evidence)
    assert isinstance(answer, Done) == (set(items) <= set(done))


@pytest.mark.parametrize(
    ("codes", "checked", "done"),
    [
        ([], None, False),
        ([], 1, False),
        ([], 0, True),
        ([1], 0, False),
        ([1, 0], 1, True),
        ([0, 1], 0, False),
    ],
)
def test_only_the_last_check_validates(
    codes: list[int], checked: int | None, done: bool
) -> None:
    history = [
        an_iteration(number, validation={"command": "make", "exit_code": code})
        for number, code in enumerate(codes, 1)
    ]
    loop = a_loop(completion="validated", validate="make")
    answer = RULES["validated"](loop, history, Evidence(checked=checked))
    assert isinstance(answer, Done) == done


@given(counts, counts, counts, counts)
def test_beads_are_done_waiting_or_deadlocked_never_two_of_them(
    closed: int, ready: int, busy: int, held: int
) -> None:
    workload = Workload(closed, ready, busy, held)
    answer = RULES["beads-empty"](a_loop(), [], Evidence(workload=workload))
    if ready + busy + held == 0:
        assert isinstance(answer, Done)
    elif ready:
        assert isinstance(answer, NotYet)
    else:
        assert isinstance(answer, Waiting if busy else Deadlocked)


def test_beads_are_not_done_when_nobody_asked_the_tracker() -> None:
    assert isinstance(RULES["beads-empty"](a_loop(), [], Evidence()), NotYet)
