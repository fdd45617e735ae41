"""Items: what an all-items loop works through, one iteration each."""

import os
import shlex

from looptasks.core.pipeline import Stage
from looptasks.effects.project_files import matches


def items_of(stage: Stage, root: str, recorded: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stage's items: listed, matched, or printed by a command.

    A command is asked once, when the stage starts; from then on the ledger knows.
    """
    declared = stage.loop.items
    if isinstance(declared, list | tuple):
        return tuple(dict.fromkeys(str(item) for item in declared))
    kind, text = _kind(declared)
    if kind == "glob":
        return tuple(matches(root, text))
    return recorded or _printed(text, root)


def _kind(declared: object) -> tuple[str, str]:
    if isinstance(declared, dict):
        ((kind, text),) = declared.items()
        return str(kind), str(text)
    text = str(declared)
    glob = any(sign in text for sign in "*?[") and len(shlex.split(text)) == 1
    return ("glob" if glob else "command"), text


def _printed(command: str, root: str) -> tuple[str, ...]:
    from looptasks.effects.short_command import lines_of  # noqa: PLC0415

    lines = lines_of(("sh", "-c", command), os.path.abspath(root))
    return tuple(dict.fromkeys(line for line in lines if line.strip()))
