"""What a merge says: short enough for a prompt, and with every file named."""

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.merge import conflict, dirty, merge_message


@given(st.text(max_size=80))
def test_a_message_is_one_line(title: str) -> None:
    message = merge_message("bead ab-1", "auth", title)
    assert len(message.splitlines()) == 1
    assert message.startswith("Merge bead ab-1")
    assert message.endswith("(loop auth)")


def test_a_message_without_title_has_no_colon() -> None:
    assert merge_message("bead ab-1", "auth") == "Merge bead ab-1 (loop auth)"


def test_long_hunks_are_cut_and_said_so() -> None:
    text = conflict("loop/s/a", "main", {"f": "UU"}, "x" * 50_000).text
    assert len(text) < 8_000
    assert "44000 characters more" in text


def test_many_files_are_all_in_the_value_and_counted_in_the_text() -> None:
    kinds = {f"f{number:03d}": "AA" for number in range(50)}
    said = conflict("loop/s/a", "main", kinds, "")
    assert len(said.files) == 50
    assert "- and 30 more" in said.text


def test_a_refusal_without_files_gives_gits_reason() -> None:
    assert "unfinished merge" in dirty("main", "tree", (), "unfinished merge").text
