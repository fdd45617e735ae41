"""A file history: what a session itself has made of files, in its ledger's order."""

from typing import NamedTuple


class Change(NamedTuple):
    """What a stage made of a file: digests before and after."""

    sequence: int
    stage: str
    before: str
    after: str


class FileHistory:
    """The changes of files that a session knows to be its own."""

    def __init__(self) -> None:
        self._changes: dict[str, list[Change]] = {}

    def add(self, path: str, change: Change) -> None:
        """Take in what was made of a file."""
        self._changes.setdefault(path, []).append(change)

    def follow(self, path: str, left: tuple[int, str], but: frozenset[str]) -> str:
        """Return what became of a file since it was left, at a line of the ledger.

        Only a change of what was there counts, and none by a stage in `but`.
        """
        since, digest = left
        for change in self._changes.get(path, ()):
            counts = change.sequence > since and change.stage not in but
            if counts and change.before == digest:
                digest = change.after
        return digest
