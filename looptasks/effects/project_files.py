"""The project's own files: which there are, and the digests of their contents."""

import errno
import glob
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator

from looptasks.core.digest import MISSING
from looptasks.errors import DeclarationError, StorageError

_CHUNK = 1 << 20
_NO_CONTENT = (errno.ENXIO, errno.ELOOP)  # a socket, a link to itself
_GLOB_SIGNS = frozenset("*?[")
_NOT_OURS = frozenset({".git", ".loop"})


def digest_of(path: str) -> str:
    """Return the digest of a file's content, however large it is."""
    try:
        # A pipe that somebody put there must not make anyone wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        if error.errno in _NO_CONTENT:
            return MISSING
        raise StorageError(
            f"cannot be read: {error.strerror}", where=path, fix="make it readable"
        ) from error
    try:
        return _digest_from(descriptor)
    finally:
        os.close(descriptor)


def _digest_from(descriptor: int) -> str:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return MISSING
    state = hashlib.sha256()
    while chunk := os.read(descriptor, _CHUNK):
        state.update(chunk)
    return state.hexdigest()


def digests(root: str, patterns: Iterable[str]) -> dict[str, str]:
    """Return path and digest of every file that the patterns mean.

    A pattern is a path, a folder (all files below it) or a glob; a plain path that
    does not exist is there as missing, so that its appearing is a change.
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        for path in matches(root, pattern):
            found[path] = _inside_digest(root, path)
    return found


def matches(root: str, pattern: str) -> list[str]:
    """Return the files that one pattern means, relative to the project."""
    inside(root, pattern)
    if _GLOB_SIGNS.isdisjoint(pattern):
        whole = os.path.join(root, pattern)
        folder = os.path.isdir(whole) and _within(root, os.path.realpath(whole))
        return sorted(_below(root, whole)) if folder else [pattern]
    names = glob.glob(pattern, root_dir=root, recursive=True)
    ours = (n for n in names if n.partition(os.sep)[0] not in _NOT_OURS)
    return sorted(n for n in ours if os.path.isfile(os.path.join(root, n)))


def _below(root: str, folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for name in files:
            yield os.path.relpath(os.path.join(parent, name), root)


def _inside_digest(root: str, path: str) -> str:
    whole = os.path.join(root, path)
    real = os.path.realpath(whole)
    if not _within(root, real):
        # What a link finds outside of the project is taken by its name, never read.
        return hashlib.sha256(os.fsencode(real)).hexdigest()
    return digest_of(whole)


def inside(root: str, path: str) -> str:
    """Return the whole path of something in the project; refuse what is not."""
    outside = os.path.isabs(path) or ".." in path.split("/")
    whole = os.path.join(root, path)
    if outside or not _within(root, os.path.realpath(os.path.dirname(whole))):
        raise DeclarationError(
            f"`{path}` leads out of the project",
            fix="use a path inside the project, without `..` and links to elsewhere",
        )
    return whole


def _within(root: str, path: str) -> bool:
    top = os.path.realpath(root)
    return path == top or path.startswith(top + os.sep)
