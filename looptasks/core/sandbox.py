"""A sandbox: what an agent may change, and whether it is shut in at all."""

from typing import Literal, NamedTuple

from looptasks.core.agent_settings import AgentSettings
from looptasks.errors import LoopError

_INSTALL = "install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`)"


class Mount(NamedTuple):
    """A path inside a box: written to, only read, or empty at first."""

    kind: Literal["write", "read", "empty", "sealed"]
    path: str


class Box(NamedTuple):
    """A sandbox for one command; later mounts lie over earlier ones."""

    cwd: str
    mounts: tuple[Mount, ...]
    network: bool = True

    def around(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command line that runs `argv` inside, by bubblewrap."""
        words = ["bwrap", "--die-with-parent", "--unshare-pid"]
        words += [] if self.network else ["--unshare-net"]
        words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for mount in self.mounts:
            words += _options(mount)
        return (*words, "--chdir", self.cwd, "--", *argv)


def _options(mount: Mount) -> list[str]:
    path = mount.path
    match mount.kind:
        case "write":
            return ["--bind-try", path, path]
        case "read":
            return ["--ro-bind-try", path, path]
        case "empty":
            return ["--tmpfs", path]
        case "sealed":
            return ["--tmpfs", path, "--remount-ro", path]


def is_boxed(settings: AgentSettings, why_not: str) -> bool:
    """Whether an agent is to be shut in; `why_not` is empty where that works."""
    match settings.sandbox:
        case "bwrap" if why_not:
            raise LoopError(f"`sandbox: bwrap` cannot be had: {why_not}", fix=_INSTALL)
        case "bwrap":
            return True
        case "auto" if not why_not:
            return True
        case _:
            return _open(settings, why_not)


def _open(settings: AgentSettings, why_not: str) -> bool:
    if settings.network:
        return False
    why = why_not or "`sandbox: none` leaves the network open"
    raise LoopError(
        f"`network: false` cannot be kept: {why}",
        fix=f"use `sandbox: bwrap` ({_INSTALL}), or allow the network",
    )
