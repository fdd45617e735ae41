"""The lock that writers of beads hold: a kernel lock, gone with its process.

The same one as filelock's `FileLock` on Unix, whose import would take longer than the
change that it guards.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from looptasks.effects.files import storing


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock; wait for it as long as it takes."""
    with storing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with storing(path):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
