"""A shown command: a real process whose lines are passed on while it runs."""

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

_STEP, _PATIENCE = 0.05, 10.0
_PRIVATE = ("LOOP", "CLAUDE_LOOP", "DOIT_")


def shown(command: str, cwd: str, show: Callable[[str], None], fatal: str = "") -> int:
    """Run a command line and return its exit code, negative for a signal.

    As soon as the path `fatal` exists, the process is killed (`kill -9`).
    """
    with subprocess.Popen(
        _argv(command),
        cwd=cwd,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        if fatal:
            path = os.path.join(cwd, fatal)
            threading.Thread(target=_kill_when, args=(process, path)).start()
        for line in process.stdout or ():
            show(line.rstrip("\n"))
        if fatal:
            show(f"$ kill -9 {process.pid}")
    return process.returncode


def _kill_when(process: subprocess.Popen[str], path: str) -> None:
    for _ in _ticks():
        if os.path.exists(path) or process.poll() is not None:
            break
    process.kill()


def _ticks() -> Iterator[None]:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        time.sleep(_STEP)
        yield


def _argv(command: str) -> list[str]:
    """Start the doit of this very installation, whatever is on the path."""
    program, _, words = command.partition(" ")
    if program == "doit":
        return [sys.executable, "-m", "doit", *shlex.split(words)]
    return ["sh", "-c", command]


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(_PRIVATE)}
