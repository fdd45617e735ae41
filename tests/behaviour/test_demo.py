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

WORK, GATE = "iteration", "gate"


class Demo:
    """A demo that was played in an empty folder, which uses no loader of ours."""

    def __init__(self, top: Path, *words: str) -> None:
        folder = top / "empty"
        folder.mkdir()
        self.env = environment(top / "environment", registered=True)
        self.mark = f"DEMO_TEST={top}"
        env = {**self.env, "DEMO_TEST": str(top), "LOOP_AGENT": "no"}
        self.ran: Ran = doit(folder, "demo", *words, env=env)
        (self.folder,) = folder.glob("looptasks-*")

    def ledger(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a session's ledger."""
        text = (self.folder / ".loop" / session / "ledger.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def events(self, session: str, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind in a session's ledger."""
        return [event for event in self.ledger(session) if event["event"] == kind]

    def iterations(self, session: str) -> list[tuple[str, int]]:
        """Return stage and number of every finished iteration, in order."""
        done = self.events(session, "iteration")
        return [(event["stage"], event["iteration"]) for event in done]


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Return the tour, played once for all tests of this module."""
    return Demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def onion(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Return the demo of the onion, played once for all tests of this module."""
    return Demo(tmp_path_factory.mktemp("onion"), "onion")


@pytest.fixture(params=["tour", "onion"])
def demo(request: pytest.FixtureRequest) -> Demo:
    """Return each of the demos."""
    played: Demo = request.getfixturevalue(request.param)
    return played


def test_a_demo_ends_well(demo: Demo) -> None:
    assert (demo.ran.code, demo.ran.err) == (0, "")


def test_the_tour_shows_what_was_made(tour: Demo) -> None:
    assert "\n$ sh slug.sh 'Hello, World!'\nhello-world\n" in tour.ran.out
    assert (tour.folder / "NOTES.md").read_text() in tour.ran.out


def test_the_loop_stops_when_two_agents_in_a_row_agree(tour: Demo) -> None:
    said = [e["parsed"]["plateau"] for e in tour.events("refine", "iteration")]
    assert said == ["false", "true", "true"]


def test_the_check_overrules_an_agent_that_says_it_is_done(tour: Demo) -> None:
    codes = [e["validation"]["exit_code"] for e in tour.events("code", "iteration")]
    assert codes == [1, 1, 0]
    said = tour.folder / ".loop/code/code/iterations/0001/output.md"
    assert said.read_text().startswith("Done!")


def test_the_killed_run_has_no_end_and_the_next_one_repeats_nothing(tour: Demo) -> None:
    assert len(tour.events("code", "run")) == 2
    assert len(tour.events("code", "end")) == 1
    assert tour.iterations("code") == [("code", 1), ("code", 2), ("code", 3)]
    assert "resuming code: 2 iterations done, continuing with 3" in tour.ran.out


def test_the_killed_attempt_is_kept(tour: Demo) -> None:
    attempts = tour.folder / ".loop/code/code/iterations/0003/attempts"
    assert sorted(path.name for path in attempts.iterdir()) == ["1", "2"]
    assert [e["attempt"] for e in tour.events("code", "attempt")] == [1]


def test_the_second_stage_rests_when_the_first_comes_out_the_same(tour: Demo) -> None:
    assert tour.iterations("notes") == [("facts", 1), ("write", 1), ("facts", 1)]
    assert "stage:write is up to date" in tour.ran.out


def test_every_path_that_the_demo_names_is_there(demo: Demo) -> None:
    listed = demo.ran.out.partition(f"Open these in {demo.folder.name}/:\n")[2]
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
    assert "pipeline:onion" in done.stdout


def test_nothing_that_the_demo_started_is_left_running(demo: Demo) -> None:
    assert within(5, lambda: not carrying(demo.mark))


def test_the_onion_waits_for_a_word_before_it_unfolds(onion: Demo) -> None:
    first, second, third, *_ = onion.iterations("card")
    assert [first, second, third] == [("plan", 1), ("plan", 2), ("plan", 3)]
    events = [e["event"] for e in onion.ledger("card") if e["event"] in (GATE, WORK)]
    assert events == [WORK] * 3 + [GATE] + [WORK] * 33


def test_one_changed_text_repeats_a_third_of_the_onion(onion: Demo) -> None:
    done = onion.iterations("card")
    specs = [("spec/picture", number) for number in (1, 2, 3)]
    phases = [
        (f"{kind}/picture/{name}", 1)
        for kind in ("phase", "code")
        for name in ("candles", "cake", "plate")
    ]
    assert len(set(done)) == 27
    assert sorted(done[27:]) == sorted([*specs, *phases])
    assert "\n27 agent calls in all\n" in onion.ran.out
    assert "\n9 of 27 agent calls ran again\n" in onion.ran.out


def test_the_card_has_another_cake_and_the_same_verse(onion: Demo) -> None:
    cards = onion.ran.out.split("\n$ sh card.sh\n")[1:]
    flames = [card.partition("\n")[0].count(",") for card in cards]
    verses = {card.partition("\n\n")[2].partition("\n  ->")[0] for card in cards}
    assert flames == [3, 5]
    assert len(verses) == 1
    assert verses.pop().count("\n") == 5


def test_a_second_demo_leaves_the_first_alone(tmp_path: Path) -> None:
    first = Path(new_demo(str(tmp_path), "tour", "looptasks-demo"))
    (first / "slug.sh").write_text("mine\n")
    second = Path(new_demo(str(tmp_path), "tour", "looptasks-demo"))
    assert (first.name, second.name) == ("looptasks-demo", "looptasks-demo-2")
    assert (first / "slug.sh").read_text() == "mine\n"
    assert not (second / "slug.sh").exists()


def test_a_copy_is_the_project_and_nothing_has_run_in_it(tmp_path: Path) -> None:
    env = environment(tmp_path / "environment", registered=True)
    ran = doit(tmp_path, "demo", "--copy", env=env)
    assert (ran.code, ran.out) == (0, "A new project is in looptasks-demo/\n")
    assert (tmp_path / "looptasks-demo/loops/work/prompt.md").exists()
    assert not (tmp_path / "looptasks-demo/.loop").exists()


def test_a_demo_that_there_is_not_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    env = environment(tmp_path / "environment", registered=True)
    ran = doit(tmp_path, "demo", "fast", env=env)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("there is no demo `fast`\n  fix: run `doit demo`")
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
