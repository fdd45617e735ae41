"""Ctrl-C, SIGTERM and SIGHUP stop everything, say so, and lose nothing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crash import CrashProject, faults, finished, nap, until
from tests.support.doit_process import Ran

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

# Waits in a child of a child that has left the process group.
AGENT = """\
#!/bin/sh
cat
echo "$LOOP_SESSION $LOOP_TYPE $LOOP_ITERATION" >> calls.log
[ -e go ] || setsid -w sh -c 'sleep 60 & wait'
echo "answer to iteration $LOOP_ITERATION by $$"
"""
RUNNERS = {
    "serial": (),
    "threads": ("-n", "2"),
    "processes": ("-n", "2", "-P", "process"),
}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = "interrupted; to go on: doit loop:work session=s"

each_runner = pytest.mark.parametrize("how", RUNNERS)
each_signal = pytest.mark.parametrize("number", SIGNALS, ids=lambda s: s.name)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[CrashProject]:
    made = CrashProject(tmp_path, AGENT)
    made.loop(max_iterations=2)
    yield made
    made.end_all()


def start(project: CrashProject, how: str) -> "subprocess.Popen[str]":
    return project.start(*RUNNERS[how], "loop:work", "session=s")


def interrupted(
    process: "subprocess.Popen[str]", *signals: signal.Signals, group: bool = False
) -> Ran:
    for number in signals:
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        nap(0.05)
    return finished(process)


def result(project: CrashProject, iteration: int, attempt: int) -> dict[str, Any]:
    path = f"work/iterations/{iteration:04d}/attempts/{attempt}/result.json"
    found: dict[str, Any] = json.loads(project.path("s", path).read_bytes())
    return found


def check_interrupted(project: CrashProject, ran: Ran) -> None:
    assert ran.code == 130, ran
    assert ran.out.splitlines()[-1] == AGAIN
    assert "Traceback" not in ran.err + ran.out, ran.err
    assert project.is_quiet()
    assert not project.path("s", "run.json").exists()
    assert project.events("s")[-1]["event"] == "end"
    assert project.events("s")[-1]["exit"] == 130


def check_goes_on(project: CrashProject, attempts: list[int]) -> None:
    (project.folder / "go").touch()
    ran = project.run("loop:work", "session=s")
    assert ran.code == 0, ran
    assert faults(project, "s") == []
    assert [e["attempts"] for e in project.events("s", "iteration")] == attempts


@each_runner
@each_signal
def test_an_interrupted_agent_is_ended_recorded_and_tried_again(
    project: CrashProject, how: str, number: signal.Signals
) -> None:
    process = start(project, how)
    until(project.called)
    check_interrupted(project, interrupted(process, number))
    assert result(project, 1, 1)["how"] == "interrupted"
    (attempt,) = project.events("s", "attempt")
    assert (attempt["iteration"], attempt["attempt"]) == (1, 1)
    assert attempt["verdict"] == "interrupted"
    check_goes_on(project, [2, 1])


@each_runner
def test_an_interrupt_of_the_whole_group_is_no_different(
    project: CrashProject, how: str
) -> None:
    process = start(project, how)
    until(project.called)
    check_interrupted(project, interrupted(process, signal.SIGINT, group=True))
    assert result(project, 1, 1)["how"] == "interrupted"
    assert len(project.events("s", "attempt")) == 1
    check_goes_on(project, [2, 1])


@each_runner
@pytest.mark.parametrize("group", [False, True])
def test_more_signals_do_not_disturb_the_ending(
    project: CrashProject, how: str, group: bool
) -> None:
    # An agent that does not want to end gives the second signal something to hit.
    project.script("agent.sh", AGENT.replace("cat\n", "trap '' TERM\ncat\n", 1))
    process = start(project, how)
    until(project.called)
    both = (signal.SIGTERM, signal.SIGTERM, signal.SIGINT)
    check_interrupted(project, interrupted(process, *both, group=group))
    assert [e["verdict"] for e in project.events("s", "attempt")] == ["interrupted"]
    check_goes_on(project, [2, 1])


def held_in_delay(project: CrashProject) -> Callable[[], bool]:
    project.loop(max_iterations=2, delay=60)
    (project.folder / "go").touch()
    return lambda: len(project.events("s", "iteration")) == 1


def held_in_backoff(project: CrashProject) -> Callable[[], bool]:
    project.loop(max_iterations=2, timeout=0.2, backoff=60, attempts=3)
    return lambda: len(project.events("s", "attempt")) == 1


def held_in_check(project: CrashProject) -> Callable[[], bool]:
    project.loop(
        max_iterations=2,
        validate="[ -e checked ] || { touch checking; setsid -w sleep 60; }",
    )
    (project.folder / "go").touch()
    return (project.folder / "checking").exists


@each_runner
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_delay_between_iterations_can_be_interrupted(
    project: CrashProject, how: str, number: signal.Signals
) -> None:
    until_then = held_in_delay(project)
    process = start(project, how)
    until(until_then)
    nap(0.2)
    check_interrupted(project, interrupted(process, number))
    assert project.events("s", "attempt") == []
    project.loop(max_iterations=2)
    check_goes_on(project, [1, 1])


@each_runner
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_backoff_between_attempts_can_be_interrupted(
    project: CrashProject, how: str, number: signal.Signals
) -> None:
    until_then = held_in_backoff(project)
    process = start(project, how)
    until(until_then)
    nap(0.1)
    check_interrupted(project, interrupted(process, number))
    assert [e["verdict"] for e in project.events("s", "attempt")] == ["timeout"]
    project.loop(max_iterations=2)
    check_finishes_after_a_timeout(project)


def check_finishes_after_a_timeout(project: CrashProject) -> None:
    (project.folder / "go").touch()
    assert project.run("loop:work", "session=s").code == 0
    assert [e["attempts"] for e in project.events("s", "iteration")] == [2, 1]


@each_runner
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_says_nothing_about_the_work(
    project: CrashProject, how: str, number: signal.Signals
) -> None:
    until_then = held_in_check(project)
    process = start(project, how)
    until(until_then)
    check_interrupted(project, interrupted(process, number))
    assert project.events("s", "iteration") == []
    assert project.events("s", "attempt") == []
    (project.folder / "checked").touch()
    check_goes_on(project, [1, 1])
    assert project.calls().total() == 2
    codes = [e["validation"]["exit_code"] for e in project.events("s", "iteration")]
    assert codes == [0, 0]


@each_runner
def test_stages_side_by_side_are_interrupted_together(
    project: CrashProject, how: str
) -> None:
    sides = [{"name": name, "prompt": "Go.", "runs": 1} for name in ("a", "b")]
    project.pipeline("all", [{"name": "both", "parallel": sides}])
    process = project.start(*RUNNERS[how], "pipeline:all", "session=s")
    count = 1 if how == "serial" else 2
    until(lambda: project.called(count))
    ran = interrupted(process, signal.SIGTERM)
    assert ran.code == 130
    assert ran.out.endswith("to go on: doit pipeline:all session=s\n")
    assert project.is_quiet()
    found = project.events("s", "attempt")
    assert [e["verdict"] for e in found] == ["interrupted"] * count
    assert project.events("s")[-1]["event"] == "end"
    (project.folder / "go").touch()
    assert project.run("pipeline:all", "session=s").code == 0
    assert faults(project, "s") == []


def test_nohup_is_respected(project: CrashProject) -> None:
    project.script("nohup.sh", '#!/bin/sh\ntrap "" HUP\nexec "$@"\n')
    process = subprocess.Popen(
        ["./nohup.sh", sys.executable, "-m", "doit", "loop:work", "session=s"],
        cwd=project.folder,
        env=project.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(project.called)
    process.send_signal(signal.SIGHUP)
    nap(0.3)
    assert process.poll() is None
    check_interrupted(project, interrupted(process, signal.SIGTERM))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_only_loads_can_be_interrupted(
    project: CrashProject, number: signal.Signals
) -> None:
    project.write(
        "dodo.py", "import time, pathlib\npathlib.Path('l').touch()\ntime.sleep(60)\n"
    )
    process = start(project, "serial")
    until((project.folder / "l").exists)
    ran = interrupted(process, number)
    assert ran.code in (130, -signal.SIGTERM, -signal.SIGINT)
    assert not project.path("s").exists()


def test_killed_workers_of_a_killed_doit_leave_no_agent(project: CrashProject) -> None:
    process = start(project, "processes")
    until(project.called)
    process.kill()
    assert project.is_quiet()
    process.communicate()
    check_goes_on(project, [2, 1])
