"""A transcript: what an attempt printed, kept; cut when too long, packed when done."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, BinaryIO, cast

from looptasks.effects.files import beside

ANSWER, PACKED = "answer.md", ".gz"
_WORTH = 1 << 20  # smaller ones stay as they are: easy to read matters more
_CHUNK = 1 << 20


def opened(path: str) -> IO[bytes]:
    """Open a transcript, packed or not."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        if not os.path.exists(path + PACKED):
            raise
    import gzip  # noqa: PLC0415 - only for what is finished

    return cast("IO[bytes]", gzip.open(path + PACKED, "rb"))


def unpacked(path: str) -> str:
    """Return the path of a transcript, which is not packed from now on."""
    if not os.path.exists(path) and os.path.exists(path + PACKED):
        aside = beside(path)
        with opened(path) as source, open(aside, "wb") as target:
            _pour(source, target)
        os.replace(aside, path)
    return path


def pack(stage: str) -> None:
    """Pack the large transcripts below a stage's folder.

    What the disk refuses stays as it is: the work is done either way.
    """
    for iteration in _folders(f"{stage}/iterations"):
        for attempt in _attempts(iteration):
            with suppress(OSError):
                if os.path.getsize(f"{attempt}/stdout") > _WORTH:
                    _pack(f"{attempt}/stdout")


def _pack(path: str) -> None:
    import gzip  # noqa: PLC0415 - only for what is finished

    aside = beside(path)
    try:
        with open(path, "rb") as source, gzip.open(aside, "wb", 6) as target:
            _pour(source, cast("IO[bytes]", target))
        os.replace(aside, path + PACKED)
    except OSError:
        with suppress(OSError):
            os.unlink(aside)
        raise
    os.unlink(path)


def cut_long(iteration: str, limit: Callable[[], int]) -> None:
    """Cut the long transcripts of an iteration whose answers are kept beside them."""
    for attempt in _attempts(iteration):
        if os.path.exists(f"{attempt}/{ANSWER}"):
            with suppress(OSError):
                cut(f"{attempt}/stdout", limit())


def cut(path: str, limit: int) -> bool:
    """Cut the middle out of a file that is longer than the limit; tell whether it was.

    Begin and end stay, in whole lines, with a line in between that says what is gone.
    """
    size, half = os.path.getsize(path), limit // 2
    if size <= limit:
        return False
    aside = beside(path)
    with open(path, "rb") as source, open(aside, "wb") as target:
        kept = _pour_lines(source, target, half)
        source.seek(size - half)
        source.readline()
        gone = source.tell() - kept
        target.write(b'{"type": "looptasks", "cut": "%d bytes"}\n' % gone)
        _pour(source, target)
    os.replace(aside, path)
    return True


def _pour_lines(source: BinaryIO, target: BinaryIO, most: int) -> int:
    """Copy the whole lines among the first bytes; return how long they are."""
    at = end = 0
    while at < most and (block := source.read(min(_CHUNK, most - at))):
        newline = block.rfind(b"\n")
        if newline >= 0:
            end = at + newline + 1
        target.write(block)
        at += len(block)
    target.truncate(end)
    target.seek(end)
    return end


def _pour(source: IO[bytes], target: IO[bytes]) -> None:
    while block := source.read(_CHUNK):
        target.write(block)


def _attempts(iteration: str) -> Iterator[str]:
    yield from _folders(f"{iteration}/attempts")
    yield from _folders(f"{iteration}/judge/attempts")


def _folders(path: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(path) as entries:
        yield from [entry.path for entry in entries if entry.name.isdecimal()]
