"""A recording holds what an agent did, so that a replay does the same."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from looptasks.core.agent import Call, Tokens
from looptasks.effects.command_agent import CommandAgent
from looptasks.effects.keeper_processes import KeeperProcesses
from looptasks.effects.recording_agent import RecordingAgent
from looptasks.effects.replay_agent import ReplayAgent

WORK = """
set -e
echo changed > kept/changed.txt
mkdir -p new/deep && echo fresh > new/deep/file.txt
printf '#!/bin/sh\\n' > new/run.sh && chmod +x new/run.sh
rm kept/gone.txt
mkdir -p .git .loop && echo no > .git/config && echo no > .loop/x
ln -s /etc/hostname new/link
head -c 11000000 /dev/zero > big.bin
echo '{"cost_usd": 1.5, "tokens": {"input": 3, "output": 4}}' > "$LOOP_USAGE"
echo the answer
"""


@pytest.fixture
def processes() -> Iterator[KeeperProcesses]:
    made = KeeperProcesses()
    yield made
    made.close()


def project(folder: Path) -> Path:
    (folder / "kept").mkdir(parents=True)
    for name in ("same", "changed", "gone"):
        (folder / "kept" / f"{name}.txt").write_text("before\n")
    return folder


def call(tmp_path: Path, name: str, cwd: Path, iteration: int = 1) -> Call:
    (tmp_path / "prompt.md").touch()
    attempt = tmp_path / "attempts" / name
    attempt.mkdir(parents=True, exist_ok=True)
    return Call(str(tmp_path / "prompt.md"), str(attempt), str(cwd), "work", iteration)


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_replay_of_a_recording_gives_the_same_files_and_answer(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    first, second = project(tmp_path / "first"), project(tmp_path / "second")
    tape = first / "tape"
    agent = RecordingAgent(CommandAgent(["sh", "-c", WORK], processes), str(tape))
    asked = call(tmp_path, "one", first)
    agent.call(asked)
    told = agent.read(asked.folder)
    replay, again = ReplayAgent(str(tape)), call(tmp_path, "two", second)
    replay.call(again)
    heard = replay.read(again.folder)
    assert told is not None
    assert heard is not None
    assert (heard.verdict, heard.cost_usd, heard.tokens) == ("ok", 1.5, Tokens(3, 4))
    assert Path(heard.text).read_bytes() == Path(told.text).read_bytes()
    left_out = ("tape/", ".git/", ".loop/", "big.bin", "new/link")
    mine = {k: v for k, v in tree(first).items() if not k.startswith(left_out)}
    assert tree(second) == mine
    assert os.access(second / "new" / "run.sh", os.X_OK)


def test_only_what_changed_is_recorded(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    folder, tape = project(tmp_path / "project"), tmp_path / "tape"
    agent = RecordingAgent(CommandAgent(["sh", "-c", WORK], processes), str(tape))
    assert agent.name == "command"
    agent.call(call(tmp_path, "one", folder))
    assert set(tree(tape)) == {
        "work/0001/output.md",
        "work/0001/usage.json",
        "work/0001/deleted.json",
        "work/0001/files/kept/changed.txt",
        "work/0001/files/new/deep/file.txt",
        "work/0001/files/new/run.sh",
    }
    deleted = json.loads((tape / "work/0001/deleted.json").read_text())
    assert deleted == ["kept/gone.txt"]


def test_a_failed_answer_is_not_recorded(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    folder, tape = project(tmp_path / "project"), tmp_path / "tape"
    agent = RecordingAgent(CommandAgent("touch x; exit 1", processes), str(tape))
    agent.call(call(tmp_path, "one", folder))
    assert not tape.exists()


def test_recording_again_replaces_the_iteration_whole(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    folder, tape = project(tmp_path / "project"), tmp_path / "tape"
    for name in ("one", "two"):
        command = CommandAgent(f"echo {name} > {name}.txt; echo {name}", processes)
        RecordingAgent(command, str(tape)).call(call(tmp_path, name, folder))
    assert (tape / "work/0001/output.md").read_text() == "two\n"
    assert [path.name for path in (tape / "work/0001/files").iterdir()] == ["two.txt"]
    assert [path.name for path in (tape / "work").iterdir()] == ["0001"]


def test_iterations_are_recorded_side_by_side(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    folder, tape = project(tmp_path / "project"), tmp_path / "tape"
    agent = RecordingAgent(CommandAgent("echo hello", processes), str(tape))
    for number in (1, 2):
        agent.call(call(tmp_path, str(number), folder, number))
    assert sorted(p.name for p in (tape / "work").iterdir()) == ["0001", "0002"]
    unknown = json.loads((tape / "work/0001/usage.json").read_text())
    assert unknown == {"cost_usd": None, "tokens": None}


@pytest.mark.parametrize(
    ("role", "kept"), [({}, True), ({"LOOP_ROLE": "judge"}, False)]
)
def test_what_an_agent_hands_in_is_recorded_but_not_what_its_judge_saw(
    tmp_path: Path, processes: KeeperProcesses, role: dict[str, str], kept: bool
) -> None:
    made = tmp_path / "artifact.json"
    write = ["sh", "-c", f"echo '{{}}' > {made}; echo done"]
    agent = RecordingAgent(CommandAgent(write, processes), str(tmp_path / "tape"))
    asked = call(tmp_path, "one", project(tmp_path / "first"))
    agent.call(asked._replace(env={"LOOP_ARTIFACT": str(made), **role}))
    assert (tmp_path / "tape/work/0001/artifact.json").exists() is kept
