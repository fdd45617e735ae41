"""Gemini CLI as an agent: its events as JSON lines, the prompt on standard input."""

import json

from looptasks.core.agent import Call
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.gemini_stream import GEMINI
from looptasks.core.process import Processes
from looptasks.effects.stream_agent import Launch, Profile, StreamAgent, program

SETTINGS = "gemini-settings.json"
# The system's settings lie over those of the user and of the repository, whose hooks
# would otherwise run unasked, now that the folder is trusted.
_SYSTEM = {
    "general": {
        "maxAttempts": 2,
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
    },
    "hooksConfig": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
}


def gemini_agent(settings: AgentSettings, processes: Processes) -> StreamAgent:
    """Return the agent."""
    return StreamAgent(PROFILE, settings, processes)


def _launch(call: Call, settings: AgentSettings, _boxed: bool) -> Launch:  # noqa: FBT001
    words = [program(settings, "gemini"), "-o", "stream-json", "--skip-trust"]
    if not any(arg.split("=")[0] == "--approval-mode" for arg in settings.args):
        words += ["--approval-mode", "yolo"]
    if call.model:
        words += ["-m", call.model]
    return Launch(
        (*words, *settings.args),
        {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{call.folder}/{SETTINGS}"},
        {SETTINGS: json.dumps(_SYSTEM, indent=1) + "\n"},
    )


PROFILE = Profile(GEMINI, _launch, ("GEMINI_*", "GOOGLE_*"))
