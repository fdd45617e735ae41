"""An interruption: the first signal ends a run in order, more do not disturb that."""

import os
import signal
import threading
import time

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LAST = 5  # so many signals end it at once; the keeper still clears up
_CODE = 130
_LOOK = 0.2

_count = 0


def listen() -> None:
    """Make SIGTERM and SIGHUP end a run in the same orderly way as Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` ignores SIGHUP
            signal.signal(number, _interrupt)
    os.register_at_fork(after_in_child=_die_with_parent)


def _interrupt(number: int, frame: object) -> None:
    global _count  # noqa: PLW0603 - signals belong to the process
    del number, frame
    _count += 1
    if _count == 1:
        raise KeyboardInterrupt
    if _count >= _LAST:
        os._exit(_CODE)


def _die_with_parent() -> None:
    """Let a worker of `-P process` end when doit is killed, and its agents with it."""
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.kill(os.getpid(), signal.SIGKILL)
