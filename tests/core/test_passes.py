"""Passes follow each other, each when the one before is validated."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.completion import Evidence
from looptasks.core.count import counted
from looptasks.core.iteration import Iteration
from looptasks.core.passes import all_passes, pass_at, standing
from looptasks.core.pipeline import Loop
from looptasks.core.sight import Sight
from looptasks.core.step import Iterate, Stop, completion
from tests.support.recorded import a_loop, an_iteration

FAILED = {"command": "make", "exit_code": 2}
PASSED = {"command": "make", "exit_code": 0}


def passing(*names: str, limits: int = 0, **settings: Any) -> Loop:
    passes = [{"name": name, **({"max": limits} if limits else {})} for name in names]
    return a_loop(passes=passes, **settings)


def ran(loop: Loop, checks: list[bool | None]) -> list[Iteration]:
    """Return a history whose iterations belonged to the passes that were due."""
    history: list[Iteration] = []
    for number, good in enumerate(checks, 1):
        check = None if good is None else PASSED if good else FAILED
        item = "" if loop.items else pass_at(loop, history)
        history.append(an_iteration(number, item=item, validation=check))
    return history


checks = st.lists(st.sampled_from([True, False, None]), max_size=12)


@given(st.integers(1, 4), st.integers(0, 3), checks, st.booleans())
def test_passes_go_as_if_each_was_counted_by_hand(
    count: int, limit: int, outcomes: list[bool | None], items: bool
) -> None:
    names = [f"p{n}" for n in range(count)]
    loop = passing(
        *names, limits=limit, max_iterations=0, items=["i"] if items else None
    )
    history: list[Iteration] = []
    place = tries = 0
    for good in [*outcomes, None]:
        step = completion(loop, history, Sight(), all_passes)
        if place == count:
            assert step == Stop("complete", f"all {counted(count, 'pass')} validated")
            return
        if limit and tries == limit:
            assert isinstance(step, Stop)
            assert step.status == "failed"
            assert f"pass `p{place}` reached its limit of {limit}" in step.reason
            assert "raise its `max`" in step.reason
            return
        assert isinstance(step, Iterate)
        assert step.number == len(history) + 1
        assert pass_at(loop, history) == f"p{place}"
        assert standing(loop, history)[1:] == (place, tries)
        check = None if good is None else PASSED if good else FAILED
        item = "i" if items else f"p{place}"
        number = len(history) + 1
        history.append(an_iteration(number, item=item, validation=check))
        tries += 1
        if good is not False:
            place, tries = place + 1, 0


@given(st.integers(1, 3), checks)
def test_the_limit_in_all_holds_too(limit: int, outcomes: list[bool | None]) -> None:
    loop = passing("a", "b", "c", "d", max_iterations=limit)
    history = ran(loop, outcomes)
    step = completion(loop, history, Sight(), all_passes)
    done = standing(loop, history).current is None
    if len(history) >= limit and not done:
        assert isinstance(step, Stop)
        assert step.status == "failed"
        assert f"the limit of {counted(limit, 'iteration')}" in step.reason


def test_a_pass_that_is_added_later_has_its_turn() -> None:
    history = ran(passing("draft", "review"), [None, None])
    assert pass_at(passing("draft", "order", "review"), history) == "order"


def test_an_iteration_after_the_last_pass_belongs_to_it() -> None:
    loop = passing("draft", "review")
    history = ran(loop, [True, True, False])
    assert [i.item for i in history] == ["draft", "review", "review"]
    step = completion(loop, history, Sight(), all_passes)
    assert isinstance(step, Iterate)
    assert step.reason == "`make` fails"


def test_without_passes_there_is_none() -> None:
    assert pass_at(a_loop(), [an_iteration()]) == ""


def test_the_reason_names_the_pass_and_what_it_lacks() -> None:
    loop = passing("draft", "review")
    found = all_passes(loop, ran(loop, [True, False]), Evidence())
    assert found.reason == (
        "1 of 2 passes validated, next `review`: `make` failed with exit code 2"
    )
