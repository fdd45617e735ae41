"""An owner: the process that runs a session, told by `run.json`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

HEARTBEAT, STALE = 30.0, 90.0


class Owner(NamedTuple):
    """Who runs a session. `born` tells a process from a later one of the same id."""

    session: str
    run: str
    pid: int
    host: str
    born: str
    started_at: str
    heartbeat: str
    heartbeat_epoch: float


def owner_from(fields: Mapping[str, Any]) -> Owner | None:
    """Return the owner that `run.json` names; None when it names nobody."""
    try:
        return Owner(
            session=str(fields["session"]),
            run=str(fields.get("run", "")),
            pid=int(fields["pid"]),
            host=str(fields["host"]),
            born=str(fields.get("born", "")),
            started_at=str(fields["started_at"]),
            heartbeat=str(fields.get("heartbeat", "")),
            heartbeat_epoch=float(fields["heartbeat_epoch"]),
        )
    except (KeyError, TypeError, ValueError):
        return None


def why_dead(
    owner: Owner, now: float, *, here: bool, running: bool, born: str
) -> str | None:
    """Say why an owner no longer counts; None while it does.

    `here`: the owner is on this machine; `running`, `born`: the process with its id.
    """
    if here and not running:
        return f"process {owner.pid} is gone"
    if here and owner.born and born and owner.born != born:
        return f"process {owner.pid} is another one by now"
    if now - owner.heartbeat_epoch > STALE:
        silent = now - owner.heartbeat_epoch
        return f"process {owner.pid} gave no sign of life for {silent:.0f} s"
    return None


def clock_time(stamp: str) -> str:
    """Return the hour and minute of a time stamp.

    >>> clock_time("2026-03-01T10:05:00.000Z")
    '10:05'
    """
    return stamp[11:16]
