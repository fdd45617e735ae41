"""A replay does what was recorded, and nothing outside its folder."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import looptasks
from looptasks.core.agent import Answer, Call, Tokens
from looptasks.effects.replay_agent import ReplayAgent
from tests.support.live_processes import within

ROOT = str(Path(looptasks.__file__).parent.parent)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    """Return the recording of iteration 1 of stage `work`."""
    folder = tmp_path / "tape" / "work" / "0001"
    folder.mkdir(parents=True)
    (folder / "output.md").write_text("done\n")
    (tmp_path / "project").mkdir()
    return folder


def call(tmp_path: Path, **more: Any) -> Call:
    return Call(
        prompt=str(tmp_path / "prompt.md"),
        folder=str(tmp_path / "attempt"),
        cwd=str(tmp_path / "project"),
        stage="work",
        iteration=1,
    )._replace(**more)


def play(tmp_path: Path, **more: Any) -> Answer:
    agent, asked = ReplayAgent(str(tmp_path / "tape")), call(tmp_path, **more)
    agent.call(asked)
    found = agent.read(asked.folder)
    assert found is not None
    return found


def tree(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_the_recorded_answer_and_files_come_back(tmp_path: Path, tape: Path) -> None:
    (tape / "files" / "src").mkdir(parents=True)
    (tape / "files" / "src" / "run.sh").write_text("new")
    (tape / "files" / "src" / "run.sh").chmod(0o755)
    (tape / "deleted.json").write_text('["old.txt", "never/was.txt"]')
    (tape / "usage.json").write_text(
        '{"cost_usd": 0.25, "tokens": {"input": 5, "output": 6}}'
    )
    (tmp_path / "project" / "old.txt").write_text("old")
    found = play(tmp_path)
    assert (found.verdict, found.exit_code) == ("ok", 0)
    assert (found.cost_usd, found.tokens) == (0.25, Tokens(5, 6))
    assert Path(found.text).read_text() == "done\n"
    assert tree(tmp_path / "project") == {"src/run.sh": "new"}
    assert os.access(tmp_path / "project" / "src" / "run.sh", os.X_OK)
    left = {"stdout", "stderr", "result.json", "usage.json"}
    assert {path.name for path in (tmp_path / "attempt").iterdir()} == left


def test_iterations_are_found_without_a_folder_for_the_stage(
    tmp_path: Path, tape: Path
) -> None:
    tape.rename(tmp_path / "tape" / "0001")
    (tmp_path / "tape" / "work").rmdir()
    assert play(tmp_path).verdict == "ok"


def test_a_missing_iteration_is_an_error_that_names_the_path(
    tmp_path: Path, tape: Path
) -> None:
    found = play(tmp_path, iteration=2)
    assert found.verdict == "error"
    assert str(tape.parent / "0002" / "output.md") in found.reason
    assert "\n  fix: " in found.reason
    assert "record=" in found.reason
    assert found.reason in (tmp_path / "attempt" / "stderr").read_text()


def test_a_recorded_exit_code_is_played(tmp_path: Path, tape: Path) -> None:
    (tape / "replay.json").write_text('{"exit_code": 9, "seconds": 0.05}')
    found = play(tmp_path)
    assert (found.verdict, found.exit_code) == ("transient", 9)
    assert found.seconds >= 0.05


def test_a_slow_recording_runs_into_the_time_limit(tmp_path: Path, tape: Path) -> None:
    (tape / "replay.json").write_text('{"seconds": 60}')
    assert play(tmp_path, timeout=0.1).verdict == "timeout"


def test_a_slow_recording_can_be_stopped(tmp_path: Path, tape: Path) -> None:
    (tape / "replay.json").write_text('{"seconds": 60}')
    agent = ReplayAgent(str(tmp_path / "tape"), stopped=lambda: True)
    agent.call(call(tmp_path))
    found = agent.read(str(tmp_path / "attempt"))
    assert found is not None
    assert found.verdict == "interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="timing of signals")
def test_an_interrupt_is_recorded_and_raised(tmp_path: Path, tape: Path) -> None:
    (tape / "replay.json").write_text('{"seconds": 60}')
    script = f"""
import sys
sys.path.insert(0, {ROOT!r})
from looptasks.core.agent import Call
from looptasks.effects.replay_agent import ReplayAgent
ReplayAgent({str(tmp_path / "tape")!r}).call(Call(**{call(tmp_path)._asdict()!r}))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True
    )
    assert within(10, (tmp_path / "attempt" / "stderr").exists)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors
    found = json.loads((tmp_path / "attempt" / "result.json").read_text())
    assert found["how"] == "interrupted"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("replay.json", "nonsense"),
        ("replay.json", "[]"),
        ("replay.json", '{"seconds": -1}'),
        ("replay.json", '{"exit_code": "x"}'),
        ("deleted.json", '{"a": 1}'),
        ("deleted.json", "[1]"),
    ],
)
def test_a_garbled_recording_is_named(
    tmp_path: Path, tape: Path, name: str, text: str
) -> None:
    (tape / name).write_text(text)
    found = play(tmp_path)
    assert found.verdict == "error"
    assert str(tape / name) in found.reason


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "a/../../outside.txt",
        "{tmp}/outside.txt",
        "link/outside.txt",
        ".git/config",
        "sub/.GIT/config",
        ".loop/run.lock",
        "",
        "a\0b",
    ],
)
def test_no_recorded_path_leads_out_of_the_project(
    tmp_path: Path, tape: Path, path: str
) -> None:
    (tmp_path / "outside.txt").write_text("mine")
    (tmp_path / "project" / "link").symlink_to(tmp_path)
    (tmp_path / "project" / "keep.txt").write_text("mine")
    listed = ["keep.txt", path.format(tmp=tmp_path)]
    (tape / "deleted.json").write_text(json.dumps(listed))
    found = play(tmp_path)
    assert found.verdict == "error"
    assert (tmp_path / "outside.txt").read_text() == "mine"
    assert (tmp_path / "project" / "keep.txt").exists()


def test_no_recorded_file_is_written_through_a_link(tmp_path: Path, tape: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "project" / "src").symlink_to(tmp_path / "outside")
    (tape / "files" / "src").mkdir(parents=True)
    (tape / "files" / "src" / "a.txt").write_text("new")
    assert play(tmp_path).verdict == "error"
    assert not list((tmp_path / "outside").iterdir())


def test_a_link_in_the_projects_place_is_replaced_not_followed(
    tmp_path: Path, tape: Path
) -> None:
    (tmp_path / "outside.txt").write_text("mine")
    (tmp_path / "project" / "a.txt").symlink_to(tmp_path / "outside.txt")
    (tape / "files").mkdir()
    (tape / "files" / "a.txt").write_text("new")
    assert play(tmp_path).verdict == "ok"
    assert (tmp_path / "outside.txt").read_text() == "mine"
    assert (tmp_path / "project" / "a.txt").read_text() == "new"


@pytest.mark.parametrize("name", ["output.md", "usage.json", "files", "files/a.txt"])
def test_no_link_in_a_recording_is_followed(
    tmp_path: Path, tape: Path, name: str
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.txt").write_text("secret")
    (tape / "output.md").unlink() if name == "output.md" else None
    (tape / name).parent.mkdir(exist_ok=True)
    whole = name == "files"
    target = tmp_path / "secret" if whole else tmp_path / "secret" / "a.txt"
    (tape / name).symlink_to(target)
    assert play(tmp_path).verdict == "error"
    assert not tree(tmp_path / "project")


@pytest.mark.parametrize("stage", ["../tape/work", "/etc", "..", ""])
def test_a_stage_name_leads_nowhere_else(
    tmp_path: Path, tape: Path, stage: str
) -> None:
    assert tape.exists()
    assert play(tmp_path, stage=stage).verdict == "error"


def test_a_replay_that_was_cut_short_can_be_played_again(
    tmp_path: Path, tape: Path
) -> None:
    (tape / "files").mkdir()
    (tape / "files" / "a.txt").write_text("new")
    (tmp_path / "project" / ".a.txt.part").write_text("ne")
    assert play(tmp_path).verdict == "ok"
    assert tree(tmp_path / "project") == {"a.txt": "new"}


def variant(tape: Path, name: str, when: str) -> None:
    folder = tape.parent / name
    folder.mkdir()
    (folder / "output.md").write_text(f"{name}\n")
    (folder / "replay.json").write_text(json.dumps({"when": when}))


def test_an_answer_to_other_words_is_played_when_the_prompt_has_them(
    tmp_path: Path, tape: Path
) -> None:
    variant(tape, "0001.five", "five candles")
    variant(tape, "0002.five", "three candles")
    for words, answer in (("three candles", "done"), ("five candles", "0001.five")):
        (tmp_path / "prompt.md").write_text(f"Draw {words}.\n")
        assert Path(play(tmp_path).text).read_text() == f"{answer}\n"


def test_an_answer_that_names_no_words_is_never_played(
    tmp_path: Path, tape: Path
) -> None:
    variant(tape, "0001.none", "")
    (tmp_path / "prompt.md").write_text("Draw.\n")
    assert Path(play(tmp_path).text).read_text() == "done\n"


def test_each_instance_has_a_recording_of_its_own(tmp_path: Path, tape: Path) -> None:
    inner = tape.parent.parent / "spec" / "db-schema" / "0001"
    inner.mkdir(parents=True)
    (inner / "output.md").write_text("tables\n")
    assert Path(play(tmp_path, stage="spec/db-schema").text).read_text() == "tables\n"


def test_a_recorded_artifact_is_handed_in_where_it_is_asked_for(
    tmp_path: Path, tape: Path
) -> None:
    (tape / "artifact.json").write_text('{"title": "T"}')
    target = tmp_path / "project" / ".loop" / "artifact.json"
    assert play(tmp_path, env={"LOOP_ARTIFACT": str(target)}).verdict == "ok"
    assert target.read_text() == '{"title": "T"}'
