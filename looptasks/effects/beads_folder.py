"""The `.beads` folder of a project: where it is, and who owns what is in it."""

from __future__ import annotations

import os

from looptasks.core import json_text

FOLDER = ".beads"


def find_folder(start: str) -> str:
    """Return the `.beads` folder of a place: `BEADS_DIR`, or the nearest going up.

    Where there is none yet, it is where the first bead shall go.
    """
    named = os.environ.get("BEADS_DIR")
    if named:
        return _redirected(os.path.abspath(named))
    places = _upward(os.path.abspath(start))
    for place in places:
        folder = os.path.join(place, FOLDER)
        if os.path.isdir(folder):
            return _redirected(folder)
    for place in places:
        if any(os.path.exists(os.path.join(place, top)) for top in (".git", ".loop")):
            return os.path.join(place, FOLDER)
    return os.path.join(places[0], FOLDER)


def _upward(place: str) -> list[str]:
    places = [place]
    while os.path.dirname(places[-1]) != places[-1]:
        places.append(os.path.dirname(places[-1]))
    return places


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
