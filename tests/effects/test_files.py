"""Files are replaced whole or not at all, and refusals are said in words."""

import errno
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.effects.files import (
    make_folder,
    read_bytes,
    read_json,
    storing,
    sync,
    write_if_changed,
    write_json,
    write_whole,
)
from looptasks.errors import StorageError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("durable", [False, True])
def test_a_written_file_is_there_and_nothing_beside_it(
    tmp_path: Path, durable: bool
) -> None:
    path = tmp_path / "file"
    for data in (b"one", b"", b"x" * 3_000_000):
        write_whole(str(path), data, durable=durable)
        assert path.read_bytes() == data
        assert names(tmp_path) == ["file"]
    sync(str(path))


@given(json_values)
def test_a_value_survives_the_way_through_a_file(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "value.json"
    write_json(str(path), value)
    assert read_json(str(path)) == value


def test_readers_see_the_old_or_the_new_content_never_a_part(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    contents = {b"a" * 100_000, b"b" * 50_000}
    write_whole(path, b"a" * 100_000)
    done = threading.Event()
    seen: set[bytes | None] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(read_bytes(path))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(200):
        for data in contents:
            write_whole(path, data)
    done.set()
    reader.join()
    assert seen <= contents


def test_many_threads_replace_a_file_without_disturbing_each_other(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "file.json")

    def write(number: int) -> None:
        for _ in range(50):
            write_json(path, [number] * 1000)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(json.loads(Path(path).read_bytes()))) == 1
    assert names(tmp_path) == ["file.json"]


def test_a_refused_write_leaves_the_old_content_and_no_rest(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(StorageError) as caught:
        write_whole(str(target), b"data")
    assert "a folder is in the way of a file" in str(caught.value)
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission denied"),
        (errno.EDQUOT, "quota"),
    ],
)
def test_a_refusal_names_the_path_and_a_fix(number: int, words: str) -> None:
    with pytest.raises(StorageError) as caught, storing("some/path"):
        raise OSError(number, os.strerror(number))
    assert str(caught.value).startswith("some/path: ")
    assert words in str(caught.value)
    assert "\n  fix: " in str(caught.value)


def test_an_unknown_refusal_is_told_as_the_system_puts_it() -> None:
    with pytest.raises(StorageError, match="a/b: Input/output error"), storing("x"):
        raise OSError(errno.EIO, os.strerror(errno.EIO), "a/b")


def test_other_errors_pass_through_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), storing("x"):
        raise ZeroDivisionError


def test_what_is_not_there_or_not_json_is_none(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text('{"a": ')
    assert read_bytes(str(tmp_path / "missing")) is None
    assert read_bytes(str(tmp_path / "torn.json" / "below")) is None
    assert read_json(str(tmp_path / "missing")) is None
    assert read_json(str(tmp_path / "torn.json")) is None


def test_equal_content_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert write_if_changed(str(path), b"one")
    before = path.stat().st_ino, path.stat().st_mtime_ns
    assert not write_if_changed(str(path), b"one")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before
    assert write_if_changed(str(path), b"two")


def test_folders_are_made_with_those_above_and_made_again(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(str(tmp_path / "a/b/c"))
    assert (tmp_path / "a/b/c").is_dir()


@pytest.mark.parametrize("name", ["file", "file/below", "file/below/more"])
def test_a_file_in_the_way_of_a_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="a file is in the way") as caught:
        make_folder(str(tmp_path / name))
    assert "file" in str(caught.value)
