"""Codex as an agent: `codex exec --json`, the prompt on standard input."""

from looptasks.core.agent import Call
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.codex_stream import CODEX
from looptasks.core.process import Processes
from looptasks.effects.codex_provider import limited
from looptasks.effects.stream_agent import Launch, Profile, StreamAgent, program

_FIXED = ("exec", "--json", "--ephemeral", "--skip-git-repo-check")
# No plugins from outside, no hooks from the repository, no news to its makers.
_QUIET = (
    "features.plugins=false",
    "features.hooks=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
_RETRIES = ("request_max_retries=2", "stream_max_retries=2")
_SANDBOX = ("-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox")


def codex_agent(settings: AgentSettings, processes: Processes) -> StreamAgent:
    """Return the agent."""
    return StreamAgent(PROFILE, settings, processes)


def _launch(call: Call, settings: AgentSettings, boxed: bool) -> Launch:  # noqa: FBT001
    words = [program(settings, "codex"), *_FIXED]
    if not any(arg.split("=")[0] in _SANDBOX for arg in settings.args):
        # Its own sandbox cannot be set up inside another one.
        words += ["-s", "danger-full-access" if boxed else "workspace-write"]
    if call.model:
        words += ["-m", call.model]
    words += settings.args
    for setting in (*_QUIET, *limited(settings, _limits(call))):
        words += ["-c", setting]
    return Launch((*words, "-"))


def _limits(call: Call) -> list[str]:
    limits = list(_RETRIES)
    if call.idle_timeout:
        limits.append(f"stream_idle_timeout_ms={int(call.idle_timeout * 1000)}")
    return limits


PROFILE = Profile(CODEX, _launch, ("OPENAI_*", "CODEX_*", "AZURE_*"))
