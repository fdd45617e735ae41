"""An event file: an agent's stdout and stderr, read while they grow.

Memory does not grow with the files: a line that is too long is passed over.
"""

import os
from collections.abc import Iterator
from contextlib import suppress

from looptasks.core.reading import Dialect, Reading, complained, fed
from looptasks.effects.transcripts import opened

_CHUNK = 1 << 18
LONGEST_LINE = 16 << 20


class GrowingLines:
    """The whole lines that a file has gained since the last look."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._at = 0
        self._file = 0
        self._told = 0
        self._known = 0
        self._rest = bytearray()
        self._skipping = False

    def more(self) -> Iterator[bytes]:
        """Yield the lines that are whole by now."""
        with suppress(OSError, EOFError), opened(self._path) as file:
            self._recognise(os.fstat(file.fileno()))
            file.seek(self._at)
            while chunk := file.read(_CHUNK):
                self._at += len(chunk)
                for line in self._lines(chunk):
                    self._told += 1
                    if self._told > self._known:
                        yield line

    def _recognise(self, stat: os.stat_result) -> None:
        """Start again at a file that has taken the place of the one before.

        One that was cleaned, cut or packed tells the same lines again; one that has
        become shorter in its place was begun anew.
        """
        replaced = stat.st_ino != self._file
        shorter = stat.st_size < self._at and self._path_is_plain()
        if replaced or shorter:
            self._known = self._told if replaced else 0
            self._at = self._told = 0
            self._rest.clear()
        self._file = stat.st_ino

    def _path_is_plain(self) -> bool:
        return os.path.exists(self._path)

    def last(self) -> bytes:
        """Return what stands after the last newline."""
        return b"" if self._skipping else bytes(self._rest)

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        first, *others = chunk.split(b"\n")
        self._add(first)
        for other in others:
            if not self._skipping:
                yield bytes(self._rest)
            self._rest.clear()
            self._skipping = False
            self._add(other)

    def _add(self, part: bytes) -> None:
        self._skipping = self._skipping or len(self._rest) + len(part) > LONGEST_LINE
        if self._skipping:
            self._rest.clear()
        else:
            self._rest += part


class AttemptStreams:
    """Reads the streams of one attempt, again and again while it runs."""

    def __init__(self, folder: str, dialect: Dialect) -> None:
        self._dialect = dialect
        self._stdout = GrowingLines(f"{folder}/stdout")
        self._stderr = GrowingLines(f"{folder}/stderr")
        self._reading = Reading()

    def look(self) -> Reading:
        """Return what the attempt has told by now."""
        for line in self._stdout.more():
            self._reading = fed(self._reading, line, self._dialect)
        for line in self._stderr.more():
            self._complain(line)
        return self._reading

    def end(self) -> Reading:
        """Return all that it told; its last lines may lack their newline."""
        self.look()
        self._reading = fed(self._reading, self._stdout.last(), self._dialect)
        self._complain(self._stderr.last())
        return self._reading

    def _complain(self, line: bytes) -> None:
        words = line[:_CHUNK].decode("utf-8", "replace")
        self._reading = complained(self._reading, words, self._dialect)
