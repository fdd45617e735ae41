"""The file of beads under many writers, under killed ones, and with strange lines."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock, Timeout

from looptasks.effects.beads_lock import locked
from looptasks.effects.jsonl_beads import JsonlBeads
from looptasks.errors import LoopError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).resolve().parents[2]
PROCESSES = 8
EACH = 100
CREATE = """
import sys
from looptasks.effects.jsonl_beads import JsonlBeads
beads = JsonlBeads(sys.argv[1])
for number in range(int(sys.argv[3])):
    print(beads.create({"title": f"{sys.argv[2]}-{number}"}, "x")["id"], flush=True)
"""
CLAIM = """
import sys
from looptasks.core.bead_filter import Filter
from looptasks.core.readiness import ready
from looptasks.effects.jsonl_beads import JsonlBeads
from looptasks.errors import UsageError
beads = JsonlBeads(sys.argv[1])
while True:
    free = ready(beads.beads(), 0, Filter())
    if not free:
        break
    for bead in free[:3]:
        try:
            beads.claim(bead["id"], sys.argv[2])
        except UsageError:
            continue
        print(bead["id"], flush=True)
        beads.close(bead["id"], "done by " + sys.argv[2])
"""


def start(code: str, *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def outputs(running: list["subprocess.Popen[str]"]) -> list[str]:
    said = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return [word for words in said for word in words]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".beads"


def test_eight_processes_that_create_lose_no_bead(folder: Path) -> None:
    made = outputs(
        [start(CREATE, str(folder), str(n), str(EACH)) for n in range(PROCESSES)]
    )
    board = JsonlBeads(str(folder)).beads()
    assert sorted(made) == board.ids()
    assert len(set(made)) == PROCESSES * EACH
    titles = {bead["title"] for bead in board.all()}
    assert titles == {f"{n}-{m}" for n in range(PROCESSES) for m in range(EACH)}


def test_eight_processes_claim_no_bead_twice(folder: Path) -> None:
    made = outputs([start(CREATE, str(folder), "one", "160")])
    claimed = outputs(
        [
            *(start(CLAIM, str(folder), f"agent-{n}") for n in range(PROCESSES - 1)),
            start(CREATE, str(folder), "late", "20"),
        ]
    )
    claimed += outputs([start(CLAIM, str(folder), "agent-9")])
    after = list(JsonlBeads(str(folder)).beads().all())
    assert len(after) == len(made) + 20
    assert all(b["close_reason"] == f"done by {b['assignee']}" for b in after)
    late = {b["id"] for b in after if b["title"].startswith("late")}
    # The ids that were made late were printed once when made, and once when claimed.
    assert sorted(claimed) == sorted([*(b["id"] for b in after), *late])


def test_a_writer_killed_at_any_moment_leaves_the_file_whole(folder: Path) -> None:
    moments = random.Random(7)
    finished: list[str] = []
    for number in range(12):
        writer = start(CREATE, str(folder), str(number), "1000")
        assert writer.stdout is not None
        finished.append(writer.stdout.readline().strip())
        time.sleep(moments.random() / 20)
        writer.kill()
        finished += writer.stdout.read().split()
        writer.wait()
        writer.stdout.close()
        known = JsonlBeads(str(folder)).beads()
        assert all(id_ in known for id_ in finished)
        assert len(list(known.all())) == len(known)
    JsonlBeads(str(folder)).create({"title": "last"}, "x")
    assert not list(folder.glob("*.tmp"))


def test_untouched_lines_stay_byte_for_byte_and_unknown_keys_survive(
    folder: Path,
) -> None:
    folder.mkdir()
    odd = '{"title" : "odd \\u00e9", "id":"a-1",  "future_key": {"x": [1, 2.50]}}'
    memory = '{"_type":"memory","key":"k",  "value":"v"}'
    mine = '{"id":"a-2","title":"mine","zeta":1,"alpha":{"b":null},"priority":3}'
    closed = '{"id":"a-0","title":"c","status":"closed","priority":1,"extra":"é"}'
    path = folder / "issues.jsonl"
    path.write_text("\n".join([mine, memory, odd, closed]) + "\n")
    JsonlBeads(str(folder)).update("a-2", {"status": "in_progress"}, "me")
    lines = path.read_text().splitlines()
    assert [lines[0], lines[1], lines[3]] == [closed, odd, memory]
    changed = json.loads(lines[2])
    assert (changed["zeta"], changed["alpha"]) == (1, {"b": None})
    assert changed["status"] == "in_progress"


def test_what_changes_nothing_does_not_rewrite_the_file(folder: Path) -> None:
    beads = JsonlBeads(str(folder))
    id_ = beads.create({"title": "t"}, "me")["id"]
    beads.claim(id_, "me")
    before = beads.revision()
    beads.claim(id_, "me")
    assert beads.revision() == before
    beads.close(id_, "done")
    assert beads.revision() != before


def test_a_board_is_read_again_only_when_the_file_changed(folder: Path) -> None:
    beads, other = JsonlBeads(str(folder)), JsonlBeads(str(folder))
    assert beads.revision() is None
    beads.create({"title": "t"}, "me")
    board = beads.beads()
    assert beads.beads() is board
    other.create({"title": "u"}, "me")
    assert len(beads.beads()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id":"a-1","title":"t"}\n{"id":"a-2","ti', "line 2 is not JSON"),
        ("rubbish\n", "line 1 is not JSON"),
        ("[1]\n", "line 1 is not a bead"),
        ('{"title":"t"}\n', "line 1 is not a bead"),
        ('<<<<<<< HEAD\n{"id":"a-1"}\n', "line 1 is a conflict marker of git"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_and_stays_as_it_is(
    folder: Path, text: str, message: str
) -> None:
    folder.mkdir()
    path = folder / "issues.jsonl"
    path.write_text(text)
    with pytest.raises(StorageError, match=message):
        JsonlBeads(str(folder)).create({"title": "t"}, "me")
    assert path.read_text() == text


def test_a_refused_change_leaves_the_file_as_it_is(folder: Path) -> None:
    beads = JsonlBeads(str(folder))
    first = beads.create({"title": "first"}, "me")["id"]
    second = beads.create({"title": "second", "deps": [first]}, "me")["id"]
    before = (folder / "issues.jsonl").read_bytes()
    refusals: list[Callable[[], object]] = [
        lambda: beads.close(second, "done"),
        lambda: beads.claim("a-nothing", "me"),
        lambda: beads.create({"title": "t", "deps": ["a-nothing"]}, "me"),
        lambda: beads.create({"title": "t", "priority": "9"}, "me"),
    ]
    for refused in refusals:
        with pytest.raises(LoopError):
            refused()
    assert (folder / "issues.jsonl").read_bytes() == before


def test_the_lock_is_the_one_of_filelock(tmp_path: Path) -> None:
    path = tmp_path / "issues.lock"
    with locked(str(path)), pytest.raises(Timeout):
        FileLock(path).acquire(timeout=0)
    with FileLock(path, timeout=0):
        pass


def test_a_file_behind_a_link_stays_behind_it(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    real = tmp_path / "shared.jsonl"
    real.write_text("")
    (folder / "issues.jsonl").symlink_to(real)
    JsonlBeads(str(folder)).create({"title": "t"}, "me")
    assert (folder / "issues.jsonl").is_symlink()
    assert json.loads(real.read_text())["title"] == "t"
