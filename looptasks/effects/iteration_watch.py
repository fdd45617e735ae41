"""A watch over an iteration: what its folder shows while somebody else fills it."""

import os

from looptasks.core.glimpse import Glimpse
from looptasks.effects.files import read_json

_TAIL = 4096


class IterationWatch:
    """Looks into an iteration's folder, reading only what changed since."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: tuple[object, ...] = ()
        self._glimpse = Glimpse()

    def look(self) -> Glimpse:
        """Return what there is to see; a folder without attempts shows nothing."""
        attempt = newest_attempt(self._folder)
        folder = f"{self._folder}/attempts/{attempt}"
        printed, log = f"{folder}/stdout", f"{self._folder}/validation.log"
        result = _stamp(f"{folder}/result.json")
        known = (attempt, result, _stamp(printed), _stamp(log))
        if attempt and known != self._known:
            verdict = _verdict(f"{folder}/result.json") if result else ""
            tail, whole = _tail(log if verdict == "ok" else printed)
            self._glimpse = Glimpse(attempt, verdict, tail, whole)
            self._known = known
        return self._glimpse


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


def _verdict(path: str) -> str:
    found = read_json(path)
    verdict = found.get("verdict") if isinstance(found, dict) else None
    return verdict if isinstance(verdict, str) else ""


def _tail(path: str) -> tuple[str, bool]:
    try:
        with open(path, "rb") as file:
            start = max(os.fstat(file.fileno()).st_size - _TAIL, 0)
            file.seek(start)
            return file.read(_TAIL).decode("utf-8", "replace"), not start
    except OSError:
        return "", True
