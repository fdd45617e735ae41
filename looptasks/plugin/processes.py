"""The one set of child processes that this process keeps."""

from functools import cache

from looptasks.effects.keeper_processes import KeeperProcesses


@cache
def processes() -> KeeperProcesses:
    """Return this process's children, started on first use."""
    return KeeperProcesses()
