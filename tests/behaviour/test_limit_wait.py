"""A usage limit that is waited for: people can still end the waiting."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.support.live_processes import within
from tests.support.project import Project, Ran
from tests.support.stub_claude import StubClaude, limited, recorded

IN_2100, THEN = 4102444800, "2100-01-01T00:00:00Z"
RUNNERS = {
    "serial": (),
    "threads": ("-n", "2"),
    "processes": ("-n", "2", "-P", "process"),
}
PROMPTLY = 10  # seconds, for a machine that is busy

each_runner = pytest.mark.parametrize("how", RUNNERS)


class Waiting:
    """A run that waits until the year 2100."""

    def __init__(self, project: Project, how: str) -> None:
        self.project = project
        stub = StubClaude(project)
        stub.loop(on_limit="wait", attempts=1)
        stub.answers(limited(IN_2100), recorded("claude-ok"))
        self.process = project.start(*RUNNERS[how], "loop:tidy", "session=s")
        assert within(30, self._waits)

    def _waits(self) -> bool:
        ledger = self.project.session("s", "ledger.jsonl")
        return ledger.exists() and bool(self.project.ledger("s", "attempt"))

    def end(self) -> Ran:
        """Return how the run ended, which it must do at once."""
        try:
            out, _ = self.process.communicate(timeout=PROMPTLY)
        except subprocess.TimeoutExpired:
            raise AssertionError("it goes on waiting") from None
        return Ran(self.process.returncode, out, "")


@pytest.fixture
def waiting(project: Project, how: str) -> Iterator[Waiting]:
    made = Waiting(project, how)
    yield made
    made.process.kill()
    made.process.communicate()


def check_nothing_counted(project: Project) -> None:
    assert project.runs() == ["tidy:1"]
    assert [e["verdict"] for e in project.ledger("s", "attempt")] == ["limit"]
    assert project.ledger("s", "iteration") == []
    assert not project.session("s", "run.json").exists()


def check_goes_on(project: Project, command: str) -> None:
    ran = project.shell(command)
    assert ran.code == 0, ran
    assert project.state("s", "tidy")["iteration_completed"] == 1
    assert project.runs() == ["tidy:1", "tidy:1"]


@each_runner
@pytest.mark.parametrize("word", ["stop", "pause"])
def test_a_signal_ends_the_waiting_and_counts_nothing(
    waiting: Waiting, project: Project, word: str
) -> None:
    project.ok(word, "session=s")

    ran = waiting.end()

    assert ran.code == 4, ran
    assert f"usage limit: waiting until {THEN}" in ran.out
    assert ran.last.startswith(f"waiting: tidy: {word} was asked for; to go on: doit ")
    state = project.state("s", "tidy")
    assert (state["status"], state["iteration_completed"]) == ("paused", 0)
    check_nothing_counted(project)
    check_goes_on(project, ran.command)


@each_runner
def test_a_stop_at_once_ends_the_waiting_as_an_interrupt_does(
    waiting: Waiting, project: Project
) -> None:
    project.ok("stop", "session=s", "now=yes")

    ran = waiting.end()

    assert ran.code == 130, ran
    assert ran.last == "interrupted; to go on: doit loop:tidy session=s"
    check_nothing_counted(project)
    check_goes_on(project, ran.command)


@pytest.mark.parametrize("how", ["serial"])
def test_a_pause_that_was_taken_back_in_time_ends_nothing(
    waiting: Waiting, project: Project
) -> None:
    project.ok("resume", "session=s")

    with pytest.raises(subprocess.TimeoutExpired):
        waiting.process.communicate(timeout=1)
    project.ok("stop", "session=s")
    assert waiting.end().code == 4
