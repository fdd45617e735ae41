"""A stage's next step follows from record and sight, with its reason."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.completion import RULES, Evidence
from looptasks.core.record import SessionRecord
from looptasks.core.sight import Sight, staleness
from looptasks.core.spending import Spending
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate, Means, Restart, Stop, first_step, next_step
from tests.support.recorded import a_loop, attempt_event, event, iteration_event

UNLIMITED, NOTHING = Means(), Sight()


def record(count: int, **changes: Any) -> StageRecord:
    session = SessionRecord()
    inputs = changes.pop("stage_inputs", {})
    session.apply(event("stage", stage="work", inputs=inputs))
    for number in range(1, count + 1):
        session.apply(iteration_event(number, **changes))
    return session.stage("work")


def step(
    loop: Any, stage: StageRecord, sight: Sight = NOTHING, means: Means = UNLIMITED
) -> Any:
    return next_step(loop, stage, sight, means, RULES[loop.completion])


@given(st.integers(0, 6), st.integers(1, 6))
def test_a_fixed_number_is_counted_to_and_no_further(done: int, limit: int) -> None:
    found = step(a_loop(max_iterations=limit), record(done))
    if done < limit:
        assert isinstance(found, Iterate)
        assert found.number == done + 1
    else:
        assert isinstance(found, Stop)
        assert found.status == "complete"


@given(st.integers(0, 8), st.integers(0, 4), st.booleans(), st.booleans())
def test_a_stage_is_complete_only_when_rule_targets_and_check_agree(
    done: int, least: int, valid: bool, written: bool
) -> None:
    loop = a_loop(
        completion="plateau", min_iterations=least, max_iterations=0, validate="make"
    )
    check = {"command": "make", "exit_code": 0 if valid else 1}
    stage = record(done, parsed={"plateau": "yes"}, validation=check)
    found = step(loop, stage, Sight(missing=() if written else ("docs/plan.md",)))
    complete = done >= max(least, 2) and valid and written
    assert isinstance(found, Stop) == complete


def test_the_limit_is_a_failure_that_says_what_is_missing() -> None:
    loop = a_loop(completion="validated", validate="make", max_iterations=2)
    found = step(loop, record(2, validation={"command": "make", "exit_code": 7}))
    assert found.status == "failed"
    assert found.reason == (
        "reached the limit of 2 iterations: `make` failed with exit code 7"
    )
    assert found.fix == "max=4"


def test_no_limit_is_no_limit() -> None:
    loop = a_loop(completion="validated", validate="make", max_iterations=0)
    found = step(loop, record(500, validation={"command": "make", "exit_code": 7}))
    assert found.number == 501


def test_items_come_in_their_order() -> None:
    loop = a_loop(completion="all-items", items=["a", "b", "c"])
    evidence = Evidence(items=("a", "b", "c"))
    found = step(loop, record(1, item="b"), Sight(evidence=evidence))
    assert (found.number, found.item) == (2, "a")


def test_a_forgotten_iteration_is_repeated_and_nothing_behind_it_counts() -> None:
    stage = record(3)
    stage.forget(2, "asked to forget it")
    found = step(a_loop(max_iterations=3), stage)
    assert found == Iterate(2, "asked to forget it", "")


def test_what_came_out_differently_supersedes_all_that_followed() -> None:
    session = SessionRecord()
    session.apply_all([iteration_event(n) for n in (1, 2, 3)])
    session.apply(iteration_event(2, result="new"))
    found = step(a_loop(max_iterations=3), session.stage("work"))
    assert found == Restart(2, ("iteration 2 came out differently",))


@pytest.mark.parametrize(
    ("means", "settings", "status"),
    [
        (Means(signal="pause was asked for"), {}, "paused"),
        (Means(spent=Spending(5.0, 1), budget_usd=5.0), {}, "waiting"),
        (Means(), {"budget_usd": 1.0}, "waiting"),
        (Means(), {"time_limit": 2}, "failed"),
    ],
)
def test_work_that_is_due_is_held_back(
    means: Means, settings: dict[str, Any], status: str
) -> None:
    stage = record(2, cost_usd=0.5, seconds=1.0)
    loop = a_loop(max_iterations=3, **settings)
    found = step(loop, stage, means=means)
    assert isinstance(found, Stop)
    assert found.status == status
    stage.forget(1, "so")
    assert step(loop, stage, means=means).status == status


def test_a_complete_stage_is_not_held_back() -> None:
    found = step(a_loop(max_iterations=2), record(2), means=Means(signal="pause"))
    assert found.status == "complete"


def test_a_loop_in_which_nothing_moves_is_stopped() -> None:
    loop = a_loop(completion="validated", validate="make", no_progress=3)
    still = {"progress": False, "validation": {"command": "make", "exit_code": 1}}
    assert isinstance(step(loop, record(2, **still)), Iterate)
    assert step(loop, record(3, **still)).status == "failed"
    assert isinstance(step(loop, record(3, **still), Sight(since=1)), Iterate)


digests = st.dictionaries(
    st.sampled_from(["a", "b", "prompt", "config"]), st.text(min_size=1)
)
choices = st.sets(st.sampled_from(["inputs", "prompt", "config"]))


@given(digests, digests, choices)
def test_a_stage_is_stale_when_something_it_rests_on_differs(
    before: dict[str, str], now: dict[str, str], restart_on: set[str]
) -> None:
    loop = a_loop(restart_on=sorted(restart_on))
    stage = record(1, stage_inputs=before)
    differing = {n for n in {*before, *now} if before.get(n) != now.get(n)}
    kinds = {n if n in ("prompt", "config") else "inputs" for n in differing}
    found = first_step(loop, stage, Sight(inputs=now))
    assert (found is not None) == bool(kinds & restart_on)
    if found is not None:
        assert found.keep == 0
        assert len(found.reasons) == sum(
            (n if n in ("prompt", "config") else "inputs") in restart_on
            for n in differing
        )


@given(st.dictionaries(st.text(), st.text(min_size=1)))
def test_a_file_that_the_session_itself_left_so_is_not_stale(
    reads: dict[str, str],
) -> None:
    sight = Sight(reads=reads, known_reads=reads)
    assert staleness(a_loop(), record(1), sight) == ()


def test_each_change_is_named() -> None:
    sight = Sight(inputs={"b": "2", "c": "1"})
    found = staleness(a_loop(), record(1, stage_inputs={"a": "1", "b": "1"}), sight)
    assert found == ("input `a` is gone", "input `b` changed", "input `c` appeared")


def test_a_stage_that_never_ran_has_nothing_that_could_be_stale() -> None:
    sight = Sight(inputs={"a": "2"}, forced=True)
    assert first_step(a_loop(), StageRecord("work"), sight) is None


def test_failed_attempts_of_other_inputs_do_not_count_against_new_ones() -> None:
    session = SessionRecord()
    session.apply(event("stage", stage="work", inputs={"a": "1"}))
    session.apply(attempt_event(1))
    found = first_step(a_loop(), session.stage("work"), Sight(inputs={"a": "2"}))
    assert found == Restart(0, ("input `a` changed",))
