"""A process: what to start, within which limits, and how it ended."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

# Values are NamedTuples: frozen like a dataclass, and ten times cheaper to define,
# which is what a no-op run spends its time on.

How = Literal["exit", "timeout", "idle", "interrupted", "orphaned", "unstartable"]


class Command(NamedTuple):
    """One program to run, with files for its streams and limits on its time.

    With `exact` it gets the variables of `env` and none of ours.
    """

    argv: tuple[str, ...]
    cwd: str
    stdin: str
    stdout: str
    stderr: str
    record: str = ""
    env: Mapping[str, str] = {}
    timeout: float | None = None
    idle_timeout: float | None = None
    exact: bool = False


class Ended(NamedTuple):
    """How a process ended; `orphaned` means that its runner died first."""

    how: How
    exit_code: int | None
    signal: int | None
    started_at: str
    finished_at: str
    seconds: float
    detail: str = ""


class CutShort(Exception):  # noqa: N818 - nobody's mistake
    """A check was interrupted, so that nobody knows what it would have said."""


def check_code(ended: Ended) -> int:
    """Return a check's exit code, as a shell would put it."""
    if ended.how in ("interrupted", "orphaned"):
        raise CutShort
    if ended.how == "exit" and ended.exit_code is not None:
        return ended.exit_code
    return 128 + ended.signal if ended.signal else 124


class Processes(Protocol):
    """Runs commands, and leaves no process behind."""

    def run(self, command: Command) -> Ended:
        """Run to the end; on an interrupt end the whole tree, then raise."""

    def stop_all(self) -> None:
        """End every running command; its `run` returns with how=interrupted."""
