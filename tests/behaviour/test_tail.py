"""`doit tail`: a session followed from another terminal."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from looptasks.core.secret import masked
from tests.support.bead_project import BeadProject
from tests.support.live_processes import within
from tests.support.project import Project
from tests.support.stub_claude import StubClaude, recorded

if TYPE_CHECKING:
    import subprocess

RUN = ("loop:tidy", "session=s")
# Says something, then waits for its file: `go.ITERATION`.
AGENT = """\
echo "at $LOOP_ITERATION"
while ! [ -f "go.$LOOP_ITERATION" ]; do sleep 0.05; done
echo "through with $LOOP_ITERATION"
"""


@pytest.fixture
def tidy(project: Project) -> Project:
    project.loop("tidy", max_iterations=2, validate="true")
    project.step("tidy", AGENT)
    return project


@contextmanager
def running(project: Project, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """Have doit run beside us, and end it in any case."""
    process = project.start(*words)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def printed(project: Project, iteration: int, words: str, stage: str = "tidy") -> bool:
    path = project.session("s", stage, f"iterations/{iteration:04d}/attempts/1/stdout")
    return within(20, lambda: path.exists() and words in path.read_text())


def rest(tail: "subprocess.Popen[str]") -> list[str]:
    # Not `communicate`: it would pass over what `readline` has read ahead.
    assert tail.stdout is not None
    with tail:
        return tail.stdout.read().splitlines()


def timeless(lines: list[str]) -> list[str]:
    return [re.sub(r"\d+(\.\d)? s\b", "T", line) for line in lines]


def test_a_session_is_followed_to_its_end(tidy: Project) -> None:
    with running(tidy, *RUN) as run:
        assert printed(tidy, 1, "at 1")
        tail = tidy.start("tail", "session=s")
        assert tail.stdout is not None
        first = tail.stdout.readline()
        assert re.fullmatch(
            rf"session s runs since \d\d:\d\d \(pid {run.pid}\)\n", first
        )
        assert tail.stdout.readline() == "tidy:0001  at 1\n"
        tidy.write("go.1", "")
        assert tail.stdout.readline() == "tidy:0001  through with 1\n"
        tidy.write("go.2", "")
        told = timeless(rest(tail))
    assert tail.returncode == 0
    assert told == [
        "tidy:0001  attempt 1: ok in T, check `true` passed",
        "tidy:0002  at 2",
        "tidy:0002  through with 2",
        "tidy:0002  attempt 1: ok in T, check `true` passed",
        "tidy  complete: ran 2 of 2 iterations",
        "session s runs no longer: complete; next: nothing; all stages are complete",
    ]


def test_only_the_last_lines_of_what_runs_are_told_first(tidy: Project) -> None:
    tidy.step("tidy", f"seq 100\n{AGENT}")
    with running(tidy, *RUN):
        assert printed(tidy, 1, "at 1")
        tail = tidy.start("tail", "session=s")
        assert tail.stdout is not None
        tail.stdout.readline()
        lines = [tail.stdout.readline() for _ in range(5)]
        tail.send_signal(signal.SIGINT)
        assert rest(tail) == []
    assert lines == [f"tidy:0001  {n}\n" for n in (97, 98, 99, 100, "at 1")]


def test_ctrl_c_ends_only_the_following(tidy: Project) -> None:
    with running(tidy, *RUN) as run:
        assert printed(tidy, 1, "at 1")
        files = tidy.files("s")
        tail = tidy.start("tail", "session=s")
        assert tail.stdout is not None
        tail.stdout.readline()

        tail.send_signal(signal.SIGINT)

        assert "Traceback" not in "".join(rest(tail))
        assert tail.returncode == 130
        assert tidy.files("s") == files
        assert run.poll() is None
        tidy.write("go.1", "")
        tidy.write("go.2", "")
        out, _ = run.communicate(timeout=30)
        assert run.returncode == 0, out


def test_a_session_that_does_not_run_shows_the_end_of_its_last_attempt(
    tidy: Project,
) -> None:
    tidy.loop("tidy", max_iterations=1, attempts=2, backoff=0)
    tidy.step(
        "tidy", 'seq 20; echo "$(ls .loop/s/tidy/iterations/0001/attempts)"; exit 1'
    )
    assert tidy.doit(*RUN).code == 1

    ran = tidy.ok("tail", "session=s")

    first, *lines = ran.out.splitlines()
    assert first == "session s is not running: failed; next: doit loop:tidy session=s"
    assert lines == [f"tidy:0001  {n}" for n in (*range(13, 21), 1, 2)]


def test_a_reader_that_goes_away_is_no_error(tidy: Project) -> None:
    tidy.step("tidy", "seq 20")
    tidy.ok(*RUN)

    ran = tidy.shell("doit tail session=s | head -n 1; exit ${PIPESTATUS:-0}")

    assert ran.code == 0
    assert ran.err == ""


def test_secrets_and_escapes_are_not_told(tidy: Project) -> None:
    tidy.step("tidy", "printf '\\033[2Jexport API_KEY=abcdef123456\\n10%%\\r20%%\\n'")
    tidy.ok(*RUN)

    ran = tidy.ok("tail", "session=s")

    assert ran.out.splitlines()[1:] == [
        "tidy:0002  export API_KEY=***",
        "tidy:0002  20%",
    ]


def test_an_unknown_session_is_a_mistake(tidy: Project) -> None:
    ran = tidy.doit("tail", "session=nowhere")

    assert ran.code == 3
    assert "there is no session `nowhere`" in ran.err


def test_a_named_agent_is_told_by_its_actions(project: Project) -> None:
    stub = StubClaude(project)
    stub.loop()
    wait = f"while ! [ -f {project.path('go')} ]; do sleep 0.05; done"
    stub.answers(recorded("claude-ok"), before=wait)
    with running(project, *RUN):
        assert within(20, lambda: project.runs() == ["tidy:1"])
        tail = project.start("tail", "session=s")
        assert tail.stdout is not None
        tail.stdout.readline()
        project.write("go", "")
        told = timeless(rest(tail))
    assert told == [
        "tidy:0001  I write.",
        "tidy:0001  Write /project/a.txt",
        "tidy:0001  All done.",
        "tidy:0001  attempt 1: ok in T, $0.00",
        "tidy  complete: ran 1 of 1 iteration",
        "session s runs no longer: complete; next: nothing; all stages are complete",
    ]


def test_failed_attempts_are_told_with_verdict_and_reason(project: Project) -> None:
    stub = StubClaude(project)
    stub.loop()
    wait = f"while ! [ -f {project.path('go')} ]; do sleep 0.05; done"
    stub.answers(recorded("claude-limit"), before=wait)
    with running(project, *RUN):
        assert within(20, lambda: project.runs() == ["tidy:1"])
        tail = project.start("tail", "session=s")
        assert tail.stdout is not None
        tail.stdout.readline()
        project.write("go", "")
        told = rest(tail)
    assert told[0] == "tidy:0001  waiting: rate limit, next try in 1s"
    assert told[1].startswith("tidy:0001  attempt 1: limit: usage limit (429): ")
    assert told[2].startswith("tidy  waiting: iteration 1 failed: limit: usage limit")


def test_json_is_what_the_agents_printed_as_it_is(project: Project) -> None:
    stub = StubClaude(project)
    stub.loop()
    stub.answers(recorded("claude-ok"))
    project.ok(*RUN)

    ran = project.ok("tail", "session=s", "--json")

    told = [json.loads(line) for line in ran.out.splitlines()]
    raw = masked(recorded("claude-ok")).splitlines()
    assert [line["line"] for line in told] == raw
    head = {"stage": "tidy", "iteration": 1, "attempt": 1}
    assert {**told[0], "line": ""} == {**head, "line": ""}


def test_agents_at_once_are_told_apart(fan: BeadProject) -> None:
    fan.bead("b-1")
    fan.bead("b-2")
    fan.does(
        "any", 'echo "I do $LOOP_BEAD"\nwhile ! [ -f "$home/go" ]; do sleep 0.05; done'
    )
    with running(fan, "-n", "2", "loop:swarm", "session=s"):
        assert printed(fan, 1, "b-1", "beads/b-1")
        assert printed(fan, 1, "b-2", "beads/b-2")
        tail = fan.start("tail", "session=s")
        assert tail.stdout is not None
        tail.stdout.readline()
        seen = {tail.stdout.readline() for _ in range(2)}
        fan.write("go", "")
        told = rest(tail)
    assert seen == {"bead:b-1:0001  I do b-1\n", "bead:b-2:0001  I do b-2\n"}
    assert {line.partition("  ")[0] for line in told[:-1]} >= {
        "bead:b-1:0001",
        "bead:b-2:0001",
        "bead:b-1",
        "bead:b-2",
    }
