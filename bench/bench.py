"""A bench: where a run of the measures works, how hard it tries, and its limits."""

import itertools
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from bench.commands import environments
from bench.projects import finished_session, raw_project
from bench.samples import Contender, Effort, Ratio, compare
from bench.table import Row, limits

_MEMORY = Path("/dev/shm")


class Bench:
    """What every measure gets."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self.folder = folder
        self.quick = quick
        self.with_us, self.without = environments(folder)
        self.limits = limits()
        self._memory: tempfile.TemporaryDirectory[str] | None = None
        self._numbers = itertools.count(1)
        self.finished = cache(self._finished)
        self.raw = cache(self._raw)

    def fresh(self, name: str) -> Path:
        """Return a folder that is not there yet.

        Nothing is removed before the run is over: ext4 shuns the inodes of files
        that were just removed, and makes new files slowly for the next seconds.
        """
        return self.folder / f"{next(self._numbers):03d}-{name}"

    def memory(self) -> Path:
        """Return a folder in memory, where that exists: no disk, only our code."""
        if not os.access(_MEMORY, os.W_OK):
            return self.fresh("memory")
        if self._memory is None:
            made = tempfile.TemporaryDirectory(prefix="bench-", dir=_MEMORY)
            self._memory = made
        return Path(self._memory.name) / str(next(self._numbers))

    def close(self) -> None:
        """Remove all that was made."""
        if self._memory is not None:
            self._memory.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _finished(self, count: int) -> Path:
        """Return a project with a finished session of so many iterations."""
        return finished_session(self.fresh(f"done-{count}"), self.with_us, count)

    def _raw(self, count: int) -> Path:
        """Return a plain doit project with so many tasks, all up to date."""
        return raw_project(self.fresh(f"raw-{count}"), self.without, count)

    def effort(self, seconds: float, least: int = 5, most: int = 60) -> Effort:
        """Return how hard to try at one row, given what is enough for a quick run."""
        if self.quick:
            return Effort(least, most, seconds)
        return Effort(2 * least, 4 * most, 6 * seconds)

    def row(
        self,
        name: str,
        ours: Contender,
        floor: Contender,
        effort: Effort,
        *,
        limit: str | None = None,
        note: str = "",
    ) -> Row:
        """Compare, and return the row; both have been warmed up once."""
        ours()
        floor()
        most = self.limits[limit].most if limit else None
        return self.told(name, compare(ours, floor, most, effort), limit, note)

    def told(self, name: str, ratio: Ratio, limit: str | None, note: str = "") -> Row:
        """Return the row of a ratio that was not made by comparing two contenders."""
        if limit is None:
            return Row(name, ratio, None, note)
        allowed = self.limits[limit]
        return Row(name, ratio, allowed.most, note, goal=allowed.goal)

    def counted(
        self, name: str, counts: tuple[int, int], limit: str | None, note: str
    ) -> Row:
        """Return the row of something that was counted once, ours and the floor's."""
        ours, floor = counts
        value = ours / floor
        ratio = Ratio(value, value, value, 1, ours, floor)
        return self.told(name, ratio, limit, note)._replace(unit="")
