"""Prompt files: what a prompt takes in from files of the session."""

import os
from collections.abc import Iterable

from looptasks.core.prompt import variables
from looptasks.effects.session_folder import SessionFolder

_SHOWN = 200_000
_ELSEWHERE = ("BEAD", "BEAD_ID", "BD")


def file_variables(
    session: SessionFolder, inputs: Iterable[str], prompt: str
) -> dict[str, str]:
    """Return those variables of a prompt whose values are contents of files."""
    inputs = tuple(inputs)
    values = dict.fromkeys(_ELSEWHERE, "")
    for name in variables(prompt):
        if name == "LEARNINGS":
            values[name] = _learnings(session)
        elif name == "INPUTS":
            values[name] = _texts(session, inputs)
        elif name.startswith("INPUTS."):
            values[name] = _texts(session, _part(name, inputs))
    return values


def _part(variable: str, inputs: Iterable[str]) -> list[str]:
    """Return the stage that a variable names, or its instances among the inputs."""
    stage = variable.removeprefix("INPUTS.")
    below = [name for name in inputs if name.startswith(f"{stage}/")]
    return below or [stage]


def _texts(session: SessionFolder, stages: Iterable[str]) -> str:
    files = [path for stage in stages for path in session.output_files(stage)]
    return "\n\n".join(_shown(session, path) for path in files)


def _learnings(session: SessionFolder) -> str:
    folder = session.file("learnings")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return "\n\n".join(_shown(session, os.path.join(folder, name)) for name in names)


def _shown(session: SessionFolder, path: str) -> str:
    name = os.path.relpath(path, session.root)
    with open(path, "rb") as file:
        text = file.read(_SHOWN).decode("utf-8", "replace").rstrip("\n")
    cut = os.path.getsize(path) > _SHOWN
    rest = f"\n[cut here; the whole is in {name}]" if cut else ""
    return f"--- {name} ---\n{text}{rest}"
