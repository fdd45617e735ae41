"""An agent that is configuration alone: started, read, priced, and chosen by name."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from looptasks.core.agent import Answer, Call, Tokens
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.price import Price
from looptasks.effects.agent_choice import INSTALL, first_installed, named_agent
from looptasks.effects.event_file import LONGEST_LINE, AttemptStreams
from looptasks.effects.keeper_processes import KeeperProcesses
from looptasks.effects.stream_agent import StreamAgent
from looptasks.errors import LoopError

READ = {"text": "result", "cost": "cost", "input": "in", "output": "out", "model": "m"}


@pytest.fixture
def processes() -> Iterator[KeeperProcesses]:
    made = KeeperProcesses()
    yield made
    made.close()


def call(tmp_path: Path) -> Call:
    (tmp_path / "attempt").mkdir(exist_ok=True)
    (tmp_path / "prompt.md").write_text("the prompt")
    return Call(
        prompt=str(tmp_path / "prompt.md"),
        folder=str(tmp_path / "attempt"),
        cwd=str(tmp_path),
        stage="work",
        iteration=1,
    )


def settings(command: str, **more: Any) -> AgentSettings:
    made = AgentSettings(command=(command,), read=READ, sandbox="none")
    return made._replace(**more)


def answer(
    tmp_path: Path, processes: KeeperProcesses, command: str, **more: Any
) -> Answer:
    agent = named_agent("mine", settings(command, **more), processes)
    agent.call(call(tmp_path))
    found = agent.read(str(tmp_path / "attempt"))
    assert found is not None
    return found


def test_the_answer_is_a_file_and_the_transcript_stays(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    command = """printf '{"result": "%s", "cost": 0.25}\\n' "$(cat)" """
    found = answer(tmp_path, processes, command)
    assert (found.verdict, found.cost_usd, found.estimated) == ("ok", 0.25, False)
    assert found.text == str(tmp_path / "attempt/answer.md")
    assert Path(found.text).read_text() == "the prompt"
    assert json.loads((tmp_path / "attempt/stdout").read_text())["cost"] == 0.25


def test_reading_twice_gives_the_same_answer(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    found = answer(tmp_path, processes, """echo '{"result": "x"}'""")
    agent = named_agent("mine", settings("false"), processes)
    assert agent.read(str(tmp_path / "attempt")) == found


def test_an_attempt_that_never_ended_has_no_answer(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    (tmp_path / "stdout").write_text('{"result": "x"}\n')
    agent = named_agent("mine", settings("false"), processes)
    assert agent.read(str(tmp_path)) is None


def test_a_cost_from_the_price_table_is_marked_as_an_estimate(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    line = '{"result": "x", "in": 1000000, "out": 500000, "m": "big"}'
    prices = {"big": Price(2.0, 10.0, 0.2)}
    found = answer(tmp_path, processes, f"echo '{line}'", prices=prices)
    assert (found.cost_usd, found.estimated) == (7.0, True)
    assert found.tokens == Tokens(1000000, 500000)
    unpriced = answer(tmp_path, processes, f"echo '{line}'")
    assert (unpriced.cost_usd, unpriced.estimated) == (None, False)


def test_only_the_chosen_variables_reach_it(
    tmp_path: Path, processes: KeeperProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "ours")
    monkeypatch.setenv("SHARED", "shared")
    command = """printf '{"result": "%s %s %s"}' "$OURS" "$SHARED" "$GIVEN" """
    found = answer(
        tmp_path, processes, command, env=("SHARED",), variables={"GIVEN": "given"}
    )
    assert Path(found.text).read_text() == " shared given"


def test_secrets_stay_out_of_the_answer_and_the_reason(
    tmp_path: Path, processes: KeeperProcesses
) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    found = answer(tmp_path, processes, f"""echo '{{"result": "key {key}"}}'""")
    assert key not in Path(found.text).read_text()
    found = answer(tmp_path, processes, f"echo 'bad api key {key}' >&2; exit 1")
    assert key not in found.reason


def test_a_streams_growth_is_seen_while_it_happens(tmp_path: Path) -> None:
    agent = named_agent("mine", settings("false"), KeeperProcesses())
    assert isinstance(agent, StreamAgent)
    watch = agent.watch(str(tmp_path))
    assert watch.look().events == 0
    with (tmp_path / "stdout").open("ab", buffering=0) as stdout:
        stdout.write(b'{"result": "fir')
        assert watch.look().events == 0
        stdout.write(b'st"}\n')
        assert watch.look().text == "first"
        stdout.write(b'{"result": "second"}')
        assert watch.look().text == "first"
    assert watch.end().text == "second"


def test_a_line_without_end_costs_no_memory_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    agent = named_agent("mine", settings("false"), KeeperProcesses())
    assert isinstance(agent, StreamAgent)
    with (tmp_path / "stdout").open("wb") as stdout:
        stdout.truncate(LONGEST_LINE + (1 << 20))
        stdout.seek(0, os.SEEK_END)
        stdout.write(b'\n{"result": "after"}\n')
    watch: AttemptStreams = agent.watch(str(tmp_path))
    assert watch.end().text == "after"


def test_auto_is_the_first_that_is_installed(tmp_path: Path) -> None:
    for name in ("gemini", "codex"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert first_installed(str(tmp_path)) == "codex"


def test_auto_without_any_says_how_to_get_one_and_names_the_demo(
    tmp_path: Path,
) -> None:
    with pytest.raises(LoopError) as caught:
        first_installed(str(tmp_path))
    assert "npm install -g @anthropic-ai/claude-code" in caught.value.fix
    assert "`doit demo`" in caught.value.fix


@pytest.mark.parametrize("name", INSTALL)
def test_an_agent_that_is_not_installed_says_so(
    tmp_path: Path, processes: KeeperProcesses, name: str
) -> None:
    empty = AgentSettings(variables={"PATH": str(tmp_path)}, sandbox="none")
    agent = named_agent(name, empty, processes)
    assert agent.name == name
    with pytest.raises(LoopError, match=f"`{name}` is not on PATH"):
        agent.call(call(tmp_path))


def test_an_unknown_agent_is_refused_with_a_suggestion(
    processes: KeeperProcesses,
) -> None:
    with pytest.raises(LoopError, match="did you mean `claude`"):
        named_agent("cluade", AgentSettings(), processes)
