"""The file of beads, `.beads/issues.jsonl`: read and rewritten whole.

A reader needs no lock, for the file is only ever replaced. A writer holds a lock from
reading to replacing, so that of several at once none loses what another wrote.
"""

from __future__ import annotations

import os

from looptasks.core.bead_lines import board_from, text_of
from looptasks.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

_FILE = "issues.jsonl"
_LOCK = "issues.lock"
_IGNORED = "# What only this machine needs.\n*.lock\n*.tmp\n"


class BeadsFile:
    """The beads of one `.beads` folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.path = os.path.join(folder, _FILE)
        self._seen: tuple[object, Board] | None = None

    def revision(self) -> tuple[int, int, int] | None:
        """Return what changes whenever the file does."""
        try:
            return _triple(os.stat(self.path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def beads(self) -> Board:
        """Return all beads; read again only if the file has changed."""
        seen = self._seen
        if seen is not None and seen[0] == self.revision():
            return seen[1]
        revision, text = _read(self.path)
        board = board_from(text, self.path)
        self._seen = (revision, board)
        return board

    def change(self, decide: Callable[[Board], Sequence[Bead]]) -> Sequence[Bead]:
        """Write what `decide` makes of the board; nothing comes in between."""
        from looptasks.effects.beads_lock import locked  # noqa: PLC0415 - writers only

        _make_folder(self.folder)
        with locked(os.path.join(self.folder, _LOCK)):
            board = self.beads()
            beads = decide(board)
            changed = [bead for bead in beads if board.get(bead["id"]) is not bead]
            if changed:
                self._write(board.after(changed))
        return beads

    def _write(self, board: Board) -> None:
        from looptasks.effects.files import write_whole  # noqa: PLC0415 - writers only

        _sweep(self.folder)
        # Through a link, as some keep the beads of several clones in one place.
        real = os.path.realpath(self.path)
        data = text_of(board).encode("utf-8", "surrogatepass")
        # What was written need not be read, unless another wrote since.
        self._seen = _triple(write_whole(real, data, durable=True)), board


def _read(path: str) -> tuple[tuple[int, int, int] | None, str]:
    try:
        with open(path, "rb") as file:
            revision = _triple(os.fstat(file.fileno()))
            return revision, file.read().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except UnicodeDecodeError as error:
        raise StorageError(
            f"byte {error.start} is not UTF-8", where=path, fix="save it as UTF-8"
        ) from error
    except OSError as error:
        raise StorageError(error.strerror or str(error), where=path) from error


def _triple(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _make_folder(folder: str) -> None:
    from looptasks.effects.files import make_folder, write_whole  # noqa: PLC0415

    if not os.path.isdir(folder):
        make_folder(folder)
        ignore = os.path.join(folder, ".gitignore")
        if not os.path.lexists(ignore):
            write_whole(ignore, _IGNORED.encode())


def _sweep(folder: str) -> None:
    """Remove what writers left that were killed; the lock says that none is alive."""
    for name in os.listdir(folder):
        if name.startswith(_FILE + ".") and name.endswith(".tmp"):
            os.unlink(os.path.join(folder, name))
