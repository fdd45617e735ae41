"""Live processes: which ones there are, and waiting for them to be gone."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether the process runs: a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def any_alive(pids: Iterable[int]) -> bool:
    return any(alive(pid) for pid in pids)


def carrying(mark: str) -> list[int]:
    """Return the live processes that have the text in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                environ = (folder / "environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in environ and alive(int(folder.name)):
                found.append(int(folder.name))
    return found


def within(seconds: float, fact: Callable[[], object]) -> bool:
    """Whether the fact becomes true in time."""
    until = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def pids_in(path: Path) -> list[int]:
    """Return the whole lines of a file of process ids."""
    text = path.read_text() if path.exists() else ""
    return [int(line) for line in text.splitlines() if line.isdigit()]
