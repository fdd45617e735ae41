"""Requests: command line over environment over memory, and nothing unread."""

import pytest

from looptasks.core.request import Request, remembered, request_from, unread
from looptasks.errors import UsageError


def test_the_command_line_wins_over_the_environment() -> None:
    environment = {"LOOP_SESSION": "env", "LOOP_MODEL": "small", "LOOP_BUDGET": "3"}
    found = request_from({"session": "auth", "max": "4"}, environment)
    assert (found.session, found.model, found.budget) == ("auth", "small", 3.0)
    assert found.max == 4


def test_an_empty_environment_variable_says_nothing() -> None:
    assert request_from({}, {"LOOP_SESSION": ""}).session is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max", "x"),
        ("max", "-1"),
        ("max", "1.5"),
        ("max", ""),
        ("budget", "x"),
        ("budget", "-1"),
        ("budget", "nan"),
        ("budget", "inf"),
        ("force", "perhaps"),
        ("now", "2"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_an_example(
    name: str, text: str
) -> None:
    with pytest.raises(UsageError) as caught:
        request_from({name: text}, {})
    assert f"`{name}` is `{text}`" in str(caught.value)
    assert f"fix: write `{name}=" in str(caught.value)


def test_dollars_may_have_their_sign() -> None:
    assert request_from({"budget": "$5.50"}, {}).budget == 5.5


@pytest.mark.parametrize("yes", ["yes", "TRUE", "1", "on"])
def test_a_yes_may_be_written_in_many_ways(yes: str) -> None:
    assert request_from({"force": yes}, {}).force
    assert not request_from({"force": "no"}, {}).force


def test_what_was_asked_before_fills_gaps_only() -> None:
    asked = Request(session="auth", max=3)
    before = {"max": 9, "goal": "old", "force": True, "session": "other"}
    found = remembered(asked, before)
    assert (found.max, found.goal, found.force) == (3, "old", False)
    assert found.session == "auth"


def test_a_session_remembers_what_it_was_asked_but_not_how() -> None:
    asked = Request(session="auth", max=3, force=True, reason="so", record="folder")
    assert asked.kept() == {"max": 3}


@pytest.mark.parametrize(
    ("request_", "agent"),
    [
        (Request(agent="claude"), "claude"),
        (Request(agent="./my-agent"), {"command": "./my-agent"}),
        (Request(agent="my-agent --flag"), {"command": "my-agent --flag"}),
        (Request(agent="replay", replay="tape"), {"replay": "tape"}),
        (Request(replay="tape"), {"replay": "tape"}),
        (Request(agent="claude", replay="tape"), "claude"),
    ],
)
def test_an_agent_is_a_name_a_command_or_a_recording(
    request_: Request, agent: object
) -> None:
    assert request_.settings()["agent"] == agent


def test_an_unread_variable_is_told_with_a_suggestion() -> None:
    error = str(unread("sesion", "auth"))
    assert "nobody reads the variable `sesion`" in error
    assert "did you mean `session`?" in error
