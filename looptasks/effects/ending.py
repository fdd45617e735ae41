"""Ending another runner: politely first, then for good."""

import os
import signal
import time

from looptasks.core.owner import Owner
from looptasks.effects.filelock_owner import born, is_running
from looptasks.errors import SessionBusy

_GRACE, _STEP = 10.0, 0.05


def end_owner(owner: Owner) -> None:
    """End a live owner: TERM, wait, KILL. Only the very process that is named."""
    if owner.host != os.uname().nodename:
        raise SessionBusy(
            f"the session's owner runs on another machine, `{owner.host}`",
            fix=f"end process {owner.pid} there",
        )
    for sign, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
        if not _same(owner):
            return
        os.kill(owner.pid, sign)
        _wait(owner, patience)


def interrupt(owner: Owner) -> bool:
    """Ask a runner on this machine to stop at once; tell whether it was there."""
    if owner.host != os.uname().nodename or not _same(owner):
        return False
    os.kill(owner.pid, signal.SIGTERM)
    return True


def _same(owner: Owner) -> bool:
    if not is_running(owner.pid):
        return False
    return not owner.born or born(owner.pid) == owner.born


def _wait(owner: Owner, patience: float) -> None:
    until = time.monotonic() + patience
    while _same(owner) and time.monotonic() < until:
        time.sleep(_STEP)
