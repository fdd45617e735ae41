"""Kept processes: commands run through a keeper, so that none outlives its runner."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock
from typing import Any, NamedTuple, cast

from looptasks.core.process import Command, Ended
from looptasks.effects import frame, process_tree
from looptasks.errors import LoopError

_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from looptasks.effects.keeper import main; main(sys.argv[2:])"
)
_CONTROL = 3
_GRACE = 2.0
_ABANDON = 6.0  # the keeper's own ladder takes five seconds at most
_AGAIN = "run the same command again: what has finished is kept"


class _Keeper(NamedTuple):
    """A keeper that was started: its commands carry the mark."""

    pid: int
    mark: str
    control: int


class _Line(NamedTuple):
    """A connection to a keeper, used by one thread at a time."""

    keeper: _Keeper
    fd: int


class KeeperProcesses:
    """Runs commands for many threads at once; one keeper for each process.

    With `inherit_env=False` a command gets its own variables and no others. By its
    `run_id`, a keeper that outlives its runner is found by the next one.
    """

    def __init__(self, *, inherit_env: bool = True) -> None:
        self.run_id = ""
        self._exact = not inherit_env
        self._owner = 0
        self._keeper: _Keeper | None = None
        self._idle: list[_Line] = []
        self._lock = Lock()

    @property
    def keeper(self) -> int:
        """The keeper's process id; 0 while there is none."""
        mine = self._keeper if self._owner == os.getpid() else None
        return mine.pid if mine else 0

    def run(self, command: Command) -> Ended:
        """Run to the end; on an interrupt end the whole tree, then raise."""
        reply = self._ask(self._request(command))
        return Ended(*cast("tuple[Any, ...]", reply))

    def start(self) -> None:
        """Start the keeper ahead of the first command, which need not wait for it."""
        self._idle.append(self._line())

    def stop_all(self) -> None:
        """End every running command; its `run` returns with how=interrupted."""
        self.stop_below([""])

    def stop_below(self, folders: Iterable[str]) -> None:
        """End the commands that keep their records below one of these folders."""
        if self.keeper:
            self._ask([_absolute(f) + b"/" if f else b"" for f in folders])

    def end_marked(self, run_id: str, *, dead: bool = True) -> int:
        """End all that another run left running; return how many.

        The keeper of a dead runner is let finish: it knows which commands ended well.
        """
        keeper = f"LOOPTASKS_KEEPER={run_id}".encode()
        process_tree.see_off(keeper, _ABANDON if dead else 0.0)
        return process_tree.end_marked(b"LOOPTASKS_RUN=" + run_id.encode(), _GRACE)

    def close(self) -> None:
        """Let the keeper go; what still runs is ended."""
        pid = self.keeper
        with self._lock:
            self._hang_up()
        if pid:
            _reap(pid)

    def _ask(self, message: object) -> object:
        line = self._line()
        try:
            frame.send(line.fd, message)
            reply = frame.receive(line.fd)
        except OSError:  # the same as no reply: the keeper is gone
            reply = None
        except BaseException:
            _abandon(line.fd)
            raise
        if reply is None:
            os.close(line.fd)
            raise self._bereft(line.keeper)
        self._idle.append(line)
        return reply

    def _request(self, command: Command) -> dict[str, object]:
        if not command.argv or not command.argv[0]:
            raise LoopError("a command is empty", fix="name the program to run")
        encode, cwd = os.fsencode, os.path.abspath(command.cwd)
        return {
            "argv": [encode(word) for word in command.argv],
            "cwd": encode(cwd),
            "env": {encode(k): encode(v) for k, v in command.env.items()},
            "exact": self._exact or command.exact,
            "stdin": _absolute(command.stdin),
            "stdout": _absolute(command.stdout),
            "stderr": _absolute(command.stderr),
            "record": _absolute(command.record),
            "timeout": command.timeout,
            "idle": command.idle_timeout,
        }

    def _line(self) -> _Line:
        """Return a line to the keeper that nobody else uses."""
        if self._owner != os.getpid():
            self._disown()
        while self._idle:
            line = self._idle.pop()
            if line.keeper is self._keeper:
                return line
            os.close(line.fd)
        return self._connect()

    def _disown(self) -> None:
        # After a fork the keeper is the parent's, and so may be the lock's holder.
        self._lock = Lock()
        self._hang_up()
        self._owner = os.getpid()

    def _connect(self) -> _Line:
        import socket  # noqa: PLC0415 - a no-op run starts nothing

        with self._lock:
            keeper = self._keeper = self._keeper or _start(
                socket.socketpair, self.run_id
            )
            ours, theirs = socket.socketpair()
            control = socket.socket(fileno=os.dup(keeper.control))
            # When the keeper is gone, reading from the line will tell.
            with theirs, control, suppress(OSError):
                socket.send_fds(control, [b"+"], [theirs.fileno()])
            return _Line(keeper, ours.detach())

    def _hang_up(self) -> None:
        lines, self._idle = self._idle, []
        for line in lines:
            os.close(line.fd)
        if self._keeper:
            os.close(self._keeper.control)
            self._keeper = None

    def _bereft(self, keeper: _Keeper) -> LoopError:
        """End what a dead keeper left running, and say so."""
        with self._lock:
            if keeper is self._keeper:
                self._hang_up()
            status = _reap(keeper.pid)
            process_tree.end_marked(f"LOOPTASKS_CALL={keeper.mark}".encode(), _GRACE)
        return LoopError(
            f"the keeper of processes (pid {keeper.pid}) ended unexpectedly "
            f"({status}), so its commands were ended too",
            fix=_AGAIN,
        )


def _start(pair: Callable[[], tuple[Any, Any]], run_id: str) -> _Keeper:
    ours, theirs = pair()
    outer = os.environ.get("LOOPTASKS_CALL", "")
    mark = f"{outer}/{os.urandom(8).hex()}".lstrip("/")
    with ours, theirs:
        try:
            pid = _spawn(theirs.fileno(), mark, run_id)
        except OSError as error:
            raise LoopError(
                f"the keeper of processes cannot be started: {error.strerror}",
                where=sys.executable or "python",
                fix="check that this Python can be executed",
            ) from error
        return _Keeper(pid, mark, ours.detach())


def _absolute(path: str) -> bytes:
    return os.fsencode(os.path.abspath(path)) if path else b""


def _spawn(control: int, mark: str, run_id: str) -> int:
    import fcntl  # noqa: PLC0415 - a no-op run starts nothing

    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    flags = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    argv = [sys.executable, *flags, "-c", _PROGRAM, os.path.abspath(package)]
    # A copy far from 3, because dup2 onto itself would leave it to be closed.
    high = fcntl.fcntl(control, fcntl.F_DUPFD_CLOEXEC, 10)
    try:
        return os.posix_spawn(
            sys.executable,
            [*argv, str(_CONTROL), str(os.getpid()), mark],
            {**os.environ, "LOOPTASKS_KEEPER": run_id},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, high, _CONTROL),
            ],
            setsid=True,
            setsigmask=[],
        )
    finally:
        os.close(high)


def _abandon(line: int) -> None:
    """Ask the keeper to end this line's command, and wait until it has."""
    import select  # noqa: PLC0415 - only after an interrupt
    import socket  # noqa: PLC0415 - a no-op run starts nothing

    with socket.socket(fileno=line) as end:
        try:
            end.send(b"\0")
            end.shutdown(socket.SHUT_WR)
        except OSError:  # the keeper is gone
            return
        waiting = select.poll()
        waiting.register(end, select.POLLIN)
        waiting.poll(_ABANDON * 1000)


def _reap(keeper: int) -> str:
    """Wait for the keeper's end, and say how it ended."""
    until = time.monotonic() + _ABANDON
    try:
        while not (ended := os.waitpid(keeper, os.WNOHANG))[0]:
            if time.monotonic() > until:
                os.kill(keeper, process_tree.KILL)
            time.sleep(0.002)
    except ChildProcessError:
        return "reaped elsewhere"
    code = os.waitstatus_to_exitcode(ended[1])
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
