"""A git lock: the `*.lock` file that a running git holds, and a killed one leaves."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

_REFUSED = re.compile(r"Unable to create '(.+?\.lock)': File exists")
OURS = "core.hooksPath=/dev/null"  # every call of ours says so, and few others do
_OLD = 5.0  # seconds; libraries hold a lock for moments, with no git process to see
_PATIENCE = 60.0
_PAUSE = 0.05
_DAEMON = b"fsmonitor--daemon"  # lives as long as the machine, holds no lock


def refused_by(said: str) -> str | None:
    """Return the lock file that git names as the reason of its refusal."""
    match = _REFUSED.search(said)
    return match[1] if match else None


def wait_for(lock: str) -> bool:
    """Wait until a lock is gone, removing one that a dead git left; False: it stays."""
    end = time.monotonic() + _PATIENCE
    while os.path.lexists(lock):
        if is_leftover(lock):
            with suppress(OSError):
                os.unlink(lock)
            return True
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)
    return True


def is_leftover(lock: str) -> bool:
    """Tell whether a lock is old, and no git is alive that could hold it."""
    try:
        age = time.time() - os.lstat(lock).st_mtime
    except OSError:
        return False
    return age > _OLD and not _git_is_alive(lock)


def wait_for_ours(folder: str) -> None:
    """Wait until no git that a killed process of ours started works in a folder."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and any(
        OURS.encode() in git.started and git.folder in ("", folder) for git in _gits()
    ):
        time.sleep(_PAUSE)


class _LivingGit(NamedTuple):
    """A git process; `folder` "" where the system does not tell it."""

    started: bytes
    folder: str


def _git_is_alive(lock: str) -> bool:
    return any(_works_near(git.folder, lock) for git in _gits())


def _gits() -> Iterator[_LivingGit]:
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        yield from _gits_of_ps()
        return
    for pid in pids:
        with suppress(OSError):
            if git := _git_of(f"/proc/{pid}"):
                yield git


def _git_of(place: str) -> _LivingGit | None:
    with open(f"{place}/stat", "rb") as file:
        head, _, rest = file.read().rpartition(b")")
    name = head.partition(b"(")[2]
    if rest.split()[0] in b"ZX" or not (name == b"git" or name.startswith(b"git-")):
        return None
    with open(f"{place}/cmdline", "rb") as file:
        started = file.read()
    folder = os.readlink(f"{place}/cwd")
    return None if _DAEMON in started else _LivingGit(started, folder)


def _gits_of_ps() -> Iterator[_LivingGit]:
    import subprocess  # noqa: PLC0415 - not needed where there is /proc

    said = subprocess.run(
        ("ps", "-axo", "state=,args="),  # noqa: S607 - /bin or /usr/bin
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    ).stdout
    for line in said.splitlines():
        state, _, started = line.strip().partition(b" ")
        program = os.path.basename(started.split(b" ")[0])
        if program.startswith(b"git") and state[:1] != b"Z" and _DAEMON not in line:
            yield _LivingGit(started, "")


def _works_near(folder: str, lock: str) -> bool:
    """Tell whether a git in that folder may hold the lock; in doubt it does."""
    common = ""
    while folder and not common:
        common = _common_folder(os.path.join(folder, ".git"))
        folder = "" if folder == os.path.dirname(folder) else os.path.dirname(folder)
    return not common or os.path.realpath(lock).startswith(f"{common}{os.sep}")


def _common_folder(path: str) -> str:
    if os.path.isdir(path):
        return os.path.realpath(path)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            named = file.read().strip().removeprefix("gitdir: ")
    except OSError:
        return ""
    place = os.path.realpath(os.path.join(os.path.dirname(path), named))
    return place.partition(f"{os.sep}worktrees{os.sep}")[0]
