"""An interruption: the first signal ends a run in order, more do not disturb that."""

import os
import signal
import threading
import time
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CALM = 8.0  # seconds in which the ending that a signal began is not disturbed
_LAST = 5  # so many signals end it at once; the keeper still clears up
_CODE = 130
_PATIENCE, _LOOK = 15.0, 0.2


class _Ear:
    """Hears the signals of one doit process and of the workers that it forks."""

    def __init__(self, place: Any) -> None:
        self._place = place
        self._count = 0
        self._heard = -_CALM
        self._ending = False

    def interrupt(self, number: int, frame: object) -> None:
        """Raise in doit itself, but not again while it is about to end."""
        del number, frame
        self._count += 1
        if self._count >= _LAST:
            os._exit(_CODE)
        now = time.monotonic()
        if now - self._heard > _CALM:
            self._heard = now
            raise KeyboardInterrupt

    def become_worker(self) -> None:
        """Listen as a worker of `-P process` does, right after the fork."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end_worker)
        watch = threading.Thread(target=_die_with, args=(os.getppid(),), daemon=True)
        watch.start()

    def _end_worker(self, number: int, frame: object) -> None:
        # Never raises: a worker may be in code that would swallow it.
        del number, frame
        if not self._ending:
            self._ending = True
            threading.Thread(target=self._end_in_order, daemon=True).start()

    def _end_in_order(self) -> None:
        from looptasks.plugin.processes import processes  # noqa: PLC0415

        self._place.interrupted.set()
        while True:
            processes().stop_all()
            if self._place.wait_until_idle(_LOOK):
                os._exit(_CODE)


def listen(place: Any) -> None:
    """Make SIGTERM and SIGHUP end a run in the same orderly way as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        return
    ear = _Ear(place)
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` ignores SIGHUP
            signal.signal(number, ear.interrupt)
    os.register_at_fork(after_in_child=ear.become_worker)


def deafen() -> None:
    """Let no signal disturb the last steps of a run that was interrupted."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_workers() -> None:
    """Wait for the end of all workers, asking again until they hear it."""
    from multiprocessing import active_children  # noqa: PLC0415 - doit has loaded it

    until = time.monotonic() + _PATIENCE
    while workers := active_children():
        for worker in workers:
            (worker.terminate if time.monotonic() < until else worker.kill)()
            worker.join(_LOOK)


def _die_with(parent: int) -> None:
    """End this worker when doit is gone; its keeper then ends its agents."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.kill(os.getpid(), signal.SIGKILL)
