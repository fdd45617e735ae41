"""On a terminal, a gate asks right there, and the run goes on with the answer."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.project import TIMEOUT, Project
from tests.support.tmux_pane import HAS_TMUX, PROMPT, Pane, pane

WAYS = "[a]pprove, [r]eject, [i]terate, [q]uit: "
LAST = "to go on: doit approve plan session=s && doit pipeline:p session=s"
RUN = ("pipeline:p", "session=s")

needs_tmux = pytest.mark.skipif(not HAS_TMUX, reason="there is no tmux here")


@pytest.fixture
def gated(project: Project) -> Project:
    project.pipeline(
        "p",
        {"name": "plan", "prompt": "${FEEDBACK}", "runs": 1, "gate": "user"},
        {"name": "work", "prompt": "${INPUTS}", "runs": 1},
    )
    return project


class Talk:
    """A doit process on a pseudo-terminal, and what it has printed there."""

    def __init__(self, project: Project, *words: str, **env: str) -> None:
        self._here, there = pty.openpty()
        self.text = ""
        self._read = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "doit", *words],
            cwd=project.root,
            env=project.environment(TERM="dumb", **env),
            stdin=there,
            stdout=there,
            stderr=there,
            start_new_session=True,
        )
        os.close(there)

    def say(self, text: str) -> None:
        os.write(self._here, text.encode())

    def hears(self, text: str) -> None:
        """Wait until it prints something after what was waited for before."""
        until = time.monotonic() + TIMEOUT
        while text not in self.text[self._read :]:
            assert time.monotonic() < until, self.text
            assert self._look(), self.text
        self._read = self.text.index(text, self._read) + len(text)

    def _look(self) -> bool:
        if not select.select([self._here], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._here, 1 << 16)
        except OSError:  # how Linux tells the end
            return False
        self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def end(self) -> tuple[int, str]:
        """Wait for its end; return its exit code and the last line."""
        while self._look() and self.process.poll() is None:
            pass
        code = self.process.wait(TIMEOUT)
        while select.select([self._here], [], [], 0.1)[0] and self._look():
            pass
        return code, self.text.rstrip().splitlines()[-1]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._here)


@contextmanager
def talk(project: Project, *words: str, **env: str) -> Iterator[Talk]:
    talking = Talk(project, *(words or RUN), **env)
    try:
        yield talking
    finally:
        talking.close()


def test_an_approval_at_the_terminal_lets_the_run_go_on(gated: Project) -> None:
    with talk(gated) as talking:
        talking.hears("plan waits for your word:\n  plan says 1\n")
        talking.hears(WAYS)
        talking.say("a\n")
        code, last = talking.end()
    assert code == 0, talking.text
    assert last.startswith("complete: pipeline:p in session s, 2 iterations")
    assert gated.runs() == ["plan:1", "work:1"]
    assert gated.ledger("s", "gate")[0]["decision"] == "approve"
    assert len(gated.ledger("s", "run")) == 1


def test_feedback_at_the_terminal_is_heard_and_asked_about_again(
    gated: Project,
) -> None:
    with talk(gated) as talking:
        talking.hears(WAYS)
        talking.say("i\n")
        talking.hears("what is to change? ")
        talking.say("name the tables\n")
        talking.hears("plan waits for your word:\n  plan says 2\n")
        talking.hears(WAYS)
        talking.say("approve\n")
        code, _ = talking.end()
    assert code == 0, talking.text
    assert "name the tables" in gated.prompt("s", "plan", 2)
    assert gated.runs() == ["plan:1", "plan:2", "work:1"]


def test_a_rejection_at_the_terminal_fails_the_stage(gated: Project) -> None:
    with talk(gated) as talking:
        talking.hears(WAYS)
        talking.say("r\n")
        talking.hears("why? ")
        talking.say("\n")  # no reason is none
        talking.hears(WAYS)
        talking.say("r\n")
        talking.hears("why? ")
        talking.say("too long\n")
        code, last = talking.end()
    assert code == 1, talking.text
    assert ": too long; " in last
    assert gated.ledger("s", "gate")[0]["reason"] == "too long"


@pytest.mark.parametrize("way", ["q\n", "\x04", "\x03"])
def test_who_does_not_answer_finds_the_question_again(gated: Project, way: str) -> None:
    with talk(gated) as talking:
        talking.hears(WAYS)
        talking.say("perhaps\n")
        talking.hears(WAYS)
        os.kill(talking.process.pid, 2) if way == "\x03" else talking.say(way)
        code, last = talking.end()
    assert code == 4, talking.text
    assert last.endswith(LAST)
    assert talking.text.count("plan says 1") == 1
    assert gated.ledger("s", "gate") == []
    assert "Traceback" not in talking.text


def test_what_was_typed_before_the_question_is_no_answer(gated: Project) -> None:
    gated.step("plan", "touch started; while [ ! -e go ]; do sleep 0.05; done")
    with talk(gated) as talking:
        talking.hears("stage:plan:0001")
        talking.say("a\na\n")
        gated.write("go", "")
        talking.hears(WAYS)
        talking.say("q\n")
        code, _ = talking.end()
    assert code == 4
    assert gated.ledger("s", "gate") == []


def test_an_answer_from_another_terminal_wins_and_is_said(gated: Project) -> None:
    with talk(gated) as talking:
        talking.hears(WAYS)
        gated.ok("approve", "plan", "session=s", "by=ann")
        talking.hears("plan was answered meanwhile: approved by ann at 20")
        code, _ = talking.end()
    assert code == 0, talking.text
    assert gated.runs() == ["plan:1", "work:1"]


def test_nobody_is_asked_in_ci(gated: Project) -> None:
    with talk(gated, CI="true") as talking:
        code, last = talking.end()
    assert code == 4
    assert last.endswith(LAST)
    assert WAYS not in talking.text


def test_nobody_is_asked_where_machines_read(gated: Project) -> None:
    with talk(gated, "run", "-r", "json", *RUN) as talking:
        code, _ = talking.end()
    assert code == 4
    assert WAYS not in talking.text


def test_a_session_that_waits_asks_again_at_the_terminal(gated: Project) -> None:
    assert gated.doit(*RUN).code == 4
    with talk(gated) as talking:
        talking.hears(WAYS)
        talking.say("a\n")
        code, _ = talking.end()
    assert code == 0
    assert gated.runs() == ["plan:1", "work:1"]


def in_pane(shell: Pane) -> None:
    shell.type("doit pipeline:p session=s; echo exit $?")


@needs_tmux
def test_under_tmux_the_question_stands_below_the_view_and_is_answered(
    gated: Project,
) -> None:
    with pane(gated.root, gated.environment(TERM="xterm-256color")) as shell:
        in_pane(shell)
        shell.sees("plan waits for your word:", "  plan says 1", WAYS.strip())
        assert shell.is_sane()
        shell.type("i")
        shell.sees("what is to change?")
        shell.type("say it in French")
        shell.sees("  plan says 2", WAYS.strip())
        shell.type("a")
        seen = shell.sees("exit 0", PROMPT)
        assert shell.is_sane()
    assert any("complete: pipeline:p" in line for line in seen)
    assert "say it in French" in gated.prompt("s", "plan", 2)
    assert gated.runs() == ["plan:1", "plan:2", "work:1"]


@needs_tmux
def test_under_tmux_ctrl_c_leaves_the_question_open(gated: Project) -> None:
    with pane(gated.root, gated.environment(TERM="xterm-256color")) as shell:
        in_pane(shell)
        shell.sees(WAYS.strip())
        shell.press("C-c")
        shell.sees("exit 4", PROMPT)
        assert shell.is_sane()
    assert gated.ledger("s", "gate") == []
