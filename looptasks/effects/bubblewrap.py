"""Bubblewrap: agents shut in, so that they change only what is theirs.

Inside, the machine is read-only except for the working folder, HOME and a temp folder
of their own; git's configuration and hooks cannot be changed; no process outlives it.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import Literal

from looptasks.core.process import Command, Ended, Processes
from looptasks.core.sandbox import Box, Mount

_TMP = "/tmp"  # noqa: S108 - the sandbox gets its own
_PATIENCE = 10.0


class BoxedProcesses:
    """Runs every command of another `Processes` inside a box."""

    def __init__(
        self, inner: Processes, writable: tuple[str, ...] = (), *, network: bool = True
    ) -> None:
        self._inner = inner
        self._writable = writable
        self._network = network

    def run(self, command: Command) -> Ended:
        """Run to the end; on an interrupt end the whole tree, then raise."""
        box = box_for(command, self._writable, network=self._network)
        return self._inner.run(command._replace(argv=box.around(command.argv)))

    def stop_all(self) -> None:
        """End every running command; its `run` returns with how=interrupted."""
        self._inner.stop_all()


@cache
def why_not() -> str:
    """Return why no box can be made here; empty when it can."""
    import shutil  # noqa: PLC0415 - a no-op run starts nothing
    import subprocess  # noqa: PLC0415

    program = shutil.which("bwrap")
    if program is None:
        return "`bwrap` is not installed"
    argv = Box("/", (Mount("empty", _TMP),)).around(("true",))
    try:
        tried = subprocess.run(
            [program, *argv[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"`bwrap` fails: {error}"
    said = tried.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"`bwrap` fails: {said}" if tried.returncode else ""


def box_for(
    command: Command, writable: tuple[str, ...] = (), *, network: bool = True
) -> Box:
    """Return the box for a command: its folder, its git, its HOME and temp."""
    env = command.env if command.exact else {**os.environ, **command.env}
    cwd = os.path.realpath(command.cwd)
    attempt = os.path.dirname(command.record)
    mounts = [
        Mount("empty", _TMP),
        *_all("read", _hidden_programs(command.argv[0], env.get("PATH", ""))),
        *_all("write", (env.get("HOME", ""), env.get("TMPDIR", ""))),
        *_repository(cwd, (cwd, attempt, *writable)),
    ]
    return Box(cwd, tuple(mounts), network)


def _all(kind: Literal["write", "read"], paths: Iterable[str]) -> list[Mount]:
    real = [os.path.realpath(path) for path in paths if path]
    return [Mount(kind, path) for path in real if path not in ("/", _TMP)]


def _hidden_programs(program: str, path: str) -> list[str]:
    """Return the folders of programs that the empty temp folder would hide."""
    folders = [*path.split(":"), os.path.dirname(os.path.realpath(program))]
    real = {os.path.realpath(folder) for folder in folders if folder}
    roots = {os.path.dirname(f) if f.endswith("/bin") else f for f in real}
    return sorted(root for root in roots if root.startswith(f"{_TMP}/"))


def _repository(cwd: str, writable: Iterable[str]) -> list[Mount]:
    """Return the mounts of the working folder and of the git that it belongs to."""
    place = _dot_git(cwd)
    if os.path.isdir(place):
        # Bound to itself, it cannot be renamed and another put in its place.
        return [*_all("write", (*writable, place)), *_guarded(place)]
    own = _pointed_to(place, "gitdir: ")
    shared = _pointed_to(os.path.join(own, "commondir"), "") if own else ""
    if not shared:
        return _all("write", writable)
    parts = [os.path.join(shared, part) for part in ("objects", "refs", "logs")]
    return [
        *_all("read", (os.path.dirname(shared),)),
        *_all("write", (*writable, *parts, own)),
        *_all("read", (place, os.path.join(own, "commondir"))),
        *_guarded(shared),
    ]


def _dot_git(folder: str) -> str:
    while folder != os.path.dirname(folder):
        place = os.path.join(folder, ".git")
        if os.path.lexists(place):
            return place
        folder = os.path.dirname(folder)
    return ""


def _guarded(git: str) -> list[Mount]:
    hooks = os.path.join(git, "hooks")
    kind: Literal["read", "sealed"] = "read" if os.path.isdir(hooks) else "sealed"
    return [*_all("read", (os.path.join(git, "config"),)), Mount(kind, hooks)]


def _pointed_to(path: str, prefix: str) -> str:
    """Return the folder that a file of git names, empty when there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(8192).rstrip("\n")
    except OSError:
        return ""
    if not line.startswith(prefix):
        return ""
    base = os.path.dirname(path)
    found = os.path.realpath(os.path.join(base, line.removeprefix(prefix)))
    return found if os.path.isdir(found) else ""
