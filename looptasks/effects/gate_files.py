"""Gate files: people's answers, one file per stage, and what they are asked about."""

import os
from contextlib import AbstractContextManager
from typing import Any

from looptasks.effects.files import make_folder, read_json, storing, write_json
from looptasks.effects.session_folder import SessionFolder

_PATIENCE = 10.0
_HEAD = 4000


class GateFiles:
    """What lies below a session's `gates/`, and what a stage shows at its gate."""

    def __init__(self, folder: SessionFolder) -> None:
        self._folder = folder

    def guard(self) -> AbstractContextManager[object]:
        """Return the lock that lets one answer be looked for and given at a time."""
        from filelock import FileLock  # noqa: PLC0415 - 28 ms that a no-op saves

        return FileLock(self._folder.file("gates.lock"), timeout=_PATIENCE)

    def write(self, stage: str, value: dict[str, Any]) -> None:
        """Keep the newest answer about a stage, if it is not there already."""
        path = self._folder.file(f"gates/{stage}.json")
        if read_json(path) != value:
            make_folder(os.path.dirname(path))
            write_json(path, value)

    def shown(self, stage: str, number: int) -> tuple[Any, str, str]:
        """Return an iteration's artifact, the head of its answer, and where it is."""
        artifact = read_json(self._folder.iteration(stage, number, "artifact.json"))
        name = "output.md" if artifact is None else "artifact.md"
        where = self._folder.iteration(stage, number, name)
        return artifact, self._head(stage, number), self._relative(where)

    def _head(self, stage: str, number: int) -> str:
        path = self._folder.iteration(stage, number, "output.md")
        try:
            with storing(path), open(path, "rb") as file:
                return file.read(_HEAD).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._folder.root)
