"""Bubblewrap: agents shut in, so that they change only what is theirs.

Inside, the machine is read-only except for the working folder, HOME and a temp folder
of their own; git's configuration and hooks cannot be changed; no process outlives it.
"""

import os
from functools import cache

from looptasks.core.process import Command, Ended, Processes
from looptasks.core.sandbox import Box

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
    argv = Box("/", (), (), (), network=True).around(("true",))
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
    home = _existing(env.get("HOME", ""))
    temp = _existing(env.get("TMPDIR", ""))
    attempt = _existing(os.path.dirname(command.record)) if command.record else ()
    git, guarded, missing = _git(cwd)
    return Box(
        cwd,
        writable=(*home, *temp, cwd, *attempt, *git, *map(os.path.realpath, writable)),
        readable=_hidden_programs(command.argv[0], env.get("PATH", "")),
        guarded=(*guarded, *_existing(command.stdin)),
        empty=(_TMP, *missing),
        network=network,
    )


def _existing(path: str) -> tuple[str, ...]:
    real = os.path.realpath(path) if path else "/"
    return (real,) if real not in ("/", _TMP) and os.path.exists(real) else ()


def _hidden_programs(program: str, path: str) -> tuple[str, ...]:
    """Return the folders of programs that the empty temp folder would hide."""
    folders = [*path.split(":"), os.path.dirname(os.path.realpath(program))]
    real = {os.path.realpath(folder) for folder in folders if folder}
    roots = {os.path.dirname(f) if f.endswith("/bin") else f for f in real}
    return tuple(sorted(r for r in roots if r.startswith(f"{_TMP}/")))


def _git(cwd: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what of git may be written, what may not, and hooks that are missing."""
    folder = os.path.join(cwd, ".git")
    if os.path.isdir(folder):
        # Bound to itself, it cannot be renamed and another put in its place.
        return (folder,), *_guarded(folder)
    own = _pointed_to(folder, "gitdir: ", cwd)
    if not own:
        return (), (), ()
    shared = _pointed_to(os.path.join(own, "commondir"), "", own) or own
    parts = ("objects", "refs", "logs")
    kept = tuple(os.path.join(shared, part) for part in parts)
    return (*kept, own), (folder, *_existing(os.path.join(own, "commondir"))), ()


def _guarded(folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    hooks = os.path.join(folder, "hooks")
    guarded = (os.path.join(folder, "config"), hooks)
    return guarded, () if os.path.isdir(hooks) else (hooks,)


def _pointed_to(path: str, prefix: str, base: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline(8192).rstrip("\n")
    except OSError:
        return ""
    if not line.startswith(prefix):
        return ""
    found = os.path.realpath(os.path.join(base, line.removeprefix(prefix)))
    return found if os.path.isdir(found) else ""
