"""Selectors: which part of a session is meant."""

import pytest

from looptasks.core.selector import (
    Selector,
    Subject,
    refuse_unknown,
    selector_from,
)
from looptasks.errors import UsageError

PHASE = Subject("phase/a/x", frozenset({"plan", "spec/a"}))
REVIEW = Subject("review", frozenset({"plan", "spec", "phase"}))
BEAD = Subject("beads/ab-1", frozenset({"plan", "beads/ab-0"}), within="swarm")
PLAN = Subject("plan")


@pytest.mark.parametrize(
    ("text", "subject", "meant"),
    [
        ("stage:plan", PLAN, True),
        ("stage:pla", PLAN, False),
        ("loop:plan", PLAN, True),
        ("stage:phase", PHASE, True),
        ("stage:phase:a", PHASE, True),
        ("stage:phase:a:x", PHASE, True),
        ("stage:phase/a/x", PHASE, True),
        ("stage:phase:b", PHASE, False),
        ("stage:phas", PHASE, False),
        ("stage:spec:a", PHASE, False),
        ("descendants:plan", PHASE, True),
        ("descendants:stage:plan", PHASE, True),
        ("descendants:plan", PLAN, False),
        ("descendants:spec", PHASE, True),
        ("descendants:spec:a", PHASE, True),
        ("descendants:spec:b", PHASE, False),
        ("descendants:phase:a:x", PHASE, False),
        ("descendants:spec:b", REVIEW, True),
        ("descendants:review", REVIEW, False),
        ("bead:ab-1", BEAD, True),
        ("bead:ab-0", BEAD, False),
        ("stage:swarm", BEAD, True),
        ("stage:plan", BEAD, False),
        ("descendants:plan", BEAD, True),
    ],
)
def test_a_selector_means_what_it_says(
    text: str, subject: Subject, meant: bool
) -> None:
    assert selector_from(text).matches(subject) is meant


def test_no_selector_means_everything() -> None:
    assert all(Selector().matches(s) for s in (PHASE, REVIEW, BEAD, PLAN))


def test_a_status_means_what_stands_like_that() -> None:
    failed = selector_from("status:failed")
    assert failed.matches(PLAN, "failed")
    assert not failed.matches(PLAN, "running")


@pytest.mark.parametrize(
    "text", ["stage:spec:a", "stage:plan", "descendants:spec:a", "bead:a", ""]
)
def test_a_selector_is_written_as_it_was_read(text: str) -> None:
    read = selector_from(text) if text else Selector()
    assert read.text == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("stag:plan", "did you mean `stage`"),
        ("plan", "`plan` selects nothing"),
        ("stage:", "`stage:` selects nothing"),
        ("status:runing", "did you mean `running`"),
    ],
)
def test_what_selects_nothing_is_refused_with_a_suggestion(
    text: str, told: str
) -> None:
    with pytest.raises(UsageError) as caught:
        selector_from(text)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("stage:plam", "did you mean `plan`"),
        ("descendants:spec:apo", "did you mean `spec:api`"),
        ("bead:ab-2", "did you mean `ab-1`"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_a_suggestion(
    text: str, told: str
) -> None:
    with pytest.raises(UsageError) as caught:
        refuse_unknown(selector_from(text), ["plan", "spec", "spec/api"], ["ab-1"])
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "text", ["stage:plan", "stage:spec:api", "descendants:spec", "bead:ab-1"]
)
def test_a_name_that_is_there_is_not_refused(text: str) -> None:
    refuse_unknown(selector_from(text), ["plan", "spec", "spec/api"], ["ab-1"])
