"""A command agent takes any program, and believes its files alone."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looptasks.core.agent import Answer, Call, Tokens
from looptasks.core.command_line import as_argv
from looptasks.effects.command_agent import CommandAgent
from looptasks.effects.keeper_processes import KeeperProcesses
from looptasks.errors import DeclarationError


@pytest.fixture
def processes() -> Iterator[KeeperProcesses]:
    made = KeeperProcesses()
    yield made
    made.close()


def call(tmp_path: Path, **more: Any) -> Call:
    (tmp_path / "attempt").mkdir(exist_ok=True)
    (tmp_path / "prompt.md").write_text("the prompt\n")
    made = Call(
        prompt=str(tmp_path / "prompt.md"),
        folder=str(tmp_path / "attempt"),
        cwd=str(tmp_path),
        stage="work",
        iteration=1,
    )
    return made._replace(**more)


def answer(agent: CommandAgent, tmp_path: Path, **more: Any) -> Answer:
    asked = call(tmp_path, **more)
    agent.call(asked)
    found = agent.read(asked.folder)
    assert found is not None
    return found


def test_the_answer_is_what_the_program_prints(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    found = answer(CommandAgent("cat", processes), tmp_path)
    assert (found.verdict, found.exit_code) == ("ok", 0)
    assert Path(found.text).read_text() == "the prompt\n"
    assert (found.cost_usd, found.tokens) == (None, None)
    assert found.started_at <= found.finished_at


@pytest.mark.parametrize(
    "command", ["sh -c 'exit 3'", ["sh", "-c", "exit 3"], "true | exit 3"]
)
def test_an_exit_code_is_a_failure_that_names_it(
    tmp_path: Path, processes: KeeperProcesses, command: str | list[str]
) -> None:
    found = answer(CommandAgent(command, processes), tmp_path)
    assert (found.verdict, found.exit_code) == ("transient", 3)
    assert found.reason == "exit code 3"


def test_the_last_words_on_stderr_are_part_of_the_reason(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    script = "seq 100000 >&2; echo 'no credit' >&2; echo >&2; exit 2"
    found = answer(CommandAgent(["sh", "-c", script], processes), tmp_path)
    assert found.reason == "exit code 2: no credit"


def test_a_signal_from_elsewhere_is_an_error(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    found = answer(CommandAgent("kill -9 $$", processes), tmp_path)
    assert (found.verdict, found.reason) == ("transient", "signal 9")


def test_limits_have_verdicts_of_their_own(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    agent = CommandAgent("sleep 60", processes)
    assert answer(agent, tmp_path, timeout=0.1).verdict == "timeout"
    assert answer(agent, tmp_path, idle_timeout=0.1).verdict == "hung"


def test_a_program_that_cannot_be_started_comes_with_a_fix(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    found = answer(CommandAgent("./no-such-agent --flag", processes), tmp_path)
    assert found.verdict == "error"
    assert "cannot start `./no-such-agent`: No such file" in found.reason
    assert "\n  fix: " in found.reason


def test_the_agent_knows_its_model_and_its_variables(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    agent = CommandAgent('echo "$LOOP_MODEL $LOOP_SESSION"', processes)
    found = answer(agent, tmp_path, model="opus", env={"LOOP_SESSION": "auth"})
    assert Path(found.text).read_text() == "opus auth\n"


@pytest.mark.parametrize(
    ("usage", "cost", "tokens"),
    [
        ({"cost_usd": 0.5}, 0.5, None),
        ({"tokens": {"input": 7, "output": 2}}, None, Tokens(7, 2)),
        (
            {"cost_usd": 0, "tokens": {"input": 7, "output": 2, "cached": 3}},
            0.0,
            Tokens(7, 2, 3),
        ),
        ({"cost_usd": -1, "tokens": {"input": -7, "output": 2}}, None, None),
        ({"cost_usd": True, "tokens": {"input": 7}}, None, None),
        ({"cost_usd": "1", "tokens": [1, 2]}, None, None),
        ({"cost_usd": float("nan")}, None, None),
        ({"cost_usd": 10**400}, None, None),
        ([1], None, None),
    ],
)
def test_usage_is_what_the_agent_told_or_unknown(
    tmp_path: Path,
    processes: KeeperProcesses,
    usage: Any,
    cost: float | None,
    tokens: Tokens | None,
) -> None:
    (tmp_path / "told.json").write_text(json.dumps(usage))
    found = answer(CommandAgent('cp told.json "$LOOP_USAGE"', processes), tmp_path)
    assert (found.cost_usd, found.tokens) == (cost, tokens)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"how": "won"}'])
def test_an_attempt_without_a_whole_record_never_ended(
    tmp_path: Path, processes: KeeperProcesses, text: str
) -> None:
    agent = CommandAgent("cat", processes)
    assert agent.read(str(tmp_path)) is None
    (tmp_path / "result.json").write_text(text)
    assert agent.read(str(tmp_path)) is None


@pytest.mark.parametrize("how", ["interrupted", "orphaned"])
def test_an_attempt_that_was_cut_short_is_interrupted(
    tmp_path: Path, processes: KeeperProcesses, how: str
) -> None:
    (tmp_path / "result.json").write_text(json.dumps({"how": how, "seconds": 1}))
    found = CommandAgent("cat", processes).read(str(tmp_path))
    assert found is not None
    assert found.verdict == "interrupted"


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("./agent --flag", ("./agent", "--flag")),
        ("agent 'a b' \"c\"", ("agent", "a b", "c")),
        (["agent", "a|b"], ("agent", "a|b")),
        ("agent | tee x", ("sh", "-c", "agent | tee x")),
        ("A=1 agent", ("sh", "-c", "A=1 agent")),
        ("agent --key=value", ("agent", "--key=value")),
        ("agent ~/x", ("sh", "-c", "agent ~/x")),
    ],
)
def test_only_shell_syntax_needs_a_shell(
    command: str | list[str], argv: tuple[str, ...]
) -> None:
    assert as_argv(command) == argv


@pytest.mark.parametrize("command", ["", "  ", [], "agent 'open"])
def test_a_command_that_is_none_is_refused(command: str | list[str]) -> None:
    with pytest.raises(DeclarationError):
        as_argv(command)


def test_reading_a_flood_takes_no_memory(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    flood = answer(
        CommandAgent("head -c 50000000 /dev/zero >&2; exit 1", processes), tmp_path
    )
    assert len(flood.reason) < 300
    os.truncate(tmp_path / "attempt" / "stderr", 0)


def test_python_programs_run_too(tmp_path: Path, processes: KeeperProcesses) -> None:
    agent = CommandAgent([sys.executable, "-c", "print(input().upper())"], processes)
    assert Path(answer(agent, tmp_path).text).read_text() == "THE PROMPT\n"
