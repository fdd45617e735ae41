"""Which tracker a project uses: the real `bd` where it owns a database, or our own."""

from __future__ import annotations

import os
import sys

from looptasks.effects.beads_folder import database, find_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.core.tracker import Tracker

_HANDED_OVER = "LOOPTASKS_BEADS_HANDED_OVER"


def tracker(root: str) -> Tracker:
    """Return the tracker of a project."""
    folder = find_folder(root)
    program = bd_of(folder)
    if program:
        from looptasks.effects.bd_beads import BdBeads  # noqa: PLC0415 - few projects

        return BdBeads(root, program)
    from looptasks.effects.jsonl_beads import JsonlBeads  # noqa: PLC0415 - engines only

    return JsonlBeads(folder)


def tracker_command(root: str) -> str:
    """Return the command line that agents reach the tracker by, quoted for a shell."""
    if bd_of(find_folder(root)):
        return "bd"
    from shlex import quote  # noqa: PLC0415 - imports `re`

    return f"{quote(sys.executable)} -m looptasks.beads"


def bd_of(folder: str) -> str:
    """Return the `bd` that owns a folder's beads, empty when none does."""
    return _on_path("bd") if database(folder) else ""


def hand_over(words: list[str]) -> int | None:
    """Let `bd` do it where it owns the beads; return its exit code, else None.

    A `bd` on the path that is a script around us would go round in circles.
    """
    if os.environ.get(_HANDED_OVER):
        return None
    program = bd_of(find_folder("."))
    if not program:
        return None
    import subprocess  # noqa: PLC0415 - few projects

    environment = {**os.environ, _HANDED_OVER: "1"}
    return subprocess.run([program, *words], env=environment, check=False).returncode


def _on_path(name: str) -> str:
    """Return the program of that name; `shutil.which` takes 5 ms to import."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""
