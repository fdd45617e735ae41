"""One runner per session: others are refused at once, dead ones are replaced."""

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from looptasks.effects.filelock_owner import born
from tests.support.crash import (
    AGENT,
    HELD,
    CrashProject,
    faults,
    finished,
    kill,
    nap,
    torn_files,
    until,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

AUTH = ("loop:work", "session=auth")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[CrashProject]:
    made = CrashProject(tmp_path, HELD)
    made.loop(max_iterations=3)
    yield made
    made.end_all()


def running(project: CrashProject, *words: str) -> "subprocess.Popen[str]":
    """Start a run, and wait until its agent works."""
    calls = project.calls().total()
    process = project.start(*(words or AUTH))
    until(lambda: project.called(calls + 1))
    return process


def let_go(project: CrashProject) -> None:
    (project.folder / "go").touch()


def owner_file(project: CrashProject) -> Path:
    return project.path("auth", "run.json")


def write_owner(project: CrashProject, **changes: object) -> None:
    """Write a `run.json` as a run on this machine would have left it."""
    path = owner_file(project)
    path.parent.mkdir(parents=True, exist_ok=True)
    owner = {
        "session": "auth",
        "run": "0123456789ab",
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "born": born(os.getpid()),
        "started_at": "2026-03-01T10:05:00.000Z",
        "heartbeat": "2026-03-01T10:05:00.000Z",
        "heartbeat_epoch": time.time(),
    }
    path.write_text(json.dumps(owner | changes))


def age_heartbeat(project: CrashProject, seconds: float) -> None:
    owner = json.loads(owner_file(project).read_bytes())
    owner["heartbeat_epoch"] -= seconds
    owner_file(project).write_text(json.dumps(owner))


def test_a_second_run_is_refused_and_starts_nothing(project: CrashProject) -> None:
    first = running(project)
    before = project.files()
    ran = project.run(*AUTH)
    assert ran.code == 3
    started = json.loads(owner_file(project).read_bytes())["started_at"]
    words = f"session auth is already running (pid {first.pid} since {started[11:16]})"
    assert words in ran.err
    assert "force=yes" in ran.err
    assert "Traceback" not in ran.err
    assert project.files() == before
    let_go(project)
    assert finished(first).code == 0
    assert project.calls().total() == 3


def test_the_refusal_takes_hardly_longer_than_the_version(
    project: CrashProject,
) -> None:
    first = running(project)
    pairs = []
    for _ in range(5):
        took = []
        for words in (("--version",), AUTH):
            start = time.monotonic()
            project.run(*words)
            took.append(time.monotonic() - start)
        pairs.append(took[1] / took[0])
    assert statistics.median(pairs) < 4
    kill(first)


@pytest.mark.parametrize("words", [("list",), ("status",), ("explain",)])
def test_reading_commands_never_wait(
    project: CrashProject, words: tuple[str, ...]
) -> None:
    first = running(project)
    ran = project.run(*words, "session=auth")
    assert ran.code == 0, ran
    assert first.poll() is None
    # Not even for somebody who holds the lock of the change of hands.
    holder = subprocess.Popen(
        ["flock", str(project.path("auth", "run.lock")), "sleep", "60"]
    )
    nap(0.1)
    try:
        assert project.run(*words, "session=auth").code == 0
    finally:
        holder.kill()
        holder.wait()
    kill(first)


def test_a_killed_owner_is_replaced_and_that_is_said(project: CrashProject) -> None:
    first = running(project)
    kill(first)
    let_go(project)
    ran = project.run(*AUTH)
    assert ran.code == 0
    assert f"taking over session auth: process {first.pid} is gone" in ran.out
    assert faults(project, "auth") == []
    assert not owner_file(project).exists()


def test_a_living_owner_with_a_stale_heartbeat_is_replaced(
    project: CrashProject,
) -> None:
    let_go(project)
    write_owner(project, heartbeat_epoch=time.time() - 95)
    ran = project.run(*AUTH)
    assert ran.code == 0
    assert re.search(r"taking over session auth: .*no sign of life for 9\d s", ran.out)


def test_a_living_owner_with_a_fresh_heartbeat_is_not_replaced(
    project: CrashProject,
) -> None:
    let_go(project)
    write_owner(project, heartbeat_epoch=time.time() - 80)
    before = project.files()
    ran = project.run(*AUTH)
    assert ran.code == 3
    assert f"(pid {os.getpid()} since 10:05)" in ran.err
    after = project.files()
    assert {n: d for n, d in after.items() if ".cache" not in n} == before
    assert project.calls().total() == 0


def test_a_fresh_owner_on_another_machine_is_not_replaced(
    project: CrashProject,
) -> None:
    write_owner(project, host="elsewhere", pid=1)
    assert project.run(*AUTH).code == 3
    assert project.run(*AUTH, "force=yes").code == 3
    let_go(project)
    write_owner(project, host="elsewhere", pid=1, heartbeat_epoch=time.time() - 95)
    assert project.run(*AUTH).code == 0


def test_another_process_with_the_owners_id_is_not_the_owner(
    project: CrashProject,
) -> None:
    let_go(project)
    write_owner(project, born="1")
    ran = project.run(*AUTH)
    assert ran.code == 0
    assert f"process {os.getpid()} is another one by now" in ran.out


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "null"])
def test_a_damaged_owner_file_owns_nothing(project: CrashProject, text: str) -> None:
    let_go(project)
    project.path("auth").mkdir(parents=True)
    owner_file(project).write_text(text)
    assert project.run(*AUTH).code == 0


def test_force_ends_a_live_owner_and_takes_over(project: CrashProject) -> None:
    first = running(project)
    second = project.start(*AUTH, "force=yes")
    old = finished(first)
    assert old.code == 130
    let_go(project)
    ran = finished(second)
    assert ran.code == 0, ran
    assert faults(project, "auth") == []
    assert [e["verdict"] for e in project.events("auth", "attempt")] == ["interrupted"]
    assert project.is_quiet()


def test_force_kills_an_owner_that_does_not_react(project: CrashProject) -> None:
    first = running(project)
    os.kill(first.pid, signal.SIGSTOP)
    let_go(project)
    second = project.start(*AUTH, "force=yes")
    assert finished(first).code == -signal.SIGKILL
    ran = finished(second)
    assert ran.code == 0, ran
    assert faults(project, "auth") == []
    assert project.is_quiet()


def test_force_is_harmless_where_nobody_runs(project: CrashProject) -> None:
    let_go(project)
    assert project.run(*AUTH, "force=yes").code == 0
    assert project.run(*AUTH, "force=yes").code == 0
    assert project.calls().total() == 3


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("words", [AUTH, ("-n", "2", *AUTH)])
def test_who_lost_the_session_stops_and_touches_nothing_of_the_new_owners(
    project: CrashProject, words: tuple[str, ...], busy: bool
) -> None:
    first = running(project, *words)
    os.kill(first.pid, signal.SIGSTOP)
    age_heartbeat(project, 100)
    if busy:  # its agent still runs when the session is taken over
        project.script("agent.sh", AGENT)
    else:
        let_go(project)
    nap(0.1)
    ran = project.run(*AUTH)
    assert ran.code == 0, ran
    assert "no sign of life" in ran.out
    before = project.files(is_the_losers)
    os.kill(first.pid, signal.SIGCONT)
    lost = finished(first)
    assert lost.code == 3, lost
    assert "session auth was taken over" in lost.out
    assert "Traceback" not in lost.err
    assert project.files(is_the_losers) == before
    assert project.run(*AUTH).code == 0
    assert project.calls().total() == (4 if busy else 3)
    assert project.is_quiet()


def is_the_losers(name: str) -> bool:
    """Its own attempt, and doit's memory, which may be deleted at any time."""
    return name.endswith("doit.db") or "0001/attempts/1/" in name


def test_two_sessions_run_side_by_side(project: CrashProject) -> None:
    one = project.start("loop:work", "session=one")
    two = project.start("loop:work", "session=two")
    until(lambda: project.called(2))
    let_go(project)
    assert (finished(one).code, finished(two).code) == (0, 0)
    for session in ("one", "two"):
        assert faults(project, session) == []
        assert len(project.events(session, "iteration")) == 3
    assert project.calls().total() == 6


def test_of_two_simultaneous_starts_exactly_one_wins(project: CrashProject) -> None:
    for number in range(20):
        check_one_wins(project, f"s{number}")
    assert project.calls().total() == 60
    assert torn_files(project) == []


def check_one_wins(project: CrashProject, session: str) -> None:
    calls = project.calls().total()
    pair = [project.start("loop:work", f"session={session}") for _ in range(2)]
    # The agents are held until one has lost, or both might win, one after the other.
    until(lambda: any(process.poll() is not None for process in pair))
    until(lambda: project.called(calls + 1))
    let_go(project)
    results = [finished(process) for process in pair]
    assert sorted(ran.code for ran in results) == [0, 3], results
    loser = next(ran for ran in results if ran.code == 3)
    assert "is already running (pid" in loser.err
    assert "Traceback" not in loser.err
    assert faults(project, session) == []
    assert len(project.events(session, "run")) == 1
    (project.folder / "go").unlink()


@pytest.mark.parametrize("words", [("-n", "2"), ("-n", "2", "-P", "process")])
def test_stages_that_end_at_once_are_one_runner(
    project: CrashProject, words: tuple[str, ...]
) -> None:
    let_go(project)
    sides = [{"name": name, "prompt": "Go.", "runs": 1} for name in ("a", "b", "c")]
    project.pipeline("all", [{"name": "sides", "parallel": sides}])
    assert project.run("pipeline:all", "session=auth").code == 0
    for name in ("doit.db", "a/state.json", "b/state.json", "c/state.json"):
        project.path("auth", name).unlink()
    ran = project.run(*words, "pipeline:all", "session=auth")
    assert ran.code == 0, ran
    assert project.calls().total() == 3
    assert project.path("auth", "b/state.json").exists()
    assert project.run("pipeline:all", "session=auth").code == 0
