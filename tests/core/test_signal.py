"""Signals: which word holds for which stage."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.selector import Subject
from looptasks.core.signal import Signals

A, B = Subject("a"), Subject("b", frozenset({"a"}))


def after(*words: str, **more: Any) -> Signals:
    """Return the signals after `pause stage:a` and the like, one line each."""
    signals = Signals()
    for line, text in enumerate(words, 1):
        word, _, selector = text.partition(" ")
        event = {"signal": word, "selector": selector, "by": "x", **more}
        signals = signals.given(event, line)
    return signals


def held(signals: Signals, *, stops: bool = True) -> str:
    """Return the names of the stages that are held."""
    subjects = (s for s in (A, B) if signals.asked(s, stops=stops))
    return "".join(s.name for s in subjects)


def test_a_signal_holds_those_that_it_is_meant_for() -> None:
    assert held(after("pause")) == "ab"
    assert held(after("pause stage:a")) == "a"
    assert held(after("pause descendants:a")) == "b"
    assert held(after("stop stage:b")) == "b"


def test_a_resume_takes_back_what_matches() -> None:
    assert held(after("pause stage:a", "pause stage:b", "resume stage:a")) == "b"
    assert held(after("pause stage:a", "pause stage:b", "resume")) == ""
    assert held(after("pause", "resume stage:a")) == "b"
    assert held(after("pause", "resume descendants:a", "pause stage:b")) == "ab"


def test_what_is_taken_back_leaves_nothing_behind() -> None:
    assert after("pause stage:a", "resume stage:a") == Signals()
    assert after("pause", "resume") == Signals()
    assert after("resume stage:a") == Signals()


def test_a_stop_takes_back_no_pause() -> None:
    signals = after("pause", "stop")
    assert held(signals.without_stops()) == "ab"
    assert held(signals, stops=False) == "ab"


def test_a_stop_is_over_with_its_run() -> None:
    assert after("stop", "stop stage:a").without_stops() == Signals()


def test_a_status_holds_those_that_stood_like_that() -> None:
    signals = after("pause status:running", stages=["a"])
    assert held(signals) == "a"


def test_resuming_all_that_is_paused_takes_back_the_pause_of_one() -> None:
    paused = after("pause stage:a")
    event = {"signal": "resume", "selector": "status:paused", "stages": ["a"]}
    assert paused.given(event, 2) == Signals()


def test_a_signal_of_an_older_version_means_the_whole_session() -> None:
    assert held(Signals().given({"signal": "pause"}, 1)) == "ab"


def test_whoever_acknowledges_is_named_once() -> None:
    signals = after("pause", "pause stage:a")
    for _ in range(2):
        signals = signals.acknowledged({"stage": "a", "line": 2})
    assert [s.acknowledged for s in signals.standing] == [(), ("a",)]


def test_the_command_that_goes_on_names_the_one_selector_there_is() -> None:
    assert after("pause stage:a").resuming("s") == "doit resume stage:a session=s"
    assert after("pause").resuming("s") == "doit resume session=s"
    both = after("pause stage:a", "pause stage:b")
    assert both.resuming("s") == "doit resume session=s"
    assert after("stop").resuming("s") == ""


words = st.sampled_from(["pause", "resume", "stop"])
selectors = st.sampled_from(["", " stage:a", " stage:b", " descendants:a"])


@given(st.lists(st.tuples(words, selectors).map("".join), max_size=8))
def test_the_last_word_for_a_stage_holds(given_words: list[str]) -> None:
    meant = {"": "ab", " stage:a": "a", " stage:b": "b", " descendants:a": "b"}
    expected = ""
    for name in "ab":
        last = ""
        for text in given_words:
            word, space, selector = text.partition(" ")
            last = word if name in meant[space + selector] else last
        expected += name if last in ("pause", "stop") else ""
    assert held(after(*given_words)) == expected
