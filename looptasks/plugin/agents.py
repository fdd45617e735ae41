"""Which agent a stage gets, from what its loop and the command line say."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from looptasks.core.command_line import as_argv
from looptasks.core.pipeline import Stage
from looptasks.plugin.voice import say

if TYPE_CHECKING:
    from looptasks.core.agent import Agent
    from looptasks.core.agent_settings import AgentSettings


def agent_for(
    stage: Stage, root: str, record: str | None, stopped: Callable[[], bool] = bool
) -> "Agent":
    """Return the stage's agent, or say what is missing."""
    agent = _chosen(stage, root, stopped)
    if record is None:
        return agent
    from looptasks.effects.recording_agent import RecordingAgent  # noqa: PLC0415

    return RecordingAgent(agent, os.path.join(root, record))


def judging(stage: Stage) -> Stage:
    """Return a stage as its judge works in it; what is replayed is so as a whole."""
    loop = stage.loop
    agent = loop.judge.agent if loop.judge else None
    replayed = "replay" in (
        loop.agent if isinstance(loop.agent, dict) else [loop.agent]
    )
    if agent is not None and not replayed:
        loop = loop._replace(agent=agent)
    return stage._replace(loop=loop._replace(judge=None))


def refuse_unknown_agent(stage: Stage, root: str) -> None:
    """Raise when a stage's agent cannot be started; loads nothing that starts one."""
    if stage.loop.judge is not None and stage.loop.judge.agent is not None:
        refuse_unknown_agent(judging(stage), root)
    choice = stage.loop.agent
    if isinstance(choice, dict):
        if "command" in choice:
            as_argv(choice["command"])
    elif choice != "replay" and _entry_point(str(choice)) is None:
        _refuse_missing(str(choice), stage, root)


def _refuse_missing(name: str, stage: Stage, root: str) -> None:
    from looptasks.effects.agent_choice import (  # noqa: PLC0415 - only when it starts
        first_installed,
        refuse_missing,
    )

    if name == "auto":
        name = first_installed()
        say(f"{stage.task}: agent {name}, the first that is installed")
    refuse_missing(name, _settings(name, stage, root))


def _chosen(stage: Stage, root: str, stopped: Callable[[], bool]) -> "Agent":
    choice = stage.loop.agent
    if isinstance(choice, dict) and "command" in choice:
        from looptasks.effects.command_agent import CommandAgent  # noqa: PLC0415
        from looptasks.plugin.processes import processes  # noqa: PLC0415

        return CommandAgent(choice["command"], processes())
    if choice == "replay" or isinstance(choice, dict):
        from looptasks.effects.replay_agent import ReplayAgent  # noqa: PLC0415

        return ReplayAgent(_replay_folder(choice, stage, root), stopped)
    return _named(str(choice), stage, root)


def _replay_folder(choice: Any, stage: Stage, root: str) -> str:
    if isinstance(choice, dict):
        given = str(choice["replay"])
        beside = os.path.join(root, stage.folder, given)
        return beside if os.path.isdir(beside) else os.path.join(root, given)
    return os.path.join(root, stage.folder, "replay")


def _named(name: str, stage: Stage, root: str) -> "Agent":
    """Return an agent by its name: a package's, the project's own, or a known one."""
    from looptasks.plugin.processes import processes  # noqa: PLC0415

    point = _entry_point(name)
    if point is not None:
        agent: Agent = point.load()(stage, processes())
        return agent
    from looptasks.effects.agent_choice import (  # noqa: PLC0415 - only when it starts
        first_installed,
        named_agent,
    )

    found = first_installed() if name == "auto" else name
    return named_agent(found, _settings(found, stage, root), processes())


def _entry_point(name: str) -> Any:
    from importlib.metadata import entry_points  # noqa: PLC0415 - rarely asked for

    points = entry_points(group="looptasks.agent")
    return next((point for point in points if point.name == name), None)


def _settings(name: str, stage: Stage, root: str) -> "AgentSettings":
    """Return an agent's settings; what the loop says wins over the project's."""
    from looptasks.effects.agent_settings import agent_settings  # noqa: PLC0415

    loop, said = stage.loop, agent_settings(root, name)
    own = {"env": loop.env, "sandbox": loop.sandbox, "network": loop.network}
    given: dict[str, Any] = {k: value for k, value in own.items() if value is not None}
    return said._replace(args=(*said.args, *loop.agent_args), **given)
