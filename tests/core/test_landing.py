"""What a landing says: what happened, on which branch, and nothing if nothing did."""

import pytest

from looptasks.core.landing import landing_of
from looptasks.core.merge import (
    CheckFailed,
    Conflict,
    Dirty,
    Merged,
    NothingToMerge,
    Outcome,
)


@pytest.mark.parametrize(
    ("outcome", "state", "said"),
    [
        (None, "manual", "complete"),
        (Merged("0123456789abcdef"), "landed", "0123456789ab"),
        (Conflict(("f.txt", "g.txt"), ""), "blocked", "`f.txt`, `g.txt`"),
        (CheckFailed("`make`: no"), "blocked", "does not pass `make`: no"),
        (Dirty(("f.txt",), "`f.txt` is in the way"), "blocked", "is in the way"),
    ],
)
def test_a_landing_names_its_branches_and_what_came_of_it(
    outcome: Outcome | None, state: str, said: str
) -> None:
    landing = landing_of(outcome, "loop/s/result", "main")
    assert landing.state == state
    assert said in landing.reason
    assert "`main`" in landing.reason or "`loop/s/result`" in landing.reason


def test_a_landing_of_nothing_is_silent() -> None:
    assert landing_of(NothingToMerge(), "loop/s/result", "main") == ("nothing", "", "")
