"""The `.beads` folder of a project: where it is, and who owns what is in it."""

from __future__ import annotations

import os

from looptasks.core import json_text

FOLDER = ".beads"
_TOPS = (".git", ".loop", "doit.cfg")  # what only the top of a project has


def find_folder(start: str) -> str:
    """Return the `.beads` folder of a place: `BEADS_DIR`, or the nearest going up.

    The search ends where the project does. Where there is none yet, it is where the
    first bead shall go.
    """
    named = os.environ.get("BEADS_DIR")
    if named:
        return _redirected(os.path.abspath(named))
    first = place = os.path.abspath(start)
    while True:
        folder = os.path.join(place, FOLDER)
        if os.path.isdir(folder):
            return _redirected(folder)
        if any(os.path.exists(os.path.join(place, top)) for top in _TOPS):
            return folder
        above = os.path.dirname(place)
        if above == place:
            return os.path.join(first, FOLDER)
        place = above


def _redirected(folder: str) -> str:
    """Return the folder that a `redirect` file of `bd` names, if there is one."""
    try:
        with open(os.path.join(folder, "redirect"), encoding="utf-8") as file:
            target = file.read().strip()
    except OSError:
        return folder
    return os.path.normpath(os.path.join(os.path.dirname(folder), target))


def database(folder: str) -> str:
    """Return the database that `bd` keeps for a project, empty when it keeps none."""
    try:
        with open(os.path.join(folder, "metadata.json"), encoding="utf-8") as file:
            said = json_text.read(file.read())
    except (OSError, ValueError):
        return ""
    return str(said.get("database") or "") if isinstance(said, dict) else ""
