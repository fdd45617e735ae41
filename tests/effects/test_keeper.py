"""The keeper records how commands ended and leaves none of them running."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import looptasks
from looptasks.core.process import Command
from looptasks.effects.keeper_processes import KeeperProcesses
from looptasks.errors import LoopError
from tests.support.live_processes import (
    alive,
    any_alive,
    carrying,
    pids_in,
    within,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ROOT = str(Path(looptasks.__file__).parent.parent)

# Forks twice, leaves its session, says who it is, and lives for long.
DAEMON = """
import os, signal, sys, time
{before}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {inside}
        with open({pids!r}, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
        time.sleep(60)
    os._exit(0)
while not os.path.exists({pids!r}) or not open({pids!r}).read().endswith("\\n"):
    time.sleep(0.005)
{after}
"""

RUNNER = """
import sys
sys.path.insert(0, {root!r})
from looptasks.core.process import Command
from looptasks.effects.keeper_processes import KeeperProcesses
processes = KeeperProcesses()
print(processes.run(Command(**{command!r})), flush=True)
{after}
"""


@pytest.fixture
def processes() -> Iterator[KeeperProcesses]:
    made = KeeperProcesses()
    yield made
    made.close()


def command(tmp_path: Path, *argv: str, **more: Any) -> Command:
    (tmp_path / "prompt").touch()
    settings = {
        "cwd": str(tmp_path),
        "stdin": str(tmp_path / "prompt"),
        "stdout": str(tmp_path / "stdout"),
        "stderr": str(tmp_path / "stderr"),
        "record": str(tmp_path / "result.json"),
    }
    return Command(argv=argv, **{**settings, **more})


def sh(tmp_path: Path, script: str, **more: Any) -> Command:
    return command(tmp_path, "sh", "-c", script, **more)


def daemon(tmp_path: Path, before: str = "", inside: str = "", after: str = "") -> str:
    pids = str(tmp_path / "pids")
    script = tmp_path / "daemon.py"
    script.write_text(
        DAEMON.format(pids=pids, before=before, inside=inside or "pass", after=after)
    )
    return str(script)


def record(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "result.json").read_text())
    return found


def runner(command: Command, after: str = "") -> "subprocess.Popen[str]":
    script = RUNNER.format(root=ROOT, command=command._asdict(), after=after)
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill_dead(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


@pytest.mark.parametrize("code", [0, 3, 255])
def test_an_exit_code_is_returned_and_recorded(
    tmp_path: Path, processes: KeeperProcesses, code: int
) -> None:
    ended = processes.run(sh(tmp_path, f"echo out; echo err >&2; exit {code}"))
    assert (ended.how, ended.exit_code, ended.signal) == ("exit", code, None)
    assert record(tmp_path) == {
        "schema": 1,
        **ended._asdict(),
        "seconds": pytest.approx(ended.seconds, abs=1e-5),
    }
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "err\n"


def test_a_signal_is_no_exit_code(tmp_path: Path, processes: KeeperProcesses) -> None:
    ended = processes.run(sh(tmp_path, "kill -SEGV $$"))
    assert (ended.how, ended.exit_code) == ("exit", None)
    assert ended.signal == signal.SIGSEGV


def test_the_prompt_is_read_from_standard_input(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    asked = command(tmp_path, "cat")
    (tmp_path / "prompt").write_text("do it")
    processes.run(asked)
    assert (tmp_path / "stdout").read_text() == "do it"


def test_both_streams_may_share_a_file_in_order(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    both = str(tmp_path / "log")
    processes.run(sh(tmp_path, "echo 1; echo 2 >&2; echo 3", stdout=both, stderr=both))
    assert (tmp_path / "log").read_text() == "1\n2\n3\n"


def test_streams_without_a_path_go_nowhere(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    quiet = {"stdin": "", "stdout": "", "stderr": "", "record": ""}
    assert processes.run(sh(tmp_path, "cat; echo x", **quiet)).exit_code == 0
    assert not (tmp_path / "result.json").exists()


def test_variables_are_added_to_the_inherited_ones(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    processes.run(sh(tmp_path, 'echo "$GREETING" "$HOME"', env={"GREETING": "häh"}))
    assert (tmp_path / "stdout").read_text() == f"häh {os.environ['HOME']}\n"


def test_without_inheritance_a_command_sees_its_own_variables_only(
    tmp_path: Path,
) -> None:
    hermetic = KeeperProcesses(inherit_env=False)
    hermetic.run(command(tmp_path, "/usr/bin/env", env={"A": "1"}))
    hermetic.close()
    names = {line.split("=")[0] for line in (tmp_path / "stdout").read_text().split()}
    assert names == {"A", "LOOPTASKS_CALL"}


def test_a_program_is_looked_up_on_the_commands_own_path(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    program = tmp_path / "bin" / "my-agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 5\n")
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    assert processes.run(command(tmp_path, "my-agent", env=path)).exit_code == 5
    assert processes.run(command(tmp_path, "my-agent")).how == "unstartable"
    assert processes.run(command(tmp_path, "bin/my-agent")).exit_code == 5


@pytest.mark.parametrize(
    ("change", "blamed"),
    [
        ({"argv": ("no-such-agent",)}, "no-such-agent`: not found on PATH"),
        ({"argv": ("./missing",)}, "./missing`: No such file"),
        ({"argv": ("./prompt",)}, "./prompt`: Permission denied"),
        ({"argv": ("true", "a\0b")}, "true`: embedded null byte"),
        ({"cwd": "/no/such/folder"}, "/no/such/folder`: No such file"),
        ({"stdin": "/no/such/prompt"}, "/no/such/prompt`: No such file"),
        ({"stdout": "/no/such/folder/out"}, "/no/such/folder/out`: No such file"),
    ],
)
def test_what_cannot_be_started_is_named(
    tmp_path: Path,
    processes: KeeperProcesses,
    change: dict[str, Any],
    blamed: str,
) -> None:
    ended = processes.run(command(tmp_path, "true")._replace(**change))
    assert ended.how == "unstartable"
    assert blamed in ended.detail
    assert record(tmp_path)["detail"] == ended.detail


def busy_script(tmp_path: Path) -> tuple[Path, BinaryIO]:
    """Return a script that somebody has open for writing."""
    script = tmp_path / "fresh.sh"
    script.write_text("#!/bin/sh\nexit 5\n")
    script.chmod(0o755)
    return script, script.open("ab")


def test_a_script_that_is_being_written_is_waited_for(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    script, writer = busy_script(tmp_path)
    with writer, pytest.raises(OSError, match="Text file busy"):
        subprocess.run([script], check=False)
    script, writer = busy_script(tmp_path)
    closing = threading.Timer(0.1, writer.close)
    closing.start()
    assert processes.run(command(tmp_path, "./fresh.sh")).exit_code == 5
    closing.join()


def test_a_script_that_stays_open_for_writing_cannot_be_started(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    _, writer = busy_script(tmp_path)
    with writer:
        ended = processes.run(command(tmp_path, "./fresh.sh"))
    assert ended.how == "unstartable"
    assert "./fresh.sh`: Text file busy" in ended.detail


def test_an_empty_command_is_an_error_in_words(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    with pytest.raises(LoopError, match="empty"):
        processes.run(command(tmp_path))


def test_a_result_that_cannot_be_written_is_still_told(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    ended = processes.run(sh(tmp_path, "exit 4", record="/dev/full/result.json"))
    assert (ended.how, ended.exit_code) == ("exit", 4)
    assert "could not be written" in ended.detail


def test_a_command_over_its_time_is_ended(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    ended = processes.run(sh(tmp_path, "sleep 60", timeout=0.2))
    assert (ended.how, ended.signal) == ("timeout", signal.SIGTERM)
    assert record(tmp_path)["how"] == "timeout"


def test_a_silent_command_is_ended_but_not_a_talking_one(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    talk = "for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.2; done; sleep 60"
    ended = processes.run(sh(tmp_path, talk, idle_timeout=0.8))
    assert ended.how == "idle"
    assert (tmp_path / "stderr").read_text().split()[-1] == "6"


def test_a_command_that_ignores_term_is_killed(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    stubborn = "trap '' TERM; while :; do sleep 0.05; done"
    ended = processes.run(sh(tmp_path, stubborn, timeout=0.1))
    assert (ended.how, ended.signal) == ("timeout", signal.SIGKILL)


def test_a_stopped_command_is_ended(tmp_path: Path, processes: KeeperProcesses) -> None:
    ended = processes.run(sh(tmp_path, "kill -STOP $$; sleep 60", timeout=0.2))
    assert (ended.how, ended.signal) == ("timeout", signal.SIGTERM)


def test_a_command_that_cleans_up_on_term_is_still_a_timeout(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    tidy = "trap 'echo tidy; exit 0' TERM; while :; do sleep 0.02; done"
    ended = processes.run(sh(tmp_path, tidy, timeout=0.2))
    assert (ended.how, ended.exit_code) == ("timeout", 0)
    assert (tmp_path / "stdout").read_text() == "tidy\n"


def test_background_children_end_with_their_command(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    ended = processes.run(sh(tmp_path, "sleep 60 & echo $! > pids; exit 0"))
    assert (ended.how, ended.exit_code) == ("exit", 0)
    (pid,) = pids_in(tmp_path / "pids")
    assert not alive(pid)


@pytest.mark.parametrize("inside", ["", "signal.signal(15, signal.SIG_IGN)"])
def test_a_daemon_in_its_own_session_ends_with_its_command(
    tmp_path: Path, processes: KeeperProcesses, inside: str
) -> None:
    ended = processes.run(
        command(tmp_path, sys.executable, daemon(tmp_path, inside=inside))
    )
    assert (ended.how, ended.exit_code) == ("exit", 0)
    (pid,) = pids_in(tmp_path / "pids")
    assert not alive(pid)


def test_a_daemon_that_hides_its_environment_ends_too(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    script = daemon(tmp_path)
    hidden = f"exec env -i {sys.executable} {script}"
    processes.run(sh(tmp_path, hidden))
    (pid,) = pids_in(tmp_path / "pids")
    assert not alive(pid)


def test_a_daemon_of_one_command_ends_while_another_runs_on(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            processes.run, sh(other, "setsid sleep 2 & wait; echo whole")
        )
        processes.run(command(tmp_path, sys.executable, daemon(tmp_path)))
        (pid,) = pids_in(tmp_path / "pids")
        assert not alive(pid)
        assert not running.done()
        assert running.result().exit_code == 0
    assert (other / "stdout").read_text() == "whole\n"


def test_a_daemon_ends_when_time_is_up(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    script = daemon(tmp_path, after="time.sleep(60)")
    ended = processes.run(command(tmp_path, sys.executable, script, timeout=1))
    assert ended.how == "timeout"
    (pid,) = pids_in(tmp_path / "pids")
    assert not alive(pid)


def test_hundreds_of_children_in_many_sessions_all_end(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    swarm = (
        "i=0; while [ $i -lt 150 ]; do setsid sleep 60 & sleep 60 & i=$((i+1)); done;"
        " echo ready; wait"
    )
    mark = f"swarm-{os.urandom(6).hex()}"
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(processes.run, sh(tmp_path, swarm, env={"SWARM": mark}))
        ready = tmp_path / "stdout"
        assert within(20, lambda: ready.exists() and ready.read_text() == "ready\n")
        assert len(carrying(mark)) > 250
        processes.stop_all()
        assert run.result().how == "interrupted"
    assert not carrying(mark)


def test_commands_of_a_nested_keeper_end_with_the_outer_command(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    asked = sh(inner, "echo $$ > pids; trap '' TERM; while :; do sleep 0.1; done")
    script = RUNNER.format(root=ROOT, command=asked._asdict(), after="")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(
            processes.run, command(tmp_path, sys.executable, "-c", script)
        )
        assert within(20, lambda: pids_in(inner / "pids"))
        processes.stop_all()
        assert run.result().how == "interrupted"
    (pid,) = pids_in(inner / "pids")
    assert not alive(pid)


def test_stop_all_ends_every_running_command(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(3) as pool:
        runs = [
            pool.submit(processes.run, sh(f, "touch up; sleep 60")) for f in folders
        ]
        assert within(5, lambda: all((f / "up").exists() for f in folders))
        processes.stop_all()
        assert [run.result().how for run in runs] == ["interrupted"] * 3
    assert processes.run(sh(tmp_path, "exit 0")).how == "exit"


def test_stop_all_starts_no_keeper(processes: KeeperProcesses) -> None:
    processes.stop_all()
    assert processes.keeper == 0


def test_an_interrupt_ends_the_tree_and_is_raised(tmp_path: Path) -> None:
    script = daemon(tmp_path, after="time.sleep(60)")
    process = runner(command(tmp_path, sys.executable, script))
    assert within(10, lambda: pids_in(tmp_path / "pids"))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors
    assert record(tmp_path)["how"] == "interrupted"
    assert not any_alive(pids_in(tmp_path / "pids"))


@pytest.mark.parametrize("inside", ["", "signal.signal(15, signal.SIG_IGN)"])
def test_nothing_is_left_two_seconds_after_the_runner_was_killed(
    tmp_path: Path, inside: str
) -> None:
    mark = f"killed-{os.urandom(6).hex()}"
    script = daemon(tmp_path, before=inside, inside=inside, after="time.sleep(60)")
    asked = command(tmp_path, sys.executable, script, env={"MARK": mark})
    process = runner(asked)
    assert within(10, lambda: pids_in(tmp_path / "pids"))
    assert len(carrying(mark)) >= 2
    kill_dead(process)
    assert within(2, lambda: not carrying(mark))
    assert within(2, (tmp_path / "result.json").exists)
    assert record(tmp_path)["how"] == "orphaned"


def test_a_forked_child_that_holds_the_socket_keeps_no_command_alive(
    tmp_path: Path,
) -> None:
    mark = f"forked-{os.urandom(6).hex()}"
    asked = sh(tmp_path, "touch up; sleep 60", env={"MARK": mark})
    after = f"""
import os, threading, time
threading.Thread(target=processes.run, args=(Command(**{asked._asdict()!r}),)).start()
while not os.path.exists({str(tmp_path / "up")!r}):
    time.sleep(0.01)
if os.fork() == 0:
    time.sleep(5)
    os._exit(0)
print("forked", flush=True)
time.sleep(60)
"""
    process = runner(sh(tmp_path, "exit 0"), after)
    assert process.stdout is not None
    assert within(10, (tmp_path / "up").exists)
    assert "Ended" in process.stdout.readline()
    assert "forked" in process.stdout.readline()
    process.kill()
    assert within(2, lambda: not carrying(mark))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_forked_child_gets_a_keeper_of_its_own(tmp_path: Path) -> None:
    asked = sh(tmp_path, "exit 0")
    after = """
import os
first = processes.keeper
if os.fork() == 0:
    processes.run(Command(**{command!r}))
    print("own" if processes.keeper not in (0, first) else "shared", flush=True)
    processes.close()
    os._exit(0)
os.wait()
print(processes.run(Command(**{command!r})).how, flush=True)
""".format(command=asked._asdict())
    out, errors = runner(asked, after).communicate(timeout=20)
    assert out.split()[-2:] == ["own", "exit"], errors


def test_a_command_that_ended_before_its_runner_is_never_lost(tmp_path: Path) -> None:
    process = runner(sh(tmp_path, "touch up; sleep 0.3; exit 7"))
    assert within(10, (tmp_path / "up").exists)
    process.send_signal(signal.SIGSTOP)  # it can never hear of the end
    assert within(5, (tmp_path / "result.json").exists)
    kill_dead(process)
    assert (record(tmp_path)["how"], record(tmp_path)["exit_code"]) == ("exit", 7)


def test_an_exit_that_was_reached_is_recorded_whenever_the_runner_dies(
    tmp_path: Path,
) -> None:
    dice = random.Random(20240607)
    hows = []
    for number in range(30):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = runner(sh(folder, "touch up; sleep 0.02; exit 7"))
        assert within(10, (folder / "up").exists)
        time.sleep(dice.uniform(0.005, 0.035))
        kill_dead(process)
        assert within(4, (folder / "result.json").exists)
        found = record(folder)
        hows.append(found["how"])
        if found["how"] == "exit":
            assert found["exit_code"] == 7
        else:
            assert (found["how"], found["signal"]) == ("orphaned", signal.SIGTERM)
    assert "exit" in hows


def test_a_killed_keeper_is_an_error_that_leaves_no_process(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    mark = f"bereft-{os.urandom(6).hex()}"
    script = daemon(tmp_path, after="time.sleep(60)")
    asked = command(tmp_path, sys.executable, script, env={"MARK": mark})

    def kill_keeper() -> None:
        assert within(10, lambda: pids_in(tmp_path / "pids"))
        os.kill(processes.keeper, signal.SIGKILL)

    killer = threading.Thread(target=kill_keeper)
    killer.start()
    with pytest.raises(LoopError, match=r"keeper .* ended unexpectedly \(signal 9\)"):
        processes.run(asked)
    killer.join()
    assert not carrying(mark)
    assert processes.run(sh(tmp_path, "exit 0")).how == "exit"


def test_a_keeper_killed_while_idle_is_an_error_once(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    processes.run(sh(tmp_path, "exit 0"))
    os.kill(processes.keeper, signal.SIGKILL)
    with pytest.raises(LoopError, match="keeper"):
        processes.run(sh(tmp_path, "exit 0"))
    assert processes.run(sh(tmp_path, "exit 0")).how == "exit"


def test_the_keeper_ignores_what_a_terminal_sends(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    processes.run(sh(tmp_path, "exit 0"))
    keeper = processes.keeper
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(keeper, number)
    assert processes.run(sh(tmp_path, "kill -TERM $$")).signal == signal.SIGTERM
    assert processes.keeper == keeper


def test_closing_ends_the_keeper(tmp_path: Path) -> None:
    processes = KeeperProcesses()
    processes.run(sh(tmp_path, "exit 0"))
    keeper = processes.keeper
    processes.close()
    processes.close()
    assert not alive(keeper)


def test_300_commands_leak_no_descriptor_and_no_zombie(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    def facts() -> tuple[int, int, str]:
        keeper = processes.keeper
        children = Path(f"/proc/{keeper}/task/{keeper}/children").read_text()
        ours, theirs = (
            len(list(Path(f"/proc/{who}/fd").iterdir())) for who in ("self", keeper)
        )
        return theirs, ours, children.strip()

    processes.run(sh(tmp_path, "exit 0"))
    before = facts()
    for number in range(300):
        bad = "true" if number % 10 else "./missing"
        processes.run(command(tmp_path, bad))
    assert facts() == before


def test_eight_threads_get_their_own_answers(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    def one(number: int) -> tuple[int, int | None, str]:
        folder = tmp_path / str(number)
        folder.mkdir()
        ended = processes.run(sh(folder, f"echo {number}; exit {number % 256}"))
        return number, ended.exit_code, (folder / "stdout").read_text().strip()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(80)))
    assert answers == [(n, n % 256, str(n)) for n in range(80)]


def test_a_flood_of_output_costs_no_memory(tmp_path: Path) -> None:
    flood = command(tmp_path, "head", "-c", "200000000", "/dev/zero")
    after = """
def peak(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
print(peak("self"), peak(processes.keeper), flush=True)
"""
    out, errors = runner(flood, after).communicate(timeout=30)
    size = (tmp_path / "stdout").stat().st_size
    (tmp_path / "stdout").unlink()
    assert size == 200_000_000, errors
    assert all(int(kib) < 60_000 for kib in out.split("\n")[1].split())


def test_what_a_dead_keeper_left_is_ended_by_its_runs_mark(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    run = f"run-{os.urandom(6).hex()}"
    orphan = subprocess.Popen(
        [sys.executable, daemon(tmp_path)],
        env={**os.environ, "LOOPTASKS_RUN": run},
        start_new_session=True,
    )
    orphan.wait()
    (pid,) = pids_in(tmp_path / "pids")
    assert alive(pid)
    assert processes.end_marked(f"{run}-other") == 0
    assert processes.end_marked(run) == 1
    assert not alive(pid)
