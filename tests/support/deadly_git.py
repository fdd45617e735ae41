"""A deadly git: it kills the program that started it, at one of its git calls."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.support.git_repository import Repository

# Stands before git on PATH, and kills who started it at the call number $KILL_AT.
_DEADLY = """\
#!/bin/sh
count=$(($(cat "$CALLS") + 1))
echo $count > "$CALLS"
if [ $count = "$KILL_AT" ]; then
    case $KILL_HOW in
    before) kill -9 $PPID; exit 1 ;;
    during) "$REAL_GIT" "$@" & kill -9 $PPID; wait; exit 1 ;;
    together) "$REAL_GIT" "$@" & sleep 0.00$((count % 5)); kill -9 $! $PPID; exit 1 ;;
    esac
fi
exec "$REAL_GIT" "$@"
"""


class DeadlyGit:
    """Runs Python programs that are killed at one of their git calls."""

    def __init__(self, folder: Path) -> None:
        self._calls = folder / "calls"
        self._bin = folder / "bin"
        self._bin.mkdir()
        (self._bin / "git").write_text(_DEADLY)
        (self._bin / "git").chmod(0o755)

    def run(self, at: int, how: str, *arguments: str) -> int:
        """Run a program, and return its exit code."""
        self._calls.write_text("0")
        environ = os.environ | {
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(self._calls),
            "KILL_AT": str(at),
            "KILL_HOW": how,
            "REAL_GIT": shutil.which("git") or "",
        }
        # No pipe: the git that outlives its parent would hold it open.
        done = subprocess.run(
            (sys.executable, *arguments),
            env=environ,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        self._wait_for_orphans()
        return done.returncode

    def _wait_for_orphans(self) -> None:
        listing = ("ps", "-eo", "args")
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if f"{self._bin}/git" not in subprocess.check_output(listing, text=True):
                return
            time.sleep(0.02)


def age_locks(repository: Repository) -> None:
    """Make the locks that a killed git left look old."""
    for lock in (repository.top / ".git").rglob("*.lock"):
        os.utime(lock, (1, 1))
