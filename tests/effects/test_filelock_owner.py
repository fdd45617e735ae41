"""The run lock has one owner, and knows a dead one from a living one."""

import json
import multiprocessing
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from looptasks.effects.filelock_owner import RunLock, born, is_running, lost
from looptasks.effects.system_clock import SystemClock
from looptasks.errors import SessionBusy


class Clock(SystemClock):
    """A clock that can be put forward."""

    ahead = 0.0

    def epoch(self) -> float:
        return time.time() + self.ahead


def lock(folder: Path, clock: Clock | None = None) -> RunLock:
    return RunLock(str(folder / "auth"), "auth", clock or Clock())


def owner(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "auth/run.json").read_bytes())
    return found


def nothing() -> None:
    """Do nothing about a loss."""


def test_the_owner_is_written_down_and_taken_out_again(tmp_path: Path) -> None:
    mine = lock(tmp_path)
    assert mine.take("run1", nothing) is None
    found = owner(tmp_path)
    assert (found["pid"], found["host"]) == (os.getpid(), socket.gethostname())
    assert found.keys() >= {"session", "started_at", "heartbeat", "heartbeat_epoch"}
    assert mine.held()
    mine.give_up()
    assert not (tmp_path / "auth/run.json").exists()
    assert not mine.held()


def test_a_second_taker_is_refused_by_name(tmp_path: Path) -> None:
    mine, other = lock(tmp_path), lock(tmp_path)
    mine.take("run1", nothing)
    with pytest.raises(SessionBusy) as caught:
        other.take("run2", nothing)
    since = owner(tmp_path)["started_at"][11:16]
    said = f"session auth is already running (pid {os.getpid()} since {since})"
    assert str(caught.value).startswith(said)
    with pytest.raises(SessionBusy):
        other.refuse_if_busy()
    assert owner(tmp_path)["run"] == "run1"
    other.give_up()
    assert mine.held()
    mine.give_up()
    other.refuse_if_busy()


def test_a_worker_of_the_same_run_is_no_second_runner(tmp_path: Path) -> None:
    mine, worker = lock(tmp_path), lock(tmp_path)
    mine.take("run1", nothing)
    assert worker.take("run1", nothing) is None
    assert mine.held()
    assert worker.held()
    mine.give_up()


def test_an_owner_whose_process_ended_is_replaced(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    first = lock(tmp_path)
    first.take("run1", nothing)
    first._done.set()
    path = tmp_path / "auth/run.json"
    path.write_text(json.dumps({**owner(tmp_path), "pid": gone.pid}))
    taken = lock(tmp_path).take("run2", nothing)
    assert taken is not None
    assert taken[1] == f"process {gone.pid} is gone"
    assert owner(tmp_path)["run"] == "run2"


def test_an_owner_without_a_heartbeat_is_replaced_and_notices(tmp_path: Path) -> None:
    first, late = lock(tmp_path), Clock()
    first.take("run1", nothing)
    late.ahead = 80.0
    with pytest.raises(SessionBusy):
        lock(tmp_path, late).take("run2", nothing)
    late.ahead = 95.0
    taken = lock(tmp_path, late).take("run2", nothing)
    assert taken is not None
    assert "no sign of life for 95 s" in taken[1]
    assert not first.held()
    first.give_up()
    assert owner(tmp_path)["run"] == "run2"


def test_a_process_with_the_same_id_is_told_from_the_owner(tmp_path: Path) -> None:
    first = lock(tmp_path)
    first.take("run1", nothing)
    path = tmp_path / "auth/run.json"
    path.write_text(json.dumps({**owner(tmp_path), "born": "1"}))
    if not born(os.getpid()):
        pytest.skip("this system does not say when a process started")
    taken = lock(tmp_path).take("run2", nothing)
    assert taken is not None
    assert "is another one by now" in taken[1]


def test_a_zombie_does_not_run() -> None:
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert not is_running(ended.pid)
    ended.wait()
    assert not is_running(ended.pid)
    assert is_running(os.getpid())


def test_reading_the_owner_waits_for_nobody(tmp_path: Path) -> None:
    from filelock import FileLock  # noqa: PLC0415

    mine = lock(tmp_path)
    mine.take("run1", nothing)
    with FileLock(tmp_path / "auth/run.lock"):
        found = lock(tmp_path).owner()
        assert found is not None
        assert mine.held()
    mine.give_up()
    assert lock(tmp_path).owner() is None


def take(folder: str, number: int, start: Any, results: Any) -> None:
    mine = lock(Path(folder))
    start.wait()
    try:
        mine.take(f"run{number}", nothing)
    except SessionBusy:
        results.put(0)
    else:
        results.put(1)
    start.wait()


def test_of_many_takers_at_once_exactly_one_wins(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    start, results = spawn.Barrier(6), spawn.Queue()
    takers = [
        spawn.Process(target=take, args=(str(tmp_path), n, start, results))
        for n in range(6)
    ]
    for taker in takers:
        taker.start()
    wins = sum(results.get(timeout=60) for _ in takers)
    for taker in takers:
        taker.join()
    assert wins == 1


def test_threads_of_one_process_do_not_lose_the_lock_to_each_other(
    tmp_path: Path,
) -> None:
    mine = lock(tmp_path)
    mine.take("run1", nothing)
    seen: list[bool] = []
    threads = [
        threading.Thread(target=lambda: seen.extend(mine.held() for _ in range(200)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for _ in range(50):
        assert mine._beat_once()
    for thread in threads:
        thread.join()
    assert all(seen)
    mine.give_up()


def test_a_lost_session_says_so() -> None:
    assert "session auth was taken over" in str(lost("auth"))
