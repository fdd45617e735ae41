"""Real agents in trouble: the verdict is right, in time, and nothing is left."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.agent_bench import AgentBench
from tests.support.fake_protocols import Step
from tests.support.live_processes import carrying, within

ALL = ("claude", "codex", "gemini", "opencode")
# The limits of the faults that an agent would sit out, in seconds.
TIMEOUT, ENDING = 20.0, 6.0
# Opencode says nothing for seconds when it starts on a busy machine.
IDLE = {"claude": 5.0, "codex": 4.0, "gemini": 7.0, "opencode": 12.0}
HALF = {"text": "half an answer", "tools": [{"name": "none", "input": {}}]}

FAULTS: dict[str, tuple[Step, set[str]]] = {
    "limit": ({"status": 429, "message": "Rate limit reached"}, {"limit"}),
    "server": ({"status": 500}, {"transient", "hung", "timeout"}),
    "key": ({"status": 401, "message": "invalid api key"}, {"error"}),
    "silence": ({"hang": True}, {"hung"}),
    "stall": ({**HALF, "hang_after": 1}, {"hung", "transient"}),
    "cut": ({**HALF, "break_after": 1}, {"transient", "hung"}),
    "garbage": ({"raw": "<html>no</html>"}, {"garbled", "transient", "timeout"}),
}

pytestmark = pytest.mark.real_agents
every_agent = pytest.mark.parametrize("bench", ALL, indirect=True)


@every_agent
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_verdict_in_time(bench: AgentBench, fault: str) -> None:
    step, expected = FAULTS[fault]
    answer = bench.run([step], timeout=TIMEOUT, idle=IDLE[bench.name])
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
    answer = _while_running(bench, script, lambda: _send(bench, number))
    assert answer in ("interrupted", "garbled")
    assert bench.is_quiet()


def _while_running(
    bench: AgentBench, script: list[Step], then: Callable[[], None]
) -> str:
    started = bench.work / "shell.pid"

    def act() -> None:
        if within(20, lambda: started.exists() and started.read_text().strip()):
            then()

    thread = threading.Thread(target=act)
    thread.start()
    answer = bench.run(script, timeout=TIMEOUT)
    thread.join()
    return answer.verdict


def _send(bench: AgentBench, number: signal.Signals) -> None:
    """Send a signal to the agent itself: the first process that carries its mark."""
    shell = int((bench.work / "shell.pid").read_text())
    for pid in sorted(carrying(bench.mark)):
        if pid != shell and os.getsid(pid) == pid:
            os.kill(pid, number)
            return
