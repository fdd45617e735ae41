"""Dying: a process that ends itself at its n-th change of a file, as by `kill -9`."""

import atexit
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CHANGES = (
    "write",
    "replace",
    "rename",
    "unlink",
    "mkdir",
    "symlink",
    "fsync",
    "fdatasync",
    "posix_spawn",
    "sendfile",
)


class Dying:
    """Counts changes; dies just before one of them, or in the middle of a write."""

    def __init__(self, at: int, *, torn: bool = False) -> None:
        self.at = at
        self.torn = torn
        self.changes: list[str] = []

    def watch(self) -> None:
        """Look at every change from now on."""
        for name in _CHANGES:
            setattr(os, name, self._counted(name, getattr(os, name)))
        sys.addaudithook(self._opened)

    def _note(self, name: str) -> bool:
        self.changes.append(name)
        return len(self.changes) == self.at

    def _counted(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def change(*args: Any, **kwargs: Any) -> Any:
            if self._note(name):
                if name == "write" and self.torn:
                    act(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), 9)
            return act(*args, **kwargs)

        return change

    def _opened(self, event: str, args: Any) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & 3
        if writes and not str(args[0]).startswith("/dev/") and self._note("open"):
            os.kill(os.getpid(), 9)

    def report(self, path: str) -> None:
        """Write down which changes there were."""
        done = " ".join(self.changes)
        Path(path).write_text(done)


def die_as_told() -> None:
    """Do what the environment says: `KILL_AT`, `KILL_TORN`, `KILL_REPORT`."""
    dying = Dying(int(os.environ["KILL_AT"]), torn=bool(os.environ["KILL_TORN"]))
    dying.watch()
    atexit.register(dying.report, os.environ["KILL_REPORT"])
