"""A judge's answer: one clear verdict counts, everything else is a rejection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.judgement import Judgement, judgement


@pytest.mark.parametrize(
    ("answer", "verdict", "reason"),
    [
        ("APPROVED", "approved", ""),
        ("I looked.\n\n**APPROVED**\n", "approved", ""),
        ("- `APPROVED`: all there", "approved", "all there"),
        ("## REJECTED - no tests\nmore", "rejected", "no tests"),
        ("> **REJECTED**: *no tests*", "rejected", "no tests"),
        ("APPROVED\n\nAPPROVED: the second counts", "approved", "the second counts"),
        ("", "unclear", "no line begins with APPROVED or REJECTED"),
        ("It is approved.", "unclear", "no line begins with APPROVED or REJECTED"),
        ("approved", "unclear", "no line begins with APPROVED or REJECTED"),
        ("APPROVEDLY so", "unclear", "no line begins with APPROVED or REJECTED"),
        ("NOT APPROVED", "unclear", "no line begins with APPROVED or REJECTED"),
        ("APPROVED or REJECTED?", "unclear", "it says both APPROVED and REJECTED"),
        ("REJECTED\nAPPROVED", "unclear", "it says both APPROVED and REJECTED"),
        ("APPROVED\nREJECTED", "unclear", "it says both APPROVED and REJECTED"),
    ],
)
def test_the_verdict_is_read_off_the_lines(
    answer: str, verdict: str, reason: str
) -> None:
    assert judgement([answer]) == (verdict, reason)


@given(st.lists(st.sampled_from(["so", "APPROVED: a", "* REJECTED b", "x APPROVED"])))
def test_only_one_word_and_that_alone_is_clear(lines: list[str]) -> None:
    begins = {line.lstrip("* ").split()[0].strip(":") for line in lines}
    said = begins & {"APPROVED", "REJECTED"}
    wanted = said.pop().lower() if len(said) == 1 else "unclear"
    assert judgement([f"{line}\n" for line in lines]).verdict == wanted
    assert judgement(["\n".join(lines)]).verdict == wanted


def test_it_is_said_in_a_line() -> None:
    assert Judgement("approved", "").spoken() == "the judge approved it"
    assert Judgement("rejected", "why").spoken() == "the judge rejected it: why"
    assert "unclear: so" in Judgement("unclear", "so").spoken()
    assert not Judgement("unclear", "so").approved
