"""Text of beads: JSON, times and lines, compared with the standard library."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core import json_text
from looptasks.core.bead_id import child_id, new_id
from looptasks.core.bead_lines import board_from, text_of
from looptasks.core.instant import instant
from looptasks.errors import StorageError, UsageError

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_our_json_is_the_json_of_the_standard_library(value: object) -> None:
    assert json_text.line(value) == json.dumps(
        value, separators=(",", ":"), ensure_ascii=False
    )
    assert json_text.block(value) == json.dumps(value, indent=2, ensure_ascii=False)
    assert json_text.read(json.dumps(value)) == value
    assert json_text.read(f" {json.dumps(value, indent=1)}\n") == value


@given(st.text(alphabet='{}[]":,1tn \\x', max_size=12))
def test_what_is_not_json_is_refused_as_the_standard_library_does(text: str) -> None:
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        with pytest.raises(ValueError, match=r".*"):
            json_text.read(text)
    else:
        assert json_text.read(text) == value


@given(
    st.datetimes(),
    st.integers(-12 * 60, 14 * 60),
)
def test_an_instant_is_what_datetime_says(naive: datetime, offset: int) -> None:
    when = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    micros = (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert instant(when.isoformat()) == micros * 1000


@pytest.mark.parametrize("text", ["", "soon", "2026-01-01", "2026-13-01T00:00:00Z", 7])
def test_what_is_no_time_is_no_instant(text: object) -> None:
    assert instant(text) is None


LINES = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a-1", "a-2", "a-3", 'a"4', "é-5"]),
        "title": st.text(max_size=20) | st.just(',"status":"closed"'),
    },
    optional={
        "metadata": st.just({"x": 1, "status": "closed"}),
        "status": st.sampled_from(["open", "closed", "pinned"]),
        "notes": st.text(alphabet='{}":[] \\', max_size=6),
        "labels": st.just(["loop/s"]),
        "dependencies": st.just([{"depends_on_id": "a-1", "type": "parent-child"}]),
    },
)


@given(st.lists(LINES, unique_by=lambda b: str(b["id"])), st.booleans())
def test_a_board_knows_closed_beads_as_if_it_had_read_them(
    beads: list[dict[str, object]], tight: bool
) -> None:
    separators = (",", ":") if tight else (", ", ": ")
    lines = [json.dumps(bead, separators=separators) for bead in beads]
    board = board_from("".join(f"{line}\n" for line in lines), "here")
    for bead in beads:
        assert board.status(str(bead["id"])) == bead.get("status", "open")
        assert board.get(str(bead["id"])) == bead
    assert sorted(text_of(board).splitlines()) == sorted(
        line for text in lines for line in text.splitlines()
    )
    assert [b["id"] for b in board.labelled("loop/s")] == sorted(
        str(bead["id"]) for bead in beads if "labels" in bead
    )


@given(LINES, st.data())
def test_a_torn_line_is_an_error_with_its_number(
    bead: dict[str, object], data: st.DataObject
) -> None:
    line = json.dumps(bead, separators=(",", ":"))
    torn = line[: data.draw(st.integers(1, len(line) - 1))]
    with pytest.raises(StorageError, match="line 2 "):
        _read_all(f'{{"id":"z-1","title":"z"}}\n{torn}\n')


def _read_all(text: str) -> list[object]:
    return list(board_from(text, "here").all())


def test_a_conflict_of_git_is_an_error_that_says_so() -> None:
    text = '<<<<<<< HEAD\n{"id":"a-1"}\n=======\n{"id":"a-1"}\n>>>>>>> other\n'
    with pytest.raises(StorageError, match="line 1 is a conflict marker of git"):
        board_from(text, "here")


def test_two_lines_of_one_id_are_an_error() -> None:
    with pytest.raises(StorageError, match="lines 1 and 2 are both `a-1`"):
        board_from('{"id":"a-1"}\n{"id":"a-1"}\n', "here")


def test_lines_of_other_types_are_kept_and_ignored() -> None:
    text = '{"_type":"memory","key":"x"}\n{"_type":"issue","id":"a-1","title":"t"}\n'
    board = board_from(text, "here")
    assert board.ids() == ["a-1"]
    assert sorted(text_of(board).splitlines()) == sorted(text.splitlines())


@given(st.sets(st.integers(0, 36**3 - 1), max_size=40), st.integers(0, 2**64))
def test_a_new_id_is_free_and_three_to_eight_long(
    taken: set[int], randomness: int
) -> None:
    known = {new_id("p", set(), number) for number in taken}
    made = new_id("p", known, randomness)
    assert made not in known
    assert 3 <= len(made.removeprefix("p-")) <= 8


def test_ids_grow_with_the_number_of_beads() -> None:
    lengths = [
        len(new_id("p", {str(n) for n in range(count)}, 7)) - 2
        for count in (0, 200, 1000, 10_000)
    ]
    assert lengths == [3, 4, 5, 6]


def test_children_go_three_levels_deep_and_no_deeper() -> None:
    assert child_id("p-a.1.2", []) == "p-a.1.2.1"
    with pytest.raises(UsageError, match="3 levels deep"):
        child_id("p-a.1.2.3", [])
