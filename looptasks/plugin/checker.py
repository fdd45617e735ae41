"""A checker: how doit tells that a file's content is not what it was."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from doit.dependency import FileChangedChecker

# A file that is this young when it is hashed may be rewritten in place without its
# time stamp showing it: two seconds are the coarsest stamps of any file system.
_RACY_NS = 2_000_000_000
_CHUNK = 1 << 20


class FileState(NamedTuple):
    """What is remembered of a file; `racy` when its time stamp proves nothing."""

    mtime_ns: int
    size: int
    inode: int
    sha256: str
    racy: bool


class ContentChecker(FileChangedChecker):
    """Compares content, by its status where that proves enough, else by its hash."""

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns

    def check_modified(
        self, file_path: str, file_stat: os.stat_result, state: Sequence[Any]
    ) -> bool:
        """Tell whether the file's content differs from the remembered one."""
        known = _remembered(state)
        if known is None or known.size != file_stat.st_size:
            return True
        return not _proven(known, file_stat) and known.sha256 != _sha256(file_path)

    def get_state(
        self, dep: str, current_state: Sequence[Any] | None
    ) -> FileState | None:
        """Return what to remember of the file; None when that is known already."""
        stat = os.stat(dep)
        known = _remembered(current_state)
        if known is not None and _proven(known, stat):
            return None
        # Before hashing: a file that changes meanwhile must look racy, not settled.
        racy = stat.st_mtime_ns > self._now_ns() - _RACY_NS
        return FileState(
            stat.st_mtime_ns, stat.st_size, stat.st_ino, _sha256(dep), racy
        )


def _remembered(state: Sequence[Any] | None) -> FileState | None:
    """Return a state that came back from doit's memory, where JSON made it a list."""
    if state is None or len(state) != len(FileState._fields):
        return None
    return FileState(*state)


def _proven(known: FileState, stat: os.stat_result) -> bool:
    """Tell whether the file's status alone proves that it is the remembered one."""
    return not known.racy and known[:3] == (
        stat.st_mtime_ns,
        stat.st_size,
        stat.st_ino,
    )


def _sha256(path: str) -> str:
    # Plain descriptors: most files are small, and a file object costs twice the hash.
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        while chunk := os.read(descriptor, _CHUNK):
            digest.update(chunk)
    finally:
        os.close(descriptor)
    return digest.hexdigest()
