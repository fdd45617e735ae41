"""A git lock: the `*.lock` file that a running git holds, and a killed one leaves."""

import os
import re
import time
from contextlib import suppress

_REFUSED = re.compile(r"Unable to create '(.+?\.lock)': File exists")
_OLD = 5.0  # seconds; libraries hold a lock for moments, with no git process to see
_PATIENCE = 60.0
_PAUSE = 0.05


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
    return age > _OLD and not _git_is_alive()


def _git_is_alive() -> bool:
    # Any git of this machine: `git commit` waits for its editor in any folder, and
    # `git -C` hides where it works. Waiting for a stranger is harmless.
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return _git_in_ps()
    return any(_is_git(pid) for pid in pids)


def _is_git(pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            head, _, rest = file.read().rpartition(b")")
    except OSError:
        return False
    name = head.partition(b"(")[2]
    zombie = rest.split()[:1] in ([b"Z"], [b"X"])
    return not zombie and (name == b"git" or name.startswith(b"git-"))


def _git_in_ps() -> bool:
    import subprocess  # noqa: PLC0415 - not needed where there is /proc

    said = subprocess.run(
        ("ps", "-axo", "state=,comm="),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    rows = (line.split(None, 1) for line in said.splitlines())
    return any(
        len(row) > 1
        and not row[0].startswith("Z")
        and os.path.basename(row[1]).startswith("git")
        for row in rows
    )
