"""Which agent a stage gets, from what its loop and the command line say."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from looptasks.core.command_line import as_argv
from looptasks.core.pipeline import Stage
from looptasks.errors import DeclarationError

if TYPE_CHECKING:
    from looptasks.core.agent import Agent


def agent_for(
    stage: Stage, root: str, record: str | None, stopped: Callable[[], bool] = bool
) -> "Agent":
    """Return the stage's agent, or say what is missing."""
    agent = _chosen(stage, root, stopped)
    if record is None:
        return agent
    from looptasks.effects.recording_agent import RecordingAgent  # noqa: PLC0415

    return RecordingAgent(agent, os.path.join(root, record))


def refuse_unknown_agent(stage: Stage) -> None:
    """Raise when a stage's agent cannot be started; loads nothing that starts one."""
    choice = stage.loop.agent
    if isinstance(choice, dict):
        if "command" in choice:
            as_argv(choice["command"])
    elif choice != "replay":
        _entry_point(str(choice), stage)


def _chosen(stage: Stage, root: str, stopped: Callable[[], bool]) -> "Agent":
    choice = stage.loop.agent
    if isinstance(choice, dict) and "command" in choice:
        from looptasks.effects.command_agent import CommandAgent  # noqa: PLC0415
        from looptasks.plugin.processes import processes  # noqa: PLC0415

        return CommandAgent(choice["command"], processes())
    if choice == "replay" or isinstance(choice, dict):
        from looptasks.effects.replay_agent import ReplayAgent  # noqa: PLC0415

        return ReplayAgent(_replay_folder(choice, stage, root), stopped)
    return _plugged_in(str(choice), stage)


def _replay_folder(choice: Any, stage: Stage, root: str) -> str:
    if isinstance(choice, dict):
        given = str(choice["replay"])
        beside = os.path.join(root, stage.folder, given)
        return beside if os.path.isdir(beside) else os.path.join(root, given)
    return os.path.join(root, stage.folder, "replay")


def _plugged_in(name: str, stage: Stage) -> "Agent":
    from looptasks.plugin.processes import processes  # noqa: PLC0415

    agent: Agent = _entry_point(name, stage).load()(stage, processes())
    return agent


def _entry_point(name: str, stage: Stage) -> Any:
    from importlib.metadata import entry_points  # noqa: PLC0415 - rarely asked for

    for point in entry_points(group="looptasks.agent"):
        if point.name == name:
            return point
    raise DeclarationError(
        f"`agent: {name}` is not an agent that this version can start",
        where=stage.task,
        fix="name a command, such as `agent='./my-agent --flag'`, or play a recording "
        "by `agent=replay replay=FOLDER`",
    )
