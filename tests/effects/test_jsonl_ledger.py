"""The ledger keeps every line that was written, whoever else writes or crashes."""

import json
import multiprocessing
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.effects.jsonl_ledger import JsonlLedger
from looptasks.errors import StorageError
from tests.support.doit_process import REPOSITORY
from tests.support.recorded import iteration_event


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def iterations(path: Path) -> list[int]:
    record = JsonlLedger(str(path)).refresh()
    return [iteration.number for iteration in record.stage("work").iterations]


def test_what_is_appended_is_folded_in(tmp_path: Path) -> None:
    ledger = JsonlLedger(str(tmp_path / "ledger"))
    assert ledger.refresh().events == 0
    for number in (1, 2, 3):
        ledger.append(iteration_event(number), durable=number == 3)
        assert len(ledger.refresh().stage("work").iterations) == number
    ledger.close()
    assert iterations(tmp_path / "ledger") == [1, 2, 3]


def test_a_thread_that_keeps_still_sees_nothing_new_while_others_do(
    tmp_path: Path,
) -> None:
    ledger = JsonlLedger(str(tmp_path / "ledger"))
    seen = []
    with ledger.still():
        ledger.append(iteration_event(1))
        assert ledger.refresh().events == 0
        other = threading.Thread(target=lambda: seen.append(ledger.refresh().events))
        other.start()
        other.join()
    assert seen == [1]
    assert ledger.refresh().events == 1


def test_a_second_reader_sees_what_is_added_later(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger")
    writer, reader = JsonlLedger(path), JsonlLedger(path)
    for number in (1, 2):
        writer.append(iteration_event(number))
        assert reader.refresh().events == number
        assert reader.refresh().events == number
    writer.close()


@given(st.data())
def test_a_ledger_that_is_cut_anywhere_loses_the_torn_line_only(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "ledger"
    whole = [json.dumps(iteration_event(n)).encode() + b"\n" for n in (1, 2, 3)]
    cut = data.draw(st.integers(0, len(b"".join(whole))))
    path.write_bytes(b"".join(whole)[:cut])
    kept = sum(len(b"".join(whole[: n + 1])) <= cut for n in range(3))
    assert iterations(path) == list(range(1, kept + 1))
    ledger = JsonlLedger(str(path))
    ledger.refresh()
    ledger.append(iteration_event(kept + 1))
    assert len(ledger.refresh().stage("work").iterations) == kept + 1
    ledger.close()
    assert iterations(path) == list(range(1, kept + 2))


@given(st.binary(max_size=40), st.integers(0, 3))
def test_garbage_between_lines_is_passed_over(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("garbage") / "ledger"
    whole = [json.dumps(iteration_event(n)).encode() for n in (1, 2, 3)]
    whole.insert(at, garbage)
    path.write_bytes(b"\n".join(whole) + b"\n")
    assert iterations(path) == [1, 2, 3]


def test_a_line_that_is_still_being_written_is_read_when_it_is_whole(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ledger"
    text = json.dumps(iteration_event(1)).encode() + b"\n"
    path.write_bytes(text[:50])
    ledger = JsonlLedger(str(path))
    assert ledger.refresh().events == 0
    path.write_bytes(text)
    assert ledger.refresh().events == 1


def append_many(path: str, who: int, count: int) -> None:
    ledger = JsonlLedger(path)
    for number in range(count):
        ledger.append({"event": "x", "who": who, "n": number, "pad": "p" * who * 700})
    ledger.close()


def test_eight_processes_append_at_once_and_no_line_is_lost_or_torn(
    tmp_path: Path,
) -> None:
    path, count = tmp_path / "ledger", 200
    fork = multiprocessing.get_context("spawn")
    workers = [
        fork.Process(target=append_many, args=(str(path), who, count))
        for who in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    found = lines(path)
    assert len(found) == 8 * count
    for who in range(8):
        mine = [line["n"] for line in found if line["who"] == who]
        assert mine == list(range(count))


def test_threads_append_and_read_through_one_ledger(tmp_path: Path) -> None:
    ledger = JsonlLedger(str(tmp_path / "ledger"))

    def work() -> None:
        for _ in range(100):
            ledger.append({"event": "x"})
            ledger.refresh()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.refresh().events == 800
    ledger.close()


FULL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from looptasks.effects.jsonl_ledger import JsonlLedger
from looptasks.errors import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ledger = JsonlLedger(sys.argv[2])
ledger.append({"event": "first"})
resource.setrlimit(resource.RLIMIT_FSIZE, (40, resource.RLIM_INFINITY))
for number in range(3):
    try:
        ledger.append({"event": "refused", "pad": "p" * 100})
    except StorageError as error:
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
ledger.append({"event": "last"})
"""


def test_a_line_that_found_no_room_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(REPOSITORY), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("\n  fix: ") == 3
    readable = []
    for line in path.read_bytes().splitlines():
        try:
            readable.append(json.loads(line)["event"])
        except ValueError:
            continue
    assert readable == ["first", "last"]


def test_a_refusal_names_the_ledger(tmp_path: Path) -> None:
    ledger = JsonlLedger(str(tmp_path / "missing/ledger"))
    with pytest.raises(StorageError, match="missing/ledger"):
        ledger.append({"event": "x"})
    assert ledger.refresh().events == 0
