"""A glimpse: what one line says of an iteration that runs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.agent import Tokens
from looptasks.core.glimpse import Glimpse, doing, last_line, spent
from looptasks.core.reading import Reading


def test_the_last_line_that_says_something_is_shown() -> None:
    assert last_line(Glimpse(1, tail="one\ntwo\n\n   \n")) == "two"
    assert last_line(Glimpse(1, tail="")) == ""


def test_of_a_progress_bar_only_its_newest_state_is_shown() -> None:
    assert last_line(Glimpse(1, tail="start\n10%\r20%\r\x1b[32m30%\x1b[0m")) == "30%"


@given(st.text())
def test_the_last_line_is_one_line(tail: str) -> None:
    assert "\n" not in last_line(Glimpse(1, tail=tail, whole=False))


def test_a_word_whose_beginning_is_out_of_sight_is_not_shown() -> None:
    seen = Glimpse(1, tail="restofthekey9876 and more", whole=False)

    assert last_line(seen) == "and more"
    assert last_line(seen._replace(whole=True)) == "restofthekey9876 and more"


def test_a_private_key_does_not_show_its_last_line() -> None:
    tail = "writing\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF"

    assert last_line(Glimpse(1, tail=tail)) == "-----BEGIN PRIVATE KEY-----***"


EVENTS = [
    ("Reading the plan", {"message": {"content": [{"text": "Hm.\nReading the plan"}]}}),
    ("pytest -q", {"item": {"type": "command_execution", "command": "pytest -q"}}),
    ("notes.md", {"content": [{"name": "Write", "input": {"file_path": "notes.md"}}]}),
    ("export KEY_TOKEN=***", {"part": {"text": "export KEY_TOKEN=abc"}}),
    ("before", {"type": "system", "tools": ["Bash"]}),
    ("before", {"a": [[[[[[[[[[{"text": "too deep to look for"}]]]]]]]]]]}),
]


@pytest.mark.parametrize(("said", "event"), EVENTS)
def test_of_an_event_only_its_words_are_shown(said: str, event: object) -> None:
    tail = f"before\n{json.dumps(event)}\n" + '{"half an event": "te'

    assert last_line(Glimpse(1, tail=tail)) == said


def test_a_pause_is_said_before_the_first_attempt() -> None:
    assert doing(Glimpse(), 30, "") == "pause of 30 s"
    assert doing(Glimpse(), 0, "") == ""


def test_after_a_good_attempt_the_check_is_what_goes_on() -> None:
    seen = Glimpse(1, verdict="ok", tail="3 passed\n")

    assert doing(seen, 0, "pytest -q") == "checking: pytest -q  3 passed"
    assert doing(seen._replace(tail=""), 0, "pytest -q") == "checking: pytest -q"


def test_a_failed_attempt_is_said_while_the_next_one_waits() -> None:
    seen = Glimpse(2, verdict="timeout", tail="working")

    assert doing(seen, 3, "") == "attempt 2 failed (timeout), next one soon"


def test_a_known_secret_is_not_shown() -> None:
    assert doing(Glimpse(1, tail="it is hunter2!"), 0, "", ["hunter2"]) == "it is ***!"


@pytest.mark.parametrize(
    ("cost", "guess", "said"),
    [
        (None, None, "1.2k tokens"),
        (0.5, None, "1.2k tokens, $0.50"),
        (None, 0.25, "1.2k tokens, $0.25 (estimated)"),
        (0.0, 0.25, "1.2k tokens, $0.00"),
    ],
)
def test_a_guess_is_told_only_where_the_agent_tells_no_cost_and_as_a_guess(
    cost: float | None, guess: float | None, said: str
) -> None:
    told = Reading(tokens=Tokens(1000, 200), cost_usd=cost)

    assert spent(Glimpse(1, reading=told, guess=guess)) == said
