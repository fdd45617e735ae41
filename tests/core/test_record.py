"""The record is a fold of the ledger: the same from any cut, cheap to continue."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.digest import MISSING
from looptasks.core.record import SessionRecord
from looptasks.core.spending import together
from looptasks.core.stage_record import StageRecord
from tests.support.recorded import attempt_event, event, iteration_event


def folded(events: list[Any]) -> SessionRecord:
    record = SessionRecord()
    record.apply_all(events)
    return record


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Return ledgers of one stage, the odd ones included."""
    events: list[Any] = [event("stage", stage="work", inputs={})]
    results = st.sampled_from(["a", "b", ""])
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(
            st.sampled_from(["iteration"] * 4 + ["attempt", "restart", "forget"])
        )
        number = draw(st.integers(1, 6))
        if kind == "iteration":
            links = {"previous": draw(results), "result": draw(results)}
            events.append(iteration_event(number, **links))
        elif kind == "attempt":
            events.append(attempt_event(number))
        elif kind == "restart":
            keep = draw(st.integers(0, 4))
            events.append(event("restart", stage="work", keep=keep, reason="new"))
        else:
            which = draw(st.sampled_from([None, number]))
            events.append(event("forget", stage="work", iteration=which, reason="so"))
    return events


def certified_from_scratch(stage: StageRecord) -> int:
    count = 0
    before = ""
    for index, iteration in enumerate(stage.iterations):
        if index + 1 in stage.forgotten or iteration.previous != before:
            break
        before = iteration.result
        count += 1
    return count


@given(histories())
def test_what_counts_is_the_same_when_asked_after_every_event(
    events: list[Any],
) -> None:
    record = SessionRecord()
    for happened in events:
        record.apply(happened)
        stage = record.stage("work")
        assert stage.certified() == certified_from_scratch(stage)


@given(histories(), st.integers(0, 12))
def test_a_record_can_be_continued_from_any_cut(events: list[Any], cut: int) -> None:
    record = folded(events[:cut])
    record.stage("work").certified()
    record.apply_all(events[cut:])
    whole = folded(events)
    assert vars(record.stage("work")) | {"_good": 0} == vars(whole.stage("work")) | {
        "_good": 0
    }
    assert record.stage("work").certified() == whole.stage("work").certified()


@given(histories())
def test_no_money_is_forgotten_whatever_is_superseded(events: list[Any]) -> None:
    paid = [{**e, "cost_usd": 0.5} for e in events]
    calls = sum(e["event"] in ("iteration", "attempt") for e in paid)
    assert folded(paid).spending().cost_usd == 0.5 * calls
    assert folded(paid).spending().calls == calls


def test_a_repeated_iteration_takes_the_place_of_the_first_one() -> None:
    record = folded([iteration_event(1), iteration_event(2), iteration_event(1)])
    assert [i.number for i in record.stage("work").iterations] == [1, 2]
    assert record.stage("work").certified() == 2


def test_a_repeated_iteration_that_came_out_differently_cuts_the_rest_off() -> None:
    record = folded([iteration_event(1), iteration_event(2)])
    record.apply(iteration_event(1, result="something else"))
    assert record.stage("work").certified() == 1


def test_an_iteration_whose_line_was_lost_does_not_make_the_next_one_count() -> None:
    record = folded([iteration_event(1), iteration_event(3)])
    assert record.stage("work").certified() == 1


def test_a_finished_iteration_clears_the_failed_attempts() -> None:
    record = folded([attempt_event(1), attempt_event(2)])
    assert len(record.stage("work").failures) == 2
    record.apply(iteration_event(1))
    assert record.stage("work").failures == []


def test_a_restart_begins_a_new_generation_without_the_old_work() -> None:
    events = [event("stage", stage="work", inputs={"a": "1"}), iteration_event(1)]
    record = folded([*events, event("restart", stage="work", keep=0, reason="new")])
    stage = record.stage("work")
    assert (stage.generation, stage.iterations, stage.started_at) == (1, [], None)
    assert (stage.status, stage.reason) == ("invalidated", "new")


def test_work_that_nobody_asks_for_any_more_is_archived_until_it_begins_anew() -> None:
    gone = event("restart", stage="work", keep=0, reason="gone", gone=True)
    record = folded([event("stage", stage="work", inputs={}), iteration_event(1), gone])
    assert record.stage("work").status == "archived"
    record.apply(event("stage", stage="work", inputs={}))
    assert record.stage("work").status == "running"


def test_what_a_session_has_spent_is_what_its_stages_have_spent() -> None:
    events = [attempt_event(1), iteration_event(1), attempt_event(2)]
    other = [{**iteration_event(1), "stage": "other"}]
    restart = event("restart", stage="work", keep=0, reason="new")
    record = folded([*events, *other, restart, iteration_event(1)])
    assert record.spending().calls == 5
    assert record.spending() == together(s.spending for s in record.stages.values())


def test_a_stop_signal_holds_until_the_next_run_and_a_pause_until_resumed() -> None:
    stop, pause = event("signal", signal="stop"), event("signal", signal="pause")
    run, resume = event("run", run="1"), event("signal", signal="resume")
    assert not folded([stop, run]).signals.standing
    assert folded([pause, run]).signals.pauses
    assert not folded([pause, run, resume]).signals.standing


def test_an_entry_that_is_asked_again_replaces_what_was_asked_before() -> None:
    first, second = event("entry", entry="loop:a"), event("entry", entry="loop:b")
    again = event("entry", entry="loop:a", goal="more")
    assert folded([first, second, again]).entries == [second, again]


@given(st.dictionaries(st.text(), st.integers()), st.text())
def test_what_a_newer_version_writes_is_passed_over(more: Any, kind: str) -> None:
    record = folded([{**more, "event": f"new {kind}"}])
    assert record.stages == {}


def test_a_file_is_known_as_the_stage_left_it_and_others_changed_it_since() -> None:
    left = iteration_event(1, "a", left={"f": "1"}, changed={"f": MISSING})
    by_b = iteration_event(1, "b", left={"f": "2"}, changed={"f": "1"})
    by_person_then_c = iteration_event(1, "c", left={"f": "9"}, changed={"f": "8"})
    record = folded([left])
    assert record.baseline("a", "f", frozenset()) == "1"
    record.apply(by_b)
    assert record.baseline("a", "f", frozenset()) == "2"
    assert record.baseline("a", "f", frozenset({"b"})) == "1"
    record.apply(by_person_then_c)
    assert record.baseline("a", "f", frozenset()) == "2"
