"""Session names: safe as folders, found by a part where that is clear."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.session import NAME, checked_name, find, new_name, slug
from looptasks.errors import UsageError

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)


@given(st.text())
def test_no_name_leads_out_of_its_folder(name: str) -> None:
    try:
        good = checked_name(name)
    except UsageError:
        return
    assert good == name
    assert "/" not in name
    assert not name.startswith(".")
    assert "\n" not in name
    assert 0 < len(name) <= 64


@given(names.filter(lambda name: name.lower() != "archive"))
def test_every_name_of_the_contract_is_accepted(name: str) -> None:
    assert checked_name(name) == name


BAD = ["", ".", "..", "../x", "a/b", "a\\b", "a b", "x" * 65, "-x", "_x", "é", "a\n"]


@pytest.mark.parametrize("name", [*BAD, "archive", "Archive"])
def test_a_bad_name_is_refused_also_where_a_part_would_do(name: str) -> None:
    with pytest.raises(UsageError, match="session"):
        checked_name(name)
    if name.lower() != "archive":
        with pytest.raises(UsageError, match="session"):
            find(name, ["001-the-only.one"])


@given(st.text(), st.lists(st.integers(0, 900)))
def test_a_new_name_is_new_short_and_can_be_a_name(
    goal: str, numbers: list[int]
) -> None:
    existing = [f"{number:03d}-some-goal" for number in numbers]
    name = new_name(goal, existing)
    assert name not in existing
    assert NAME.fullmatch(name)
    assert len(name) <= 40
    assert int(name[:3]) == max(numbers, default=0) + 1


@given(st.text())
def test_a_slug_has_one_to_five_keywords(goal: str) -> None:
    words = slug(goal).split("-")
    assert 1 <= len(words) <= 5
    assert all(re.fullmatch("[a-z0-9]+", word) for word in words)


def test_a_goal_of_dull_words_still_has_a_name() -> None:
    assert slug("Do it for us!") == "do-it-for-us"
    assert slug("§$%") == "goal"


def test_a_part_finds_the_one_session_that_has_it() -> None:
    existing = ["001-add-login", "002-mend-search", "plain-login-name"]
    assert find("login", existing) == "001-add-login"
    assert find("002", existing) == "002-mend-search"
    assert find("plain-login-name", existing) == "plain-login-name"


def test_a_part_of_a_plain_name_is_a_name_of_its_own() -> None:
    assert find("plain", ["plain-name"]) == "plain"


def test_an_ambiguous_part_lists_the_candidates() -> None:
    with pytest.raises(UsageError, match="`001-add-login`, `002-mend-login`"):
        find("login", ["002-mend-login", "001-add-login"])


def test_a_whole_name_is_never_ambiguous() -> None:
    assert find("001-a", ["001-a", "001-a-b"]) == "001-a"
