"""A watch over an iteration: what its folder shows while somebody else fills it."""

import os
from typing import Any

from looptasks.core.glimpse import Glimpse
from looptasks.core.reading import Reading
from looptasks.effects.event_file import AttemptStreams
from looptasks.effects.files import read_json
from looptasks.effects.stream_note import Note, note_in

_TAIL = 4096


class IterationWatch:
    """Looks into an iteration's folder, reading only what changed since."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: tuple[object, ...] = ()
        self._glimpse = Glimpse()
        self._watched = ""
        self._note: Note | None = None
        self._streams: AttemptStreams | None = None

    def look(self) -> Glimpse:
        """Return what there is to see; a folder without attempts shows nothing."""
        attempt = newest_attempt(self._folder)
        folder = f"{self._folder}/attempts/{attempt}"
        printed, log = f"{folder}/stdout", f"{self._folder}/validation.log"
        result = _stamp(f"{folder}/result.json")
        known = (attempt, result, _stamp(printed), _stamp(log))
        if attempt and known != self._known:
            ended = _result(f"{folder}/result.json") if result else {}
            verdict = _text(ended, "verdict")
            tail, whole = _tail(log if verdict == "ok" else printed)
            reading = self._read(folder) if known[2] else None
            resets_at = _text(ended, "resets_at")
            seen = Glimpse(attempt, verdict, tail, whole, reading, resets_at)
            self._glimpse = seen._replace(guess=self._guess(reading))
            self._known = known
        return self._glimpse

    def _read(self, folder: str) -> Reading | None:
        """Return what an attempt's events have told; None when it prints plain text."""
        if folder != self._watched:
            self._note = note = note_in(folder)
            self._streams = AttemptStreams(folder, note.dialect) if note else None
            self._watched = folder
        return self._streams.look() if self._streams else None

    def _guess(self, reading: Reading | None) -> float | None:
        return self._note.estimated(reading) if self._note and reading else None


def newest_attempt(folder: str) -> int:
    """Return the number of the newest attempt at an iteration, 0 when there is none."""
    try:
        names = os.listdir(f"{folder}/attempts")
    except OSError:
        return 0
    return max((int(name) for name in names if name.isdecimal()), default=0)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _result(path: str) -> dict[str, Any]:
    found = read_json(path)
    return found if isinstance(found, dict) else {}


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _tail(path: str) -> tuple[str, bool]:
    try:
        with open(path, "rb") as file:
            start = max(os.fstat(file.fileno()).st_size - _TAIL, 0)
            file.seek(start)
            return file.read(_TAIL).decode("utf-8", "replace"), not start
    except OSError:
        return "", True
