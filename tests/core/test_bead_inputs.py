"""A bead's inputs: what its work rests on is settled when the work begins."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.bead_inputs import as_begun
from looptasks.core.stage_record import StageRecord

NAMES = st.lists(st.sampled_from("abcd"), unique=True)


def output(bead: str) -> str:
    """Return where a bead's outcome is."""
    return f"beads/{bead}/output/"


def seen(blockers: Sequence[str], **changed: str) -> dict[str, str]:
    """Return the inputs that a look finds: the bead, and its blockers' outcomes."""
    files = {f"{output(b)}output.md": changed.get(b, f"of {b}") for b in blockers}
    return {"bead": "asked", **files}


def begun(blockers: Sequence[str]) -> StageRecord:
    """Return the record of a bead that began with these blockers."""
    record = StageRecord("beads/x")
    record.inputs = as_begun(record, seen(blockers), blockers, output)
    record.started_at = "2026-01-01T00:00:00Z"
    return record


@given(NAMES, NAMES)
def test_other_blockers_change_nothing_once_a_bead_has_begun(
    first: list[str], later: list[str]
) -> None:
    record = begun(first)
    assert as_begun(record, seen(later), later, output) == record.inputs


@given(NAMES, NAMES)
def test_a_changed_outcome_counts_of_those_it_began_with_and_still_waits_for(
    first: list[str], later: list[str]
) -> None:
    record = begun(first)
    for bead in later:
        now = as_begun(record, seen(later, **{bead: "new"}), later, output)
        assert (now != record.inputs) == (bead in first)


@given(NAMES)
def test_a_ledger_without_marks_knows_its_blockers_by_their_outcomes(
    first: list[str],
) -> None:
    record = begun([])
    record.inputs = seen(first)
    assert as_begun(record, seen(first), first, output) == record.inputs
