"""The run lock: `run.json` names the owner, `run.lock` guards the change of hands."""

import os
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Protocol

from looptasks.core.owner import HEARTBEAT, Owner, clock_time, owner_from, why_dead
from looptasks.effects.files import make_folder, read_json, storing, write_json
from looptasks.errors import SessionBusy, StorageError

_PATIENCE = 10.0


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> str:
        """Return the time as RFC 3339."""

    def epoch(self) -> float:
        """Return the time as seconds since 1970."""


class RunLock:
    """One runner per session.

    The owner rewrites `run.json` every 30 s. Reading it takes no lock, so that
    nobody ever waits; only taking and giving up ownership is guarded.
    """

    def __init__(self, folder: str, session: str, clock: Clock) -> None:
        self._folder = folder
        self._file = os.path.join(folder, "run.json")
        self._session = session
        self._clock = clock
        self._done = threading.Event()
        self._mine: Owner | None = None
        self._seen: tuple[int, int] | None = None

    def owner(self) -> Owner | None:
        """Return the owner that counts, None when nobody runs the session."""
        owner = self._named()
        return None if owner is None or self._why_dead(owner) else owner

    def _named(self) -> Owner | None:
        fields = read_json(self._file)
        return owner_from(fields) if isinstance(fields, dict) else None

    def _why_dead(self, owner: Owner) -> str | None:
        here = owner.host == socket.gethostname()
        return why_dead(
            owner,
            self._clock.epoch(),
            here=here,
            running=here and is_running(owner.pid),
            born=born(owner.pid) if here else "",
        )

    def is_alive(self, owner: Owner) -> bool:
        """Tell whether an owner's process is there, however long it was silent."""
        fresh = owner._replace(heartbeat_epoch=self._clock.epoch())
        return self._why_dead(fresh) is None

    def refuse_if_busy(self) -> None:
        """Raise when another process runs the session."""
        owner = self.owner()
        if owner is not None:
            raise busy(self._session, owner)

    def take(self, run: str, on_loss: Callable[[], None]) -> tuple[Owner, str] | None:
        """Become the owner; return whom it was taken from and why, if anybody."""
        make_folder(self._folder)
        with storing(self._folder), self._guard():
            before = self._named()
            # A worker process of the same run finds its own parent there.
            mine = before is not None and before.run == run
            why = None if before is None or mine else self._why_dead(before)
            if before is not None and why is None and not mine:
                raise busy(self._session, before)
            self._write(self._claim(run))
        threading.Thread(target=self._beat, args=(on_loss,), daemon=True).start()
        return None if before is None or why is None else (before, why)

    def _guard(self) -> AbstractContextManager[object]:
        from filelock import FileLock  # noqa: PLC0415 - 28 ms that a no-op saves

        return FileLock(os.path.join(self._folder, "run.lock"), timeout=_PATIENCE)

    def _write(self, owner: Owner) -> None:
        self._mine = owner
        write_json(self._file, owner._asdict())
        self._seen = _stamp(self._file)

    def _claim(self, run: str) -> Owner:
        now = self._clock.now()
        return Owner(
            session=self._session,
            run=run,
            pid=os.getpid(),
            host=socket.gethostname(),
            born=born(os.getpid()),
            started_at=now,
            heartbeat=now,
            heartbeat_epoch=self._clock.epoch(),
        )

    def _beat(self, on_loss: Callable[[], None]) -> None:
        while not self._done.wait(HEARTBEAT):
            # A full disk or a slow one must not end the heartbeat for good.
            with suppress(OSError, StorageError):
                if not self._beat_once():
                    on_loss()
                    return

    def _beat_once(self) -> bool:
        # Guarded, or it might overwrite a new owner that has come in between.
        with self._guard():
            if self._mine is None or not self.held():
                return False
            now, epoch = self._clock.now(), self._clock.epoch()
            self._write(self._mine._replace(heartbeat=now, heartbeat_epoch=epoch))
        return True

    def held(self) -> bool:
        """Tell whether this process is still the owner."""
        mine = self._mine
        if mine is None:
            return False
        if self._seen is not None and _stamp(self._file) == self._seen:
            return True
        named = self._named()
        return named is not None and named.run == mine.run

    def give_up(self) -> None:
        """Let the next runner have the session."""
        self._done.set()
        with storing(self._file), self._guard():
            if self.held():
                os.unlink(self._file)
            self._mine = None


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def lost(session: str) -> SessionBusy:
    """Return the error of a run whose session is another's by now."""
    return SessionBusy(
        f"session {session} was taken over by another run, so this one stops",
        fix=f"`doit status session={session}` shows who runs it",
    )


def busy(session: str, owner: Owner) -> SessionBusy:
    """Return the refusal that names the owner."""
    since = clock_time(owner.started_at)
    return SessionBusy(
        f"session {session} is already running (pid {owner.pid} since {since})",
        fix=f"wait for it, or end it with `doit stop session={session}`, "
        "or take over with `force=yes`",
    )


def is_running(pid: int) -> bool:
    """Tell whether a process with that id is there, and more than a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _state(pid) != "Z"


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else "?"


def born(pid: int) -> str:
    """Return when a process started, in the kernel's own terms; "" if untold."""
    fields = _stat(pid)
    return fields[19] if fields else ""


def _stat(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
