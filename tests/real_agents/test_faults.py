"""Real agents in trouble: the verdict is right, in time, and nothing is left."""

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.agent_bench import AgentBench
from tests.support.fake_protocols import Step
from tests.support.live_processes import within

ALL = ("claude", "codex", "gemini", "opencode")
# The limits of the faults that an agent would sit out, in seconds.
TIMEOUT, ENDING = 20.0, 6.0
# Opencode says nothing for seconds when it starts on a busy machine.
IDLE = {"claude": 5.0, "codex": 4.0, "gemini": 7.0, "opencode": 12.0}
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


@every_agent
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_verdict_in_time(bench: AgentBench, fault: str) -> None:
    answer = bench.run([FAULTS[fault]], timeout=TIMEOUT, idle=IDLE[bench.name])
    expected = OTHERWISE.get((bench.name, fault), VERDICTS[fault])
    assert answer.verdict in expected, f"{answer.reason}\n{bench.said()}"
    assert bench.seconds < TIMEOUT + ENDING
    assert bench.is_quiet()


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


@every_agent
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_agent_that_is_killed_is_never_believed(
    bench: AgentBench, number: signal.Signals
) -> None:
    script = [bench.shell("echo $$ > shell.pid; sleep 300"), {"text": "All done."}]
    started = bench.work / "shell.pid"

    def kill() -> None:
        if within(TIMEOUT, started.exists):
            bench.signal(number)

    with ThreadPoolExecutor() as pool:
        killed = pool.submit(kill)
        answer = bench.run(script, timeout=TIMEOUT + ENDING)
        killed.result()
    assert started.exists(), bench.said()
    assert answer.verdict in ("interrupted", "garbled"), answer.reason
    assert bench.is_quiet()
