"""A configured agent: any program that answers in JSON lines, described by its user.

[tool.looptasks.agents.mine]
command = "my-agent --json"
read = {text = "result", cost = "total_cost_usd", error = "error.message"}
"""

from looptasks.core.agent import Call
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.command_line import as_argv
from looptasks.core.configured_stream import configured
from looptasks.core.process import Processes
from looptasks.effects.stream_agent import Launch, Profile, StreamAgent


def configured_agent(
    name: str, settings: AgentSettings, processes: Processes
) -> StreamAgent:
    """Return the agent that the settings describe, or say what is missing."""
    where = f"pyproject.toml: tool.looptasks.agents.{name}"
    dialect = configured(name, settings.read, where)
    return StreamAgent(Profile(dialect, _launch), settings, processes)


def _launch(call: Call, settings: AgentSettings, _boxed: bool) -> Launch:  # noqa: FBT001
    given = settings.command
    argv = as_argv(given[0] if len(given) == 1 else given)
    model = {"LOOP_MODEL": call.model} if call.model else {}
    return Launch((*argv, *settings.args), model)
