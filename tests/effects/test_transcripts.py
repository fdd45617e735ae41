"""Transcripts: cut, packed and read again without losing what counts."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.size import bytes_in
from looptasks.effects.event_file import GrowingLines
from looptasks.effects.transcripts import cut, opened, pack, unpacked
from looptasks.errors import DeclarationError

LARGE = b"0123456789\n" * 200_000


def attempt(folder: Path, content: bytes) -> Path:
    made = folder / "iterations" / "0001" / "attempts" / "1"
    made.mkdir(parents=True)
    (made / "stdout").write_bytes(content)
    return made / "stdout"


def test_a_large_transcript_is_packed_and_read_as_before(tmp_path: Path) -> None:
    path = attempt(tmp_path, LARGE)

    pack(str(tmp_path))

    assert not path.exists()
    with opened(str(path)) as file:
        assert file.read() == LARGE
    assert unpacked(str(path)) == str(path)
    assert path.read_bytes() == LARGE


def test_a_small_transcript_stays_as_it_is(tmp_path: Path) -> None:
    path = attempt(tmp_path, b"short\n")

    pack(str(tmp_path))

    assert [p.name for p in path.parent.iterdir()] == ["stdout"]


def test_a_packing_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    path = attempt(tmp_path, LARGE)
    path.with_name("stdout.gz").write_bytes(b"half")

    with opened(str(path)) as file:
        assert file.read() == LARGE
    pack(str(tmp_path))

    assert gzip.decompress(path.with_name("stdout.gz").read_bytes()) == LARGE


def test_whoever_follows_does_not_hear_the_same_twice_after_packing(
    tmp_path: Path,
) -> None:
    path = attempt(tmp_path, LARGE)
    lines = GrowingLines(str(path))
    assert len([*lines.more()]) == 200_000

    pack(str(tmp_path))

    assert [*lines.more()] == []
    assert len([*GrowingLines(str(path)).more()]) == 200_000


def test_whoever_follows_does_not_hear_the_same_twice_after_a_replacement(
    tmp_path: Path,
) -> None:
    path = tmp_path / "stdout"
    path.write_text("one\nmy secret\ntwo")
    lines = GrowingLines(str(path))
    assert [*lines.more()] == [b"one", b"my secret"]

    other = tmp_path / "other"
    other.write_text("one\n***\ntwo\nthree\n")
    other.replace(path)

    assert [*lines.more()] == [b"two", b"three"]


def test_a_file_that_is_begun_anew_is_heard_anew(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    path.write_text("one\ntwo\n")
    lines = GrowingLines(str(path))
    assert [*lines.more()] == [b"one", b"two"]

    path.write_text("new\n")

    assert [*lines.more()] == [b"new"]


@given(
    st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"x")), max_size=60),
    st.integers(2, 400),
)
def test_a_cut_keeps_whole_lines_of_begin_and_end(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], limit: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "stdout"
    whole = b"".join(line + b"\n" for line in lines)
    path.write_bytes(whole)

    assert cut(str(path), limit) == (len(whole) > limit)

    left = path.read_bytes()
    if len(whole) <= limit:
        assert left == whole
        return
    mark = b'{"type": "looptasks", "cut": "%d bytes"}\n'
    begin, _, rest = left.partition(b'{"type": "looptasks"')
    end = rest.partition(b"\n")[2]
    assert whole.startswith(begin)
    assert whole.endswith(end)
    assert left == begin + mark % (len(whole) - len(begin) - len(end)) + end
    assert len(begin) + len(end) <= limit
    assert begin[-1:] in (b"", b"\n")


@pytest.mark.parametrize("text", ["", "many", "-1", "5 parsecs", True, 1.5, None, []])
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(DeclarationError, match="is no size"):
        bytes_in(text, "here")
