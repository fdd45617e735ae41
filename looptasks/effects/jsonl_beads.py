"""Beads as JSON lines: `.beads/issues.jsonl`, read and rewritten whole.

A reader needs no lock, for the file is only ever replaced. A writer holds a lock from
reading to replacing, so that of several at once none loses what another wrote.
"""

from __future__ import annotations

import os

from looptasks.core import bead_change, json_text
from looptasks.core.bead_birth import Source, create
from looptasks.core.bead_id import prefix_from
from looptasks.core.bead_lines import board_from, text_of
from looptasks.errors import StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

FOLDER = ".beads"
_FILE = "issues.jsonl"
_LOCK = "issues.lock"
_IGNORED = "# What only this machine needs.\n*.lock\n*.tmp\n"
_ENGINE = "looptasks"


class JsonlBeads:
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
        write_whole(real, text_of(board).encode("utf-8", "surrogatepass"), durable=True)
        self._seen = None

    def create(self, fields: dict[str, Any], actor: str) -> Bead:
        """Add a bead; return it."""
        project = os.path.basename(os.path.dirname(os.path.abspath(self.folder)))
        randomness = int.from_bytes(os.urandom(8), "big")
        source = Source(prefix_from(project), randomness)
        return self.change(lambda b: create(b, fields, source, moment(actor)))[0]

    def claim(self, id_: str, actor: str) -> Bead:
        """Take a bead to work on."""
        return self._one(lambda b: bead_change.claim(b, id_, moment(actor)))

    def release(self, id_: str) -> Bead:
        """Let others have a bead."""
        return self._one(lambda b: bead_change.release(b, id_, moment(_ENGINE)))

    def close(self, id_: str, reason: str) -> Bead:
        """Say that a bead is done."""
        return self._one(lambda b: bead_change.close(b, id_, reason, moment(_ENGINE)))

    def reopen(self, id_: str, reason: str) -> Bead:
        """Say that a bead is not done after all, and let others have it."""

        def decide(board: Board) -> Bead:
            now = moment(_ENGINE)
            bead = bead_change.reopen(board, id_, reason, now)
            return bead_change.release(board.after([bead]), bead["id"], now)

        return self._one(decide)

    def set_status(self, id_: str, status: str) -> Bead:
        """Give a bead another status."""
        return self.update(id_, {"status": status}, _ENGINE)

    def add_note(self, id_: str, text: str) -> Bead:
        """Add a line to a bead's notes."""
        return self.update(id_, {"append_notes": text}, _ENGINE)

    def update(self, id_: str, fields: dict[str, Any], actor: str) -> Bead:
        """Change fields of a bead."""
        return self._one(lambda b: bead_change.update(b, id_, fields, moment(actor)))

    def _one(self, decide: Callable[[Board], Bead]) -> Bead:
        return self.change(lambda board: [decide(board)])[0]


def moment(actor: str) -> bead_change.Moment:
    """Return who changes something, and that it is now."""
    from looptasks.effects.system_clock import SystemClock  # noqa: PLC0415

    return bead_change.Moment(actor, SystemClock().now())


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
