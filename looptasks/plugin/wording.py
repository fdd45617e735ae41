"""Wording: how reports are put, whichever way they are shown."""

import os
from typing import Any

from looptasks.core.gate import ASKING
from looptasks.core.screen_text import shown
from looptasks.effects.scrub import known_secrets


def safe(text: str) -> str:
    """Return a text of ours without secrets and without control characters."""
    return shown(text, known_secrets())


def failure(task: Any, fail: Any) -> str:
    """Say what went wrong with a task of ours, and where to read more."""
    stage, number = (task.meta or {}).get("looptasks", ("", 0))
    match fail.get_name():
        case "UnmetDependency":
            return f"{task.name} not done: {', '.join(fail.message.split())} failed"
        case "TaskFailed":
            reason = fail.message.removeprefix(f"iteration {number} failed: ")
            if reason.startswith(ASKING):
                return f"{task.name} {reason}"
            errors = _errors(task, stage, number) if number else ""
            more = f"\n  stderr: {errors}" if errors else ""
            return f"{task.name} failed: {reason}{more}"
        case _:
            return f"{task.name} failed: {fail.get_msg().rstrip()}"


def _errors(task: Any, stage: str, number: int) -> str:
    """Return where the newest attempt's error output is; empty when it has none."""
    from looptasks.effects.iteration_watch import newest_attempt  # noqa: PLC0415

    place = task.actions[0].args[0]
    folder = place.folder.iteration(stage, number)
    path = os.path.join(folder, "attempts", str(newest_attempt(folder)), "stderr")
    try:
        return os.path.relpath(path, place.root) if os.path.getsize(path) else ""
    except OSError:
        return ""
