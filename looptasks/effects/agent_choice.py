"""The choice of an agent: by its name, or the first that is installed."""

from collections.abc import Mapping
from importlib import import_module

from looptasks.core.agent import Agent
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.process import Processes
from looptasks.core.suggestion import choice
from looptasks.errors import LoopError

# In the order in which `auto` looks for them.
INSTALL: Mapping[str, str] = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
    "opencode": "npm install -g opencode-ai",
}


def named_agent(name: str, settings: AgentSettings, processes: Processes) -> Agent:
    """Return the agent of that name; one with a `command` is the user's own."""
    if settings.command:
        from looptasks.effects.configured_agent import configured_agent  # noqa: PLC0415

        return configured_agent(name, settings, processes)
    if name not in INSTALL:
        raise LoopError(f"there is no agent `{name}`", fix=choice(name, INSTALL))
    module = import_module(f"looptasks.effects.{name}_agent")
    agent: Agent = getattr(module, f"{name}_agent")(settings, processes)
    return agent


def refuse_missing(name: str, settings: AgentSettings) -> None:
    """Raise when an agent of that name cannot be started."""
    if settings.command:
        return
    if name not in INSTALL:
        raise LoopError(f"there is no agent `{name}`", fix=choice(name, INSTALL))
    from looptasks.effects.stream_agent import program  # noqa: PLC0415

    program(settings, name)


def first_installed(path: str | None = None) -> str:
    """Return the agent that `auto` stands for on this machine, or how to get one."""
    import shutil  # noqa: PLC0415 - only when an agent is about to start

    for name in INSTALL:
        if shutil.which(name, path=path):
            return name
    raise LoopError(
        "`agent: auto` finds none of `claude`, `codex`, `gemini`, `opencode` on PATH",
        fix=f"install one, such as `{INSTALL['claude']}`; or name a command, such as "
        "`agent='./my-agent --flag'`; or see it work without one: `doit demo`",
    )
