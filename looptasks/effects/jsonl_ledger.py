"""The ledger as JSON lines: appended, never rewritten, the truth of a session."""

import errno
import gc
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from looptasks.core.record import SessionRecord
from looptasks.effects.files import storing

_LONG = 1 << 16
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class JsonlLedger:
    """A session's ledger, and the record that its lines fold into.

    Any process may append: a line is one write to a file opened for appending, which
    does not tear. The record is brought up to date by reading what is new.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.record = SessionRecord()
        self._read = 0
        self._writer: int | None = None
        self._lock = threading.Lock()
        self._still = 0

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let this thread, and no other, look for no new lines for a while."""
        self.refresh()
        self._still = threading.get_ident()
        try:
            yield
        finally:
            self._still = 0

    def refresh(self) -> SessionRecord:
        """Fold in the lines that were added since the last look."""
        if self._still == threading.get_ident():
            return self.record
        with self._lock:
            data = self._tail()
            whole = data.rfind(b"\n") + 1
            self._read += whole
            if whole > _LONG:
                with _without_collecting():
                    self.record.apply_all(_events(data[:whole]))
            elif whole:
                self.record.apply_all(_events(data[:whole]))
        return self.record

    def _tail(self) -> bytes:
        if self._writer is not None:
            return _read_from(self._writer, self._read)
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return b""
        try:
            return _read_from(descriptor, self._read)
        finally:
            os.close(descriptor)

    def append(self, event: dict[str, Any], *, durable: bool = False) -> None:
        """Add one event; a durable one has reached the disk on return."""
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        with self._lock, storing(self.path):
            try:
                self._write(line, durable=durable)
            except OSError:
                # Opened anew, a torn line is seen, and ended before the next one.
                self._let_go()
                raise

    def _write(self, line: bytes, *, durable: bool) -> None:
        descriptor = self._opened()
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, "No space left on device", self.path)
        if durable:
            _sync(descriptor)

    def _opened(self) -> int:
        if self._writer is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._writer = os.open(self.path, flags, 0o666)
            size = os.fstat(self._writer).st_size
            if size and os.pread(self._writer, 1, size - 1) != b"\n":
                os.write(self._writer, b"\n")
        return self._writer

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._writer is not None:
            os.close(self._writer)
            self._writer = None


def _read_from(descriptor: int, start: int) -> bytes:
    pieces, end = [], os.fstat(descriptor).st_size
    while start < end and (piece := os.pread(descriptor, end - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep Python from searching a long ledger for garbage: now, and later."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def _events(data: bytes) -> list[dict[str, Any]]:
    lines = [line for line in data.split(b"\n") if line]
    try:
        # All at once is twice as fast, and right unless some line is torn.
        events = json.loads(b"[%b]" % b",".join(lines))
    except ValueError:
        events = []
    if len(events) != len(lines):
        events = [_event(line) for line in lines]
    return [event for event in events if isinstance(event, dict)]


def _event(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None
