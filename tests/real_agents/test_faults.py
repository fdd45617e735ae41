"""Real agents in trouble: the verdict is right, in time, and nothing is left."""

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.agent_bench import AgentBench
from tests.support.fake_protocols import Step
from tests.support.live_processes import within

ALL = ("claude", "codex", "gemini", "opencode")
ENDING, AT_ONCE = 6.0, 4
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
HALF = {"text": "half an answer", "tools": [{"name": "none", "input": {}}]}

FAULTS: dict[str, Step] = {
    "limit": {"status": 429, "message": "Rate limit reached"},
    "server": {"status": 500},
    "key": {"status": 401, "message": "invalid api key"},
    "silence": {"hang": True},
    "stall": {**HALF, "hang_after": 1},
    "cut": {**HALF, "break_after": 1},
    "garbage": {"raw": "<html>no</html>"},
}
VERDICTS: dict[str, tuple[str, ...]] = {
    "limit": ("limit",),
    "server": ("transient",),
    "key": ("error",),
    "silence": ("hung",),
    "stall": ("hung",),
    "cut": ("transient",),
    "garbage": ("garbled",),
}
# Codex takes garbage for a stream that was cut off, and ends a stall by itself when
# its own limit, the same as ours, comes first; opencode asks for ever, without a pause.
OTHERWISE: dict[tuple[str, str], tuple[str, ...]] = {
    ("codex", "garbage"): ("transient",),
    ("codex", "stall"): ("hung", "transient"),
    ("claude", "silence"): ("hung", "transient"),
    ("opencode", "garbage"): ("timeout",),
}

pytestmark = pytest.mark.real_agents
every_agent = pytest.mark.parametrize("bench", ALL, indirect=True)


def wrong_with(bench: AgentBench, fault: str, pace: float) -> str:
    """Return what is wrong with the way in which an agent meets a fault."""
    # Limits as short as the machine allows, for what the agent would sit out.
    idle = 3 + 2 * pace
    # Silence begins when the agent has started, which a busy machine draws out.
    timeout = idle + max(2 * pace, 5.0)
    answer = bench.run([FAULTS[fault]], timeout, idle)
    expected = OTHERWISE.get((bench.name, fault), VERDICTS[fault])
    if answer.verdict not in expected:
        return f"{fault}: {answer.verdict}: {answer.reason}\n{bench.said()}"
    if bench.seconds >= timeout + ENDING:
        return f"{fault}: took {bench.seconds:g} s, limit {timeout:g} s"
    return "" if bench.is_quiet() else f"{fault}: left processes"


@every_agent
def test_every_fault_has_its_verdict_in_time(
    bench: AgentBench, more_benches: list[AgentBench]
) -> None:
    # Mostly they wait, so that several at once are only a little slower.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        paces = [1.5 * bench.pace] * len(FAULTS)
        found = pool.map(wrong_with, more_benches, FAULTS, paces)
    assert [wrong for wrong in found if wrong] == []


@pytest.mark.parametrize("bench", ["codex"], indirect=True)
def test_codex_tries_seldom_with_the_provider_that_nobody_chose(
    bench: AgentBench,
) -> None:
    bench.use_default_provider()
    answer = bench.run([FAULTS["server"]], variables={"CODEX_API_KEY": "sk-no-key"})
    assert answer.verdict == "transient", f"{answer.reason}\n{bench.said()}"
    assert 1 < len(bench.fake.asked) <= 3 * 3
    done = bench.run([{"text": "All done."}], variables={"CODEX_API_KEY": "sk-no-key"})
    assert done.verdict == "ok", f"{done.reason}\n{bench.said()}"


DENY: dict[str, dict[str, tuple[str, ...]]] = {
    "claude": {"args": ("--permission-mode", "default")},
    "codex": {"args": ("-s", "read-only")},
    "gemini": {"args": ("--approval-mode", "default")},
    "opencode": {"args": ("--no-auto",)},
}


@every_agent
def test_a_refused_tool_is_never_success(bench: AgentBench) -> None:
    step = bench.writes("a.txt", "hello")
    if bench.name == "codex":
        patch = "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch"
        step = bench.shell(f"apply_patch <<'EOF'\n{patch}\nEOF\n")
    more: dict[str, Any] = dict(DENY[bench.name])
    if bench.name == "opencode":
        asks = bench.settings().variables["OPENCODE_CONFIG_CONTENT"]
        asking = asks.replace("{", '{"permission": {"*": "ask"}, ', 1)
        more["variables"] = {"OPENCODE_CONFIG_CONTENT": asking}
    answer = bench.run([step, {"text": "All done."}], **more)
    assert answer.verdict == "denied", f"{answer.reason}\n{bench.said()}"
    assert not (bench.work / "a.txt").exists()


def killed(bench: AgentBench, number: signal.Signals, patience: float) -> str:
    """Return what is wrong with the way in which an agent meets a signal."""
    script = [bench.shell("echo $$ > shell.pid; sleep 300"), {"text": "All done."}]
    started = bench.work / "shell.pid"

    def kill() -> None:
        if within(patience, started.exists):
            bench.signal(number)

    with ThreadPoolExecutor() as pool:
        killing = pool.submit(kill)
        answer = bench.run(script, timeout=patience + ENDING)
        killing.result()
    if not started.exists():
        return f"{number.name}: it did not start\n{bench.said()}"
    if answer.verdict not in ("interrupted", "garbled"):
        return f"{number.name}: {answer.verdict}: {answer.reason}\n{bench.said()}"
    return "" if bench.is_quiet() else f"{number.name}: left processes"


@every_agent
def test_an_agent_that_is_killed_is_never_believed(
    bench: AgentBench, more_benches: list[AgentBench]
) -> None:
    patience = [10 + 4 * bench.pace] * len(SIGNALS)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(killed, more_benches, SIGNALS, patience)
    assert [wrong for wrong in found if wrong] == []


@pytest.mark.parametrize("bench", ["claude"], indirect=True)
def test_a_budget_ends_the_attempt_that_would_exceed_it(bench: AgentBench) -> None:
    dear = {**bench.writes("a.txt", "x"), "usage": {"input": 500000, "output": 50000}}
    answer = bench.run([dear, dear, {"text": "All done."}], budget_usd=0.01)
    assert answer.verdict == "error"
    assert "budget" in answer.reason
    assert answer.cost_usd
