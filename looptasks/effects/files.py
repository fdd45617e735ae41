"""Files on disk: replaced whole or not at all, with refusals said in words."""

import errno
import json
import os
from contextlib import suppress
from threading import get_ident
from typing import Any

from looptasks.errors import StorageError

_FIXES = {
    errno.ENOSPC: ("the disk is full", "make room, then run the same command again"),
    errno.EDQUOT: ("the disk quota is used up", "make room, then run it again"),
    errno.EROFS: ("the file system is read-only", "use a folder that can be written"),
    errno.EACCES: ("permission denied", "make the folder writable for this user"),
    errno.EPERM: ("not permitted", "make the folder writable for this user"),
    errno.ENOTDIR: ("a file is in the way of a folder", "move that file away"),
    errno.EEXIST: ("a file is in the way of a folder", "move that file away"),
    errno.EISDIR: ("a folder is in the way of a file", "move that folder away"),
    errno.EFBIG: ("the file would grow past a limit", "raise the limit (ulimit -f)"),
    errno.EMFILE: ("too many open files", "raise the limit (ulimit -n)"),
}

_CHUNK = 1 << 16
# One key per line, and still the C encoder: `indent` takes twenty times as long.
_in_lines = json.JSONEncoder(separators=(",\n ", ": ")).encode


class storing:  # noqa: N801 - like `suppress`; a generator is four times as slow
    """Turn what the disk refuses into a message that names the path."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError):
            what, fix = _FIXES.get(error.errno or 0, (error.strerror or str(error), ""))
            where = os.fspath(error.filename or self._path)
            raise StorageError(what, where=str(where), fix=fix) from error


def write_whole(path: str, data: bytes, *, durable: bool = False) -> os.stat_result:
    """Replace a file by `data`, or leave it as it was; return how it was written."""
    temporary = beside(path)
    with storing(path):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
            stat = os.fstat(descriptor)
            os.close(descriptor)
            os.replace(temporary, path)
        except OSError:
            _close_and_remove(descriptor, temporary)
            raise
    return stat


def beside(path: str) -> str:
    """Return a name, ending in `.tmp`, that no other thread or process uses."""
    return f"{path}.{os.getpid()}-{get_ident()}.tmp"


def write_all(descriptor: int, data: bytes) -> None:
    """Write the data, all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _close_and_remove(descriptor: int, path: str) -> None:
    with suppress(OSError):
        os.close(descriptor)
    with suppress(OSError):
        os.unlink(path)


def write_json(path: str, value: Any, *, durable: bool = False) -> None:  # noqa: ANN401
    """Replace a JSON file whole."""
    write_whole(path, f"{_in_lines(value)}\n".encode(), durable=durable)


def sync(path: str) -> None:
    """Return when a file's content has reached the disk."""
    with storing(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_if_changed(path: str, data: bytes) -> bool:
    """Replace a file only if its content differs; tell whether it did."""
    if read_bytes(path) == data:
        return False
    write_whole(path, data)
    return True


def read_bytes(path: str) -> bytes | None:
    """Return a file's content, None when there is none."""
    # Plain descriptors: a file object costs four times as much.
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return read_all(descriptor)
    finally:
        os.close(descriptor)


def read_all(descriptor: int) -> bytes:
    """Return what is left to read."""
    pieces = [os.read(descriptor, _CHUNK)]
    while pieces[-1]:
        pieces.append(os.read(descriptor, _CHUNK))
    return b"".join(pieces)


def read_json(path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a JSON file's value, None when there is none or it is not JSON."""
    data = read_bytes(path)
    try:
        return None if data is None else json.loads(data)
    except ValueError:
        return None


def make_folder(path: str) -> None:
    """Make a folder and those above it."""
    with storing(path):
        try:
            os.mkdir(path)
        except FileNotFoundError:
            os.makedirs(path, exist_ok=True)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
