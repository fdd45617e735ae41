"""Opencode as an agent: `opencode run --format json`, the prompt on standard input."""

from looptasks.core.agent import Call
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.opencode_stream import OPENCODE
from looptasks.core.process import Processes
from looptasks.effects.stream_agent import Launch, Profile, StreamAgent, program

# While it retries it says so in its log only; `--pure` leaves the repository's own
# plugins out.
_FIXED = ("run", "--format", "json", "--pure", "--print-logs", "--log-level", "ERROR")
_ENV = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}


def opencode_agent(settings: AgentSettings, processes: Processes) -> StreamAgent:
    """Return the agent."""
    return StreamAgent(PROFILE, settings, processes)


def _launch(call: Call, settings: AgentSettings, _boxed: bool) -> Launch:  # noqa: FBT001
    # With a title of ours it does not ask the model for one.
    words = [program(settings, "opencode"), *_FIXED, "--title", call.stage or "loop"]
    if "--no-auto" not in settings.args:
        words.append("--auto")
    if call.model:
        words += ["-m", call.model]
    return Launch((*words, *settings.args), _ENV)


PROFILE = Profile(
    OPENCODE,
    _launch,
    ("OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*"),
)
