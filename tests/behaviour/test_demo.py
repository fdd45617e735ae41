"""`doit demo`: what a newcomer sees first is true."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from looptasks.effects.demo_folder import new_demo
from looptasks.effects.shown_command import shown
from tests.support.doit_process import Ran, doit, environment
from tests.support.live_processes import carrying, within


class Demo:
    """A demo that was played in an empty folder, which uses no loader of ours."""

    def __init__(self, top: Path) -> None:
        folder = top / "empty"
        folder.mkdir()
        self.env = environment(top / "environment", registered=True)
        self.mark = f"DEMO_TEST={top}"
        self.ran: Ran = doit(
            folder, "demo", env={**self.env, "DEMO_TEST": str(top), "LOOP_AGENT": "no"}
        )
        self.folder = folder / "looptasks-demo"

    def events(self, session: str, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind in a session's ledger."""
        text = (self.folder / ".loop" / session / "ledger.jsonl").read_text()
        events = [json.loads(line) for line in text.splitlines()]
        return [event for event in events if event["event"] == kind]

    def iterations(self, session: str) -> list[tuple[str, int]]:
        """Return stage and number of every finished iteration, in order."""
        done = self.events(session, "iteration")
        return [(event["stage"], event["iteration"]) for event in done]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Return a demo, played once for all tests of this module."""
    return Demo(tmp_path_factory.mktemp("demo"))


def test_the_demo_ends_well_and_shows_what_was_made(demo: Demo) -> None:
    assert (demo.ran.code, demo.ran.err) == (0, "")
    assert "\n$ sh slug.sh 'Hello, World!'\nhello-world\n" in demo.ran.out
    assert (demo.folder / "NOTES.md").read_text() in demo.ran.out


def test_the_loop_stops_when_two_agents_in_a_row_agree(demo: Demo) -> None:
    said = [e["parsed"]["plateau"] for e in demo.events("refine", "iteration")]
    assert said == ["false", "true", "true"]


def test_the_check_overrules_an_agent_that_says_it_is_done(demo: Demo) -> None:
    codes = [e["validation"]["exit_code"] for e in demo.events("code", "iteration")]
    assert codes == [1, 1, 0]
    said = demo.folder / ".loop/code/code/iterations/0001/output.md"
    assert said.read_text().startswith("Done!")


def test_the_killed_run_has_no_end_and_the_next_one_repeats_nothing(demo: Demo) -> None:
    assert len(demo.events("code", "run")) == 2
    assert len(demo.events("code", "end")) == 1
    assert demo.iterations("code") == [("code", 1), ("code", 2), ("code", 3)]
    assert "resuming code: 2 iterations done, continuing with 3" in demo.ran.out


def test_the_killed_attempt_is_kept(demo: Demo) -> None:
    attempts = demo.folder / ".loop/code/code/iterations/0003/attempts"
    assert sorted(path.name for path in attempts.iterdir()) == ["1", "2"]
    assert [e["attempt"] for e in demo.events("code", "attempt")] == [1]


def test_the_second_stage_rests_when_the_first_comes_out_the_same(demo: Demo) -> None:
    assert demo.iterations("notes") == [("facts", 1), ("write", 1), ("facts", 1)]
    assert "stage:write is up to date" in demo.ran.out


def test_every_path_that_the_demo_names_is_there(demo: Demo) -> None:
    listed = demo.ran.out.partition("Open these in looptasks-demo/:\n")[2]
    paths = [line.split()[0] for line in listed.partition("\n\n")[0].splitlines()]
    assert paths
    assert [path for path in paths if not (demo.folder / path).exists()] == []


def test_the_command_that_goes_on_can_be_pasted(demo: Demo) -> None:
    command = demo.ran.out.rpartition("Go on yourself:")[2].strip()
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=demo.folder.parent,
        env=demo.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pipeline:notes" in done.stdout


def test_nothing_that_the_demo_started_is_left_running(demo: Demo) -> None:
    assert within(5, lambda: not carrying(demo.mark))


def test_a_second_demo_leaves_the_first_alone(tmp_path: Path) -> None:
    first = Path(new_demo(str(tmp_path)))
    (first / "slug.sh").write_text("mine\n")
    second = Path(new_demo(str(tmp_path)))
    assert (first.name, second.name) == ("looptasks-demo", "looptasks-demo-2")
    assert (first / "slug.sh").read_text() == "mine\n"
    assert not (second / "slug.sh").exists()


def test_a_demo_with_an_argument_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    env = environment(tmp_path / "environment", registered=True)
    ran = doit(tmp_path, "demo", "fast", env=env)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("`demo` takes no argument, and got `fast`\n  fix: ")
    assert not (tmp_path / "looptasks-demo").exists()


def test_a_task_of_others_called_demo_is_still_theirs(tmp_path: Path) -> None:
    env = environment(tmp_path / "environment", registered=True)
    (tmp_path / "dodo.py").write_text(
        "def task_demo():\n    return {'actions': ['echo theirs > made']}\n"
    )
    assert doit(tmp_path, "demo", env=env).code == 0
    assert (tmp_path / "made").read_text() == "theirs\n"
    assert not (tmp_path / "looptasks-demo").exists()


def test_a_shown_command_tells_its_lines_and_its_exit_code(tmp_path: Path) -> None:
    lines: list[str] = []
    assert shown("echo one; echo two >&2; exit 5", str(tmp_path), lines.append) == 5
    assert lines == ["one", "two"]


def test_a_shown_command_dies_when_the_fatal_path_appears(tmp_path: Path) -> None:
    lines: list[str] = []
    command = (
        f"exec {sys.executable} -c \"import time; open('now','w'); time.sleep(9)\""
    )
    assert shown(command, str(tmp_path), lines.append, "now") == -9
    assert lines[-1].startswith("$ kill -9 ")
