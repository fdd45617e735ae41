"""A keeper: the process that starts, watches and ends commands for a runner.

It outlives its runner by just so long as it takes to record how the commands ended
and to leave none of them running. The runner hands it lines (sockets) over a control
socket; each line carries one command at a time, and whatever is said on it while the
command runs, or its end of file, asks to end the command.
"""

# The public module doubles the time to start (enum, selectors).
import _socket
import os
import select
import sys
import time

from looptasks.effects import child_watch, frame, process_tree
from looptasks.effects.kept_command import KeptCommand, inf
from looptasks.effects.line import Line
from looptasks.effects.spawn import Request

_CLOEXEC = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
_LAST_SWEEP = 1.0


class Keeper:
    """Serves one runner until it is gone."""

    def __init__(self, control: int, runner: int, mark: bytes) -> None:
        self._control = _socket.socket(fileno=control)
        self._runner = runner
        self._mark = mark
        self._count = 0
        self._gone = False
        self._lines: dict[int, Line] = {}
        self._mains: dict[int, KeptCommand] = {}
        self._kept: dict[KeptCommand, Line] = {}
        self._stops: list[tuple[Line, set[KeptCommand]]] = []
        self._hopeless: set[int] = set()
        self._adopts = process_tree.adopt_orphans()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._wakeup = child_watch.wakeup_pipe()
        self._poll.register(self._wakeup, select.POLLIN)
        self._pidfd = child_watch.handle(runner)
        if self._pidfd >= 0:
            self._poll.register(self._pidfd, select.POLLIN)

    def serve(self) -> None:
        """Keep commands until the runner is gone and nothing is left of them."""
        while self._kept or not self._gone:
            for fd, _ in self._poll.poll(self._patience()):
                self._hear(fd)
            self._gone = self._gone or os.getppid() != self._runner
            # What has ended by now ended by itself, whatever else came meanwhile.
            self._reap()
            self._advance(time.monotonic())
        self._clear()

    def _patience(self) -> int | None:
        due = min((kept.due for kept in self._kept), default=inf)
        if self._pidfd < 0:
            due = min(due, time.monotonic() + 1.0)
        if due == inf:
            return None
        return max(int((due - time.monotonic()) * 1000) + 1, 0)

    def _hear(self, fd: int) -> None:
        if fd == self._wakeup:
            os.read(fd, 4096)
        elif fd == self._pidfd:
            self._lose_runner(fd)
        elif line := self._lines.get(fd):
            self._listen(line)
        else:
            self._accept()

    def _lose_runner(self, fd: int) -> None:
        self._gone = True
        self._poll.unregister(fd)

    def _accept(self) -> None:
        # One byte at a time, so that each brings its own line.
        size = _socket.CMSG_SPACE(4)
        try:
            data, extra, _, _ = self._control.recvmsg(1, size, _CLOEXEC)
        except OSError:
            data, extra = b"", []
        if not data:
            self._lose_runner(self._control.fileno())
        for _, kind, passed in extra:
            if kind == _socket.SCM_RIGHTS:
                fd = int.from_bytes(passed[:4], sys.byteorder)
                os.set_inheritable(fd, False)  # noqa: FBT003 - its only argument
                self._lines[fd] = Line(fd)
                self._poll.register(fd, select.POLLIN)

    def _listen(self, line: Line) -> None:
        try:
            data = os.read(line.fd, 65536)
        except OSError:
            data = b""
        if not data:
            self._hang_up(line)
        elif line.kept:
            line.kept.asked = "interrupted"  # nothing else is said in mid-command
        else:
            line.buffer += data
            self._obey(line, frame.unpacked(line.buffer))

    def _obey(self, line: Line, message: object | None) -> None:
        if isinstance(message, dict):
            self._start(line, Request(message))
        elif isinstance(message, list):
            self._stop(line, message)

    def _hang_up(self, line: Line) -> None:
        self._poll.unregister(line.fd)
        del self._lines[line.fd]
        line.open = False
        self._stops = [stop for stop in self._stops if stop[0] is not line]
        if line.kept:
            line.kept.asked = line.kept.asked or "orphaned"
        else:
            os.close(line.fd)

    def _start(self, line: Line, request: Request) -> None:
        if os.getppid() != self._runner:
            return  # it died while asking: nobody wants the answer
        self._count += 1
        kept = KeptCommand(request, self._mark + b"/%d" % self._count)
        if kept.start():
            self._mains[kept.pid] = kept
            self._kept[kept] = line
            line.kept = kept
        else:
            line.reply(kept.recorded())

    def _stop(self, line: Line, folders: list[bytes]) -> None:
        """End the commands whose record is below one of the folders."""
        named = {k for k in self._kept if k.request.record.startswith(tuple(folders))}
        for kept in named:
            kept.asked = kept.asked or "interrupted"
        self._stops.append((line, named))

    def _reap(self) -> None:
        while found := child_watch.ended(self._mains):
            pid, status = found
            if kept := self._mains.pop(pid, None):
                kept.ended(status, time.monotonic())
            else:
                self._lost_stray(pid)

    def _lost_stray(self, pid: int) -> None:
        self._hopeless.discard(pid)
        for kept in self._kept:
            kept.next_look = 0.0

    def _advance(self, now: float) -> None:
        for kept in list(self._kept):
            how = "orphaned" if self._gone else kept.asked
            if kept.alive and not kept.ending:
                how = how or kept.overdue(now)
            if how:
                kept.end(how, now)
            if kept.ending and now >= kept.next_look:
                self._sweep(kept, now)
        for stop in self._stops[:]:
            if not stop[1] & self._kept.keys():
                self._stops.remove(stop)
                stop[0].reply(True)  # noqa: FBT003 - the message itself

    def _sweep(self, kept: KeptCommand, now: float) -> None:
        strays = self._strays(kept)
        if not strays and not kept.alive:
            self._finish(kept)
            return
        rows = process_tree.table()
        left = process_tree.below(strays | ({kept.pid} if kept.alive else set()), rows)
        if now >= kept.give_up_at:
            kept.give_up(left)
            self._hopeless |= left
            self._finish(kept)
        elif left or kept.alive:
            kept.press(left, rows, now)
        else:
            self._finish(kept)

    def _strays(self, kept: KeptCommand) -> set[int]:
        """Return the roots of what the command left behind in other sessions."""
        if not self._adopts:
            return process_tree.marked(kept.mark) - self._hopeless
        strays = process_tree.children() - self._mains.keys() - self._hopeless
        if len(self._kept) == 1:
            return strays  # whose else should they be, marked or not
        return process_tree.carriers(strays, kept.mark) if strays else strays

    def _finish(self, kept: KeptCommand) -> None:
        if kept.alive:
            del self._mains[kept.pid]
        line = self._kept.pop(kept)
        line.kept = None
        line.reply(kept.recorded())
        if not line.open:
            os.close(line.fd)

    def _clear(self) -> None:
        until = time.monotonic() + _LAST_SWEEP
        while self._adopts and time.monotonic() < until:
            self._reap()
            rows = process_tree.table()
            left = process_tree.below(process_tree.children(), rows) - self._hopeless
            if not left:
                return
            process_tree.kill(left, rows)
            time.sleep(0.005)


def main(argv: list[str]) -> None:
    """Serve the runner `PID`, whose control socket is `FD`, marking with `MARK`."""
    control, runner, mark = int(argv[0]), int(argv[1]), os.fsencode(argv[2])
    os.set_inheritable(control, False)  # noqa: FBT003 - its only argument
    # Whoever started the runner may wait for the end of some pipe that it passed on.
    os.closerange(control + 1, min(os.sysconf("SC_OPEN_MAX"), 65536))
    Keeper(control, runner, mark).serve()
