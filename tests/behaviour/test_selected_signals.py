"""Signals to a part of a session: others go on, and people see who has heard."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject
from tests.support.live_processes import within
from tests.support.project import Project
from tests.support.stub_claude import StubClaude, limited, recorded

if TYPE_CHECKING:
    import subprocess

RUNNERS = {
    "serial": (),
    "threads": ("-n", "2"),
    "processes": ("-n", "2", "-P", "process"),
}
RUN = ("pipeline:p", "session=s")
# Says that it is there, and waits until it may go on.
HELD = """\
touch "at.$LOOP_TYPE.$LOOP_ITERATION"
until [ -e "go.$LOOP_TYPE" ]; do sleep 0.02; done
"""

each_runner = pytest.mark.parametrize("how", RUNNERS)


@pytest.fixture
def piped(project: Project) -> Project:
    """A pipeline whose stages `a` and `b` rest on nothing, and `c` on `a`."""
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 3, "inputs": []},
        {"name": "b", "prompt": "B", "runs": 3, "inputs": []},
        {"name": "c", "prompt": "C", "runs": 1, "inputs": ["a"]},
    )
    project.step("a", HELD)
    return project


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    out, _ = process.communicate(timeout=60)
    return process.returncode, out


def last(out: str) -> str:
    return out.splitlines()[-1]


def run_until(project: Project, how: str, *names: str) -> "subprocess.Popen[str]":
    process = project.start(*RUNNERS[how], *RUN)
    for name in names:
        assert within(30, project.path(name).exists), process.poll()
    return process


def signals(project: Project) -> list[dict[str, Any]]:
    found = project.ok("status", "session=s", "--json").json["signals"]
    return list(found)


@each_runner
def test_a_paused_stage_lets_others_go_on_and_is_named_at_the_end(
    piped: Project, how: str
) -> None:
    process = run_until(piped, how, "at.a.1")
    piped.ok("pause", "stage:a", "session=s", "reason=lunch")
    piped.write("go.a", "")
    code, out = ended(process)

    assert code == 4, out
    assert sorted(piped.new_runs()) == ["a:1", "b:1", "b:2", "b:3"]
    assert last(out) == (
        "waiting: a: pause of stage:a was asked for; to go on: "
        "doit resume stage:a session=s && doit pipeline:p session=s"
    )
    assert piped.state("s", "a")["status"] == "paused"
    assert piped.state("s", "b")["status"] == "complete"
    ran = piped.shell(last(out).rpartition("to go on: ")[2])
    assert ran.code == 0, ran
    assert piped.runs() == ["a:2", "a:3", "c:1"]


def test_a_pause_is_acknowledged_at_the_boundary_and_shown(piped: Project) -> None:
    process = run_until(piped, "threads", "at.a.1")
    piped.step("b", HELD)
    piped.ok("pause", "stage:a", "session=s", "reason=lunch")
    told = piped.ok("status", "session=s").out
    assert "pause stage:a by " in told
    assert ": lunch\n          not acknowledged yet\n" in told
    (before,) = signals(piped)
    assert (before["selector"], before["acknowledged"]) == ("stage:a", [])
    piped.write("go.a", "")
    assert within(30, lambda: signals(piped)[0]["acknowledged"] == ["a"])
    assert "          acknowledged by a\n" in piped.ok("status", "session=s").out
    piped.write("go.b", "")
    assert ended(process)[0] == 4
    asked, (ack,) = piped.ledger("s", "signal"), piped.ledger("s", "ack")
    assert asked[0]["selector"] == "stage:a"
    assert piped.ledger("s")[ack["line"] - 1] == asked[0]
    assert (ack["stage"], ack["signal"]) == ("a", "pause")


def test_a_stage_that_is_resumed_in_time_goes_on_in_the_same_run(
    piped: Project,
) -> None:
    piped.step("b", HELD)
    process = run_until(piped, "threads", "at.a.1", "at.b.1")
    piped.ok("pause", "stage:a", "session=s")
    piped.write("go.a", "")
    assert within(30, lambda: signals(piped)[0]["acknowledged"] == ["a"])
    assert "goes on" in piped.ok("resume", "stage:a", "session=s").out
    assert signals(piped) == []
    piped.write("go.b", "")
    code, out = ended(process)

    assert code == 0, out
    assert sorted(piped.runs()) == ["a:1", "a:2", "a:3", "b:1", "b:2", "b:3", "c:1"]
    assert len(piped.ledger("s", "run")) == 1


@each_runner
def test_descendants_rest_and_what_they_rest_on_does_not(
    piped: Project, how: str
) -> None:
    process = run_until(piped, how, "at.a.1")
    piped.ok("pause", "descendants:a", "session=s")
    piped.write("go.a", "")
    code, out = ended(process)

    assert code == 4, out
    assert sorted(piped.runs()) == ["a:1", "a:2", "a:3", "b:1", "b:2", "b:3"]
    assert last(out).startswith("waiting: c: pause of descendants:a was asked for; ")
    assert [e["stage"] for e in piped.ledger("s", "ack")] == ["c"]


def test_a_stopped_stage_needs_no_resuming(piped: Project) -> None:
    process = run_until(piped, "threads", "at.a.1")
    piped.ok("stop", "stage:a", "session=s")
    piped.write("go.a", "")
    code, out = ended(process)

    assert code == 4, out
    assert sorted(piped.new_runs()) == ["a:1", "b:1", "b:2", "b:3"]
    assert last(out).endswith("; to go on: doit pipeline:p session=s")
    piped.ok(*RUN)
    assert piped.runs() == ["a:2", "a:3", "c:1"]


def test_what_is_running_now_is_paused_and_nothing_that_starts_later(
    piped: Project,
) -> None:
    process = run_until(piped, "serial", "at.a.1")
    piped.ok("pause", "status:running", "session=s")
    assert piped.ledger("s", "signal")[0]["stages"] == ["a"]
    piped.write("go.a", "")
    code, out = ended(process)

    assert code == 4, out
    assert piped.runs() == ["a:1", "b:1", "b:2", "b:3"]
    piped.ok("resume", "status:paused", "session=s")
    piped.ok(*RUN)
    assert piped.state("s", "c")["status"] == "complete"


def test_one_stage_of_a_paused_session_can_be_let_go(piped: Project) -> None:
    process = run_until(piped, "serial", "at.a.1")
    piped.ok("stop", "session=s")
    piped.write("go.a", "")
    assert ended(process)[0] == 4
    piped.ok("pause", "session=s")
    piped.ok("resume", "stage:b", "session=s")
    piped.new_runs()

    ran = piped.doit(*RUN)
    assert ran.code == 4, ran
    assert piped.new_runs() == ["b:1", "b:2", "b:3"]
    assert piped.shell(ran.command).code == 0
    assert piped.runs() == ["a:2", "a:3", "c:1"]


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("stage:bb", "did you mean `b`"),
        ("stge:b", "did you mean `stage`"),
        ("descendants:x", "use one of `a`, `b`, `c`"),
        ("status:runing", "did you mean `running`"),
        ("status:failed", "nothing of session `s` is failed now"),
        ("bead:x", "there is no bead"),
    ],
)
def test_a_selector_that_means_nothing_is_refused_before_anything_is_written(
    piped: Project, selector: str, told: str
) -> None:
    piped.write("go.a", "")
    piped.ok(*RUN)
    before = piped.read(".loop", "s", "ledger.jsonl")
    for command in ("pause", "resume", "stop"):
        ran = piped.doit(command, selector, "session=s")
        assert ran.code == 3, ran
        assert told in ran.err
    assert piped.read(".loop", "s", "ledger.jsonl") == before


def test_a_part_cannot_be_stopped_at_once(piped: Project) -> None:
    process = run_until(piped, "serial", "at.a.1")
    ran = piped.doit("stop", "stage:a", "now=yes", "session=s")
    assert (ran.code, piped.ledger("s", "signal")) == (3, [])
    piped.write("go.a", "")
    assert ended(process)[0] == 0


@each_runner
def test_a_stage_that_waits_before_it_tries_again_hears_its_signal_alone(
    project: Project, how: str
) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1, "timeout": 0.2, "backoff": 600},
        {"name": "b", "prompt": "B", "runs": 2, "inputs": []},
    )
    project.step("a", "sleep 9")
    process = project.start(*RUNNERS[how], *RUN)
    ledger = project.session("s", "ledger.jsonl")
    assert within(30, lambda: ledger.exists() and project.ledger("s", "attempt") != [])
    project.ok("pause", "stage:a", "session=s")
    code, out = ended(process)

    assert code == 4, out
    assert [e["iteration"] for e in project.ledger("s", "ack")] == [1]
    assert project.state("s", "b")["iteration_completed"] == 2


@pytest.fixture
def fan(tmp_path: Path) -> BeadProject:
    made = BeadProject(tmp_path / "project")
    made.swarm()
    return made


def test_one_bead_is_paused_and_the_others_are_done(fan: BeadProject) -> None:
    for name in ("a-1", "a-2", "a-3"):
        fan.bead(name)
    fan.does("a-3", 'touch "$home/at"; until [ -e "$home/go" ]; do sleep 0.02; done')
    process = fan.start(SWARM, SESSION)
    assert within(30, fan.path("at").exists)
    fan.ok("pause", "bead:a-1", SESSION)
    fan.write("go", "")
    code, out = ended(process)

    assert code == 4, out
    assert fan.statuses() == {"a-1": "open", "a-2": "closed", "a-3": "closed"}
    assert last(out).endswith(
        "to go on: doit resume bead:a-1 session=s && doit loop:swarm session=s"
    )
    assert fan.shell(last(out).rpartition("to go on: ")[2]).code == 0
    assert fan.status("a-1") == "closed"


def test_a_paused_fan_starts_no_further_bead(fan: BeadProject) -> None:
    for name in ("a-1", "a-2", "a-3"):
        fan.bead(name)
    fan.does("any", 'touch "$home/at"; until [ -e "$home/go" ]; do sleep 0.02; done')
    process = fan.start(SWARM, SESSION)
    assert within(30, fan.path("at").exists)
    fan.ok("pause", "stage:swarm", SESSION)
    fan.write("go", "")
    code, out = ended(process)

    assert code == 4, out
    assert len(fan.began()) == 1
    assert sorted(fan.statuses().values()) == ["closed", "open", "open"]


def test_an_iteration_that_was_given_up_while_it_waited_is_made_when_resumed(
    project: Project,
) -> None:
    stub = StubClaude(project)
    claude = {"agent": "claude", "runs": 1, "inputs": [], "on_limit": "wait"}
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "attempts": 1, "timeout": 60, **claude},
        {"name": "b", "prompt": "B", "runs": 2, "inputs": []},
    )
    # The runs of `b` are counted too: the first call is number 1 or 2.
    soon = int(time.time()) + 8
    stub.answers(limited(soon), limited(soon), recorded("claude-ok"))
    project.step("b", HELD)
    process = run_until(project, "threads", "at.b.1")
    ledger = project.session("s", "ledger.jsonl")
    assert within(30, lambda: '"verdict":"limit"' in ledger.read_text())
    project.ok("pause", "stage:a", "session=s")
    assert within(30, lambda: signals(project)[0]["acknowledged"] == ["a"])
    project.ok("resume", "stage:a", "session=s")
    project.write("go.b", "")
    code, out = ended(process)

    assert code == 0, out
    assert len(project.ledger("s", "run")) == 1
    assert [e["attempts"] for e in project.ledger("s", "iteration")].count(2) == 1
