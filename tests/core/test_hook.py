"""Hooks: a reminder that is always valid JSON, and settings that lose nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.hook import stop_answer, with_hooks, without_hooks

COMMANDS = {"Stop": "x -m doit hooks stop", "SessionStart": "x -m doit hooks start"}
PENDING = [("ab-1", "Log in"), ("ab-2", "Log out")]


@pytest.mark.parametrize(
    ("asked", "pending", "blocks"),
    [
        ({}, [], False),
        ({}, PENDING, True),
        ({"stop_hook_active": False}, PENDING, True),
        ({"stop_hook_active": True}, PENDING, False),
        ({"stop_hook_active": True}, [], False),
    ],
)
def test_a_stop_is_held_up_only_once_and_only_for_pending_beads(
    asked: dict[str, Any], pending: list[tuple[str, str]], blocks: bool
) -> None:
    reply = stop_answer(asked, pending)
    assert (reply is not None) == blocks


def test_only_the_first_three_beads_are_named() -> None:
    reply = stop_answer({}, [(f"ab-{n}", f"title {n}") for n in range(1, 6)])
    assert reply is not None
    assert "ab-3: title 3" in reply["reason"]
    assert "ab-4" not in reply["reason"]
    assert "2 more" in reply["reason"]


@given(st.text())
def test_the_answer_is_json_whatever_a_title_contains(title: str) -> None:
    reply = stop_answer({}, [("ab-1", title)])
    assert json.loads(json.dumps(reply))["decision"] == "block"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=6), json_values),
    st.dictionaries(
        st.sampled_from(["Stop", "PreToolUse"]),
        st.lists(
            st.fixed_dictionaries(
                {
                    "hooks": st.lists(
                        st.fixed_dictionaries({"command": st.text(max_size=9)}),
                        min_size=1,
                    )
                }
            ),
            min_size=1,
            max_size=2,
        ),
        min_size=1,
    ),
)
def test_installing_and_removing_leaves_everything_else_as_it_was(
    rest: dict[str, Any], hooks: dict[str, Any]
) -> None:
    before = {**rest, "hooks": hooks}
    installed = with_hooks(before, COMMANDS)
    assert with_hooks(installed, COMMANDS) == installed
    assert without_hooks(installed) == before


def test_removing_hooks_that_were_the_only_ones_removes_the_key() -> None:
    assert without_hooks(with_hooks({"model": "x"}, COMMANDS)) == {"model": "x"}
