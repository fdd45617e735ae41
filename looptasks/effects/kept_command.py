"""A kept command: one program, from its start to the record of its end."""

import os
import time

from looptasks.effects import process_tree, result_file
from looptasks.effects.spawn import MARK, Request, blame, growth, spawn
from looptasks.effects.system_clock import stamp

inf = float("inf")  # math is a shared library to load
_GRACE = 2.0
_ORPHAN_GRACE = 1.0
_STRAY_GRACE = 0.5
_PATIENCE = 3.0


class KeptCommand:
    """A command that runs, is being ended, or has left strays behind."""

    def __init__(self, request: Request, mark: bytes) -> None:
        self.request = request
        self.mark = MARK + b"=" + mark
        self.pid = 0
        self.asked = ""
        self.next_look = 0.0
        self.give_up_at = inf
        self._status: int | None = None
        self._how = "exit"
        self._detail = ""
        self._kill_at = inf
        self._warned: set[int] = set()
        self._pace = 0.002
        self._would_die = False
        self._began = time.monotonic()
        self._started = self._finished = time.time()
        self._seconds = 0.0
        self._seen = (0, 0)
        self._deadline = self._began + _limit(request.timeout)
        self._quiet_until = self._began + _limit(request.idle)

    @property
    def alive(self) -> bool:
        """Whether its main process runs."""
        return self._status is None

    @property
    def ending(self) -> bool:
        """Whether it is being ended, or its strays are."""
        return self._kill_at < inf

    @property
    def due(self) -> float:
        """When it wants to be looked at again."""
        if self.ending:
            return self.next_look
        return min(self._deadline, self._quiet_until)

    def start(self) -> bool:
        """Start it; whether that worked."""
        try:
            self.pid = spawn(self.request, self.mark)
        except (OSError, ValueError) as error:
            self._how = "unstartable"
            self._detail = blame(self.request, error)
            return False
        return True

    def overdue(self, now: float) -> str:
        """Name the limit that it has passed, if any."""
        if now >= self._deadline:
            return "timeout"
        if now >= self._quiet_until and self._is_quiet(now):
            return "idle"
        return ""

    def end(self, how: str, now: float) -> None:
        """Begin to end it, or hurry when that has begun."""
        if not self.ending:
            self._how = how
            self._would_die = process_tree.dies_of_term(self.pid)
            self.next_look = now
        grace = _ORPHAN_GRACE if how == "orphaned" else _GRACE
        self._kill_by(now + grace)

    def ended(self, status: int, now: float) -> None:
        """Take note of its main process's own end."""
        self._status = status
        self._finished = time.time()
        self._seconds = now - self._began
        # TERM would have killed it, yet it exited: it was done just before.
        if self._would_die and os.WIFEXITED(status):
            self._how = "exit"
        self.next_look = now
        self._kill_by(now + _STRAY_GRACE if not self.ending else self._kill_at)

    def press(self, left: set[int], rows: process_tree.Table, now: float) -> None:
        """Ask what is left of it to end, or make it."""
        if now >= self._kill_at:
            process_tree.kill(left, rows)
        else:
            # Its main process first: else a child's death could make it exit.
            fresh = sorted(left - self._warned, key=lambda pid: pid != self.pid)
            process_tree.warn(fresh)
            self._warned |= left
        self._pace = min(self._pace * 2, 0.05)
        self.next_look = now + self._pace

    def give_up(self, left: set[int]) -> None:
        """Accept that something of it cannot be ended."""
        pids = " ".join(str(pid) for pid in sorted(left))
        self._detail = f"could not be ended: {pids}"
        if self.alive:
            self._finished = time.time()
            self._seconds = time.monotonic() - self._began

    def recorded(self) -> result_file.Outcome:
        """Put the outcome on disk, and return it."""
        outcome = self._outcome()
        if self.request.record:
            try:
                result_file.write(self.request.record, outcome)
            except OSError as error:
                why = f"the result could not be written: {error.strerror}"
                self._detail = f"{self._detail}; {why}" if self._detail else why
                return self._outcome()
        return outcome

    def _outcome(self) -> result_file.Outcome:
        code = number = None
        if self._status is not None:
            code = os.waitstatus_to_exitcode(self._status)
            code, number = (code, None) if code >= 0 else (None, -code)
        times = stamp(self._started), stamp(self._finished), self._seconds
        return (self._how, code, number, *times, self._detail)

    def _kill_by(self, moment: float) -> None:
        self._kill_at = min(self._kill_at, moment)
        self.give_up_at = self._kill_at + _PATIENCE

    def _is_quiet(self, now: float) -> bool:
        sizes, silence = growth(self.request)
        if sizes == self._seen:
            return True
        self._seen = sizes
        idle = _limit(self.request.idle)
        # The time of day may jump; a silence is never taken as longer than asked.
        self._quiet_until = now + max(idle - max(silence, 0.0), 0.01)
        return False


def _limit(seconds: float | None) -> float:
    return inf if seconds is None else seconds
