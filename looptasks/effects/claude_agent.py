"""Claude Code as an agent: `claude -p` with its events as JSON lines."""

import os

from looptasks.core.agent import Call
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.claude_stream import CLAUDE
from looptasks.core.process import Processes
from looptasks.effects.stream_agent import Launch, Profile, StreamAgent, program

_RETRIES = 2
_FIRST_BYTE = 300.0  # seconds: what it waits by itself for an answer to begin
_PERMISSIONS = ("--permission-mode", "--allowedTools", "--allowed-tools")


def claude_agent(settings: AgentSettings, processes: Processes) -> StreamAgent:
    """Return the agent."""
    return StreamAgent(PROFILE, settings, processes)


def _launch(call: Call, settings: AgentSettings, _boxed: bool) -> Launch:  # noqa: FBT001
    words = [program(settings, "claude"), "-p", "--output-format", "stream-json"]
    # Hooks in the repository's own settings would run unasked: an agent could plant
    # one for the next iteration.
    words += ["--verbose", "--setting-sources", "user"]
    if not any(arg.split("=")[0] in _PERMISSIONS for arg in settings.args):
        words.append("--dangerously-skip-permissions")
    if call.model:
        words += ["--model", call.model]
    limits = [b for b in (settings.budget_usd, call.budget_usd) if b is not None]
    if limits:
        words += ["--max-budget-usd", f"{max(min(limits), 0.0001):.4f}"]
    return Launch((*words, *settings.args), _env(call))


def _env(call: Call) -> dict[str, str]:
    first_byte = min(call.idle_timeout or _FIRST_BYTE, _FIRST_BYTE)
    env = {
        "CLAUDE_CODE_MAX_RETRIES": str(_RETRIES),
        "API_TIMEOUT_MS": str(int(first_byte * 1000)),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDECODE": "",  # it refuses to start inside another of its own sessions
    }
    if os.geteuid() == 0:
        env["IS_SANDBOX"] = "1"  # without it root may not skip permissions
    return env


PROFILE = Profile(CLAUDE, _launch, ("ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*"))
