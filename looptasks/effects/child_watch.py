"""A child watch: notice that a child, or the runner, has ended."""

import _signal  # type: ignore[import-not-found]
import os

from looptasks.effects import process_tree
from looptasks.effects.kept_command import KeptCommand

Mains = dict[int, KeptCommand]
_IGNORED = (_signal.SIGINT, _signal.SIGHUP, _signal.SIGTERM)


def ended(mains: Mains) -> tuple[int, int] | None:
    """Reap one child that has ended, and end the group that it led."""
    if not hasattr(os, "waitid"):
        return _ended_main(mains)
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    if found is None:
        return None
    if found.si_pid in mains:
        # Before it is reaped: then its number may name another group.
        process_tree.kill_group(found.si_pid)
    return os.waitpid(found.si_pid, 0)


def _ended_main(mains: Mains) -> tuple[int, int] | None:
    # macOS before Python 3.13 has no waitid; no orphans are adopted there either.
    for pid in mains:
        reaped, status = os.waitpid(pid, os.WNOHANG)
        if reaped:
            process_tree.kill_group(pid)
            return pid, status
    return None


def wakeup_pipe() -> int:
    """Return a descriptor that can be read when a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    for number in _IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    return reader


def handle(pid: int) -> int:
    """Open a handle on the runner: a forked child may keep its socket open."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
