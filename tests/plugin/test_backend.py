"""doit's memory of finished tasks."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from doit.dependency import JSONCodec
from hypothesis import given
from hypothesis import strategies as st

from looptasks.errors import StorageError
from looptasks.plugin.backend import SessionJournal
from tests.support.doit_process import REPOSITORY

ENTRY = {"_values_:": {"a": 1}, "in.txt": [1, 2, "hash"], "deps:": ["in.txt"]}


def opened(path: Path, session: Path | None = None) -> SessionJournal:
    journal = SessionJournal(str(path), JSONCodec())
    if session is not None:
        journal.use_session(str(session))
    return journal


def save(journal: SessionJournal, *tasks: str, **more: Any) -> None:
    """Save tasks the way doit does, `deps:` last."""
    for task in tasks:
        for field, value in {**more, **ENTRY}.items():
            journal.set(task, field, value)


def known(journal: SessionJournal, tasks: Iterable[str]) -> list[str]:
    return [task for task in tasks if journal.in_(task)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".loop" / "doit.db"


def test_a_finished_task_is_on_disk_at_once(path: Path) -> None:
    save(opened(path), "test")

    again = opened(path)
    assert again.in_("test")
    assert again.get("test", "in.txt") == [1, 2, "hash"]
    assert again.get("test", "nosuch") is None
    assert again.get("nosuch", "in.txt") is None


def test_a_task_that_is_half_saved_is_not_on_disk(path: Path) -> None:
    journal = opened(path)
    journal.set("test", "_values_:", {})
    journal.set("test", "in.txt", [1, 2, "hash"])

    assert journal.in_("test")
    assert not path.exists()


def test_an_ignored_task_is_on_disk_at_once(path: Path) -> None:
    opened(path).set("test", "ignore:", "1")

    assert opened(path).get("test", "ignore:") == "1"


def test_looking_makes_no_file_and_no_folder(path: Path) -> None:
    journal = opened(path, path.parent / "auth")
    journal.get("test", "in.txt")
    journal.in_("loop:a")
    journal.remove("test")
    journal.remove_all()
    journal.dump()

    assert not path.parent.exists()


def test_a_removed_task_stays_removed(path: Path) -> None:
    journal = opened(path)
    save(journal, "test", "build")
    journal.remove("test")

    assert known(journal, ["test", "build"]) == ["build"]
    assert known(opened(path), ["test", "build"]) == ["build"]


def test_a_removed_task_can_be_saved_again(path: Path) -> None:
    journal = opened(path)
    save(journal, "test")
    journal.remove("test")
    save(journal, "test")

    assert opened(path).in_("test")


def test_forgetting_all_forgets_the_session_too(path: Path, tmp_path: Path) -> None:
    journal = opened(path, tmp_path / "auth")
    save(journal, "test", "loop:a")
    journal.remove_all()

    assert known(journal, ["test", "loop:a"]) == []
    assert known(opened(path, tmp_path / "auth"), ["test", "loop:a"]) == []


def test_a_session_keeps_its_own_tasks_in_its_own_folder(
    path: Path, tmp_path: Path
) -> None:
    ours = ["loop:a", "pipeline:p", "stage:s", "bead:b-1", "wave:1"]
    save(opened(path, tmp_path / "auth"), "test", "loops", *ours)

    assert known(opened(path), ["test", "loops", *ours]) == ["test", "loops"]
    assert known(opened(path, tmp_path / "auth"), ours) == ours
    assert known(opened(path, tmp_path / "other"), ours) == []
    assert (tmp_path / "auth" / "doit.db").exists()


def test_before_a_session_is_chosen_its_tasks_are_in_memory_only(path: Path) -> None:
    journal = opened(path)
    save(journal, "loop:a")

    assert journal.in_("loop:a")
    assert not path.parent.exists()


def test_a_torn_last_line_is_dropped_and_the_next_starts_afresh(path: Path) -> None:
    save(opened(path), "one", "two")
    os.truncate(path, path.stat().st_size - 5)

    journal = opened(path)
    assert known(journal, ["one", "two"]) == ["one"]
    save(journal, "three")
    assert known(opened(path), ["one", "two", "three"]) == ["one", "three"]


@pytest.mark.parametrize(
    "damage",
    [
        b"no tab\n",
        b"two\t{broken\n",
        b"two\t[1, 2]\n",
        b"\xff\xfe\t{}\n",
        b"two\t\xff\n",
        b"\n\n\t\n",
        b"\0" * 100 + b"\n",
    ],
)
def test_a_line_that_cannot_be_read_is_ignored(path: Path, damage: bytes) -> None:
    save(opened(path), "one")
    with path.open("ab") as file:
        file.write(damage)
    save(opened(path), "three")

    journal = opened(path)
    assert known(journal, ["one", "two", "three"]) == ["one", "three"]
    save(journal, "two")
    assert opened(path).in_("two")


def test_what_is_known_already_is_not_written_again(path: Path) -> None:
    save(opened(path), "group")
    before = path.read_bytes()

    save(opened(path), "group")

    assert path.read_bytes() == before


def test_a_journal_of_dead_lines_is_compacted(path: Path) -> None:
    journal = opened(path)
    save(journal, "stays")
    for number in range(1_200):
        save(journal, "changes", number=number)
    save(journal, "goes")
    journal.remove("goes")
    journal.dump()

    assert len(path.read_bytes().splitlines()) == 2
    assert known(opened(path), ["stays", "changes", "goes"]) == ["stays", "changes"]
    assert opened(path).get("changes", "number") == 1_199
    assert list(path.parent.iterdir()) == [path]


def test_a_journal_of_live_lines_is_left_alone(path: Path) -> None:
    journal = opened(path)
    save(journal, *(f"task{number}" for number in range(1_200)))
    inode = path.stat().st_ino
    journal.dump()

    assert path.stat().st_ino == inode


def test_a_journal_that_another_is_writing_is_not_compacted(path: Path) -> None:
    journal, other = opened(path), opened(path)
    save(other, "other")
    for number in range(1_200):
        save(journal, "changes", number=number)
    journal.remove("other")
    journal.dump()
    save(other, "late")

    assert known(opened(path), ["changes", "late", "other"]) == ["changes", "late"]


def test_what_others_wrote_meanwhile_survives_compaction(path: Path) -> None:
    journal, other = opened(path), opened(path)
    for number in range(1_200):
        save(journal, "changes", number=number)
    save(other, "other")
    other.dump()
    journal.dump()

    assert len(path.read_bytes().splitlines()) == 2
    assert known(opened(path), ["changes", "other"]) == ["changes", "other"]


def test_a_journal_can_be_used_after_it_was_closed(path: Path) -> None:
    journal = opened(path)
    save(journal, "one")
    journal.dump()
    save(journal, "two")
    journal.dump()

    assert known(opened(path), ["one", "two"]) == ["one", "two"]


def test_processes_that_write_at_once_do_not_tear_each_others_lines(
    path: Path,
) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
        )
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        writer.communicate(b"go")

    tasks = [f"{name}{number}" for name in "abc" for number in range(300)]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert known(opened(path), tasks) == tasks
    assert len(path.read_bytes().splitlines()) == len(tasks)


def test_a_disk_that_refuses_is_a_message_with_a_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StorageError, match=str(tmp_path / "file")):
        save(opened(tmp_path / "file" / "doit.db"), "test")


def test_a_folder_in_the_place_of_the_journal_reads_as_empty(tmp_path: Path) -> None:
    assert not opened(tmp_path).in_("test")


@given(st.lists(st.tuples(st.text(min_size=1), st.booleans()), max_size=20))
def test_the_last_word_on_a_task_counts_whatever_it_is_called(
    tmp_path_factory: pytest.TempPathFactory, words: list[tuple[str, bool]]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "doit.db"
    journal = opened(path, path.parent)
    expected: dict[str, bool] = {}
    for name, keep in words:
        save(journal, name)
        if not keep:
            journal.remove(name)
        expected[name] = keep
    journal.dump()

    again = opened(path, path.parent)
    assert {name: again.in_(name) for name in expected} == expected


WRITER = """
import sys
from doit.dependency import JSONCodec
from looptasks.plugin.backend import SessionJournal
path, name = sys.argv[1:]
journal = SessionJournal(path, JSONCodec())
sys.stdin.read()
for number in range(300):
    journal.set(f"{name}{number}", "_values_:", {"text": name * 3000})
    journal.set(f"{name}{number}", "deps:", [])
journal.dump()
"""
