"""Real agents at work: each gives the same files and the same kind of answer."""

import json
from pathlib import Path

import pytest

from looptasks.core.agent import Tokens
from looptasks.effects import bubblewrap
from tests.support.agent_bench import AgentBench

ALL = ("claude", "codex", "gemini", "opencode")
HAS_COST = ("claude", "opencode")

pytestmark = pytest.mark.real_agents
every_agent = pytest.mark.parametrize("bench", ALL, indirect=True)


@every_agent
def test_every_agent_writes_the_file_and_tells_the_same_facts(
    bench: AgentBench,
) -> None:
    answer = bench.run([bench.writes("a.txt", "hello"), {"text": "All done."}])
    assert (answer.verdict, answer.reason) == (
        "ok",
        "its final event says that it is done",
    ), bench.said()
    assert (bench.work / "a.txt").read_text() == "hello"
    assert Path(answer.text).read_text() == "All done."
    assert answer.tokens == Tokens(200, 40, 0)
    assert answer.session_id
    assert (answer.cost_usd is not None) == (bench.name in HAS_COST)
    assert bench.is_quiet()
    assert bool(bench.fake.outside) == (bench.name == "opencode")


@every_agent
def test_nothing_of_our_environment_reaches_an_agent(
    bench: AgentBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_OURS", "0123456789")
    bench.run([bench.shell("env > seen.txt"), {"text": "All done."}])
    seen = (bench.work / "seen.txt").read_text()
    assert "0123456789" not in seen
    assert "AGENT_BENCH=" in seen


@every_agent
def test_a_sandboxed_agent_changes_only_what_is_its_own(bench: AgentBench) -> None:
    if why := bubblewrap.why_not():
        pytest.skip(why)
    outside = bench.place / "outside.txt"
    command = f"echo in > a.txt; echo out > {outside}; true"
    script = [bench.shell(command), {"text": "All done."}]
    answer = bench.run(script, sandbox="bwrap")
    assert answer.verdict == "ok", f"{answer.reason}\n{bench.said()}"
    assert (bench.work / "a.txt").read_text() == "in\n"
    assert not outside.exists()
    assert bench.is_quiet()


# What an agent could leave in the repository, for the next one to run unasked.
_HOOK = {"hooks": [{"type": "command", "command": "touch planted.txt"}]}
_HOOKS = {"SessionStart": [_HOOK], "BeforeAgent": [_HOOK], "UserPromptSubmit": [_HOOK]}
_PLUGIN = 'import fs from "fs"; export const P = async () => '
_PLUGIN += '{ fs.writeFileSync("planted.txt", ""); return {} }\n'
PLANTED = {
    ".claude/settings.json": json.dumps({"hooks": _HOOKS}),
    ".gemini/settings.json": json.dumps({"hooks": _HOOKS}),
    ".codex/hooks.json": json.dumps({"hooks": _HOOKS}),
    ".codex/config.toml": 'notify = ["touch", "planted.txt"]\n',
    ".opencode/plugin/planted.js": _PLUGIN,
}


@every_agent
def test_hooks_in_the_repository_do_not_run(bench: AgentBench) -> None:
    for name, text in PLANTED.items():
        path = bench.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    answer = bench.run([{"text": "All done."}])
    assert answer.verdict == "ok", bench.said()
    assert not (bench.work / "planted.txt").exists()
