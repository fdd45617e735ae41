"""A folder tree: the files below a folder, never followed out of it by a link."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from looptasks.effects.files import storing
from looptasks.errors import LoopError

PRIVATE = frozenset({".git", ".loop"})
State = tuple[int, int, int]
_CHUNK = 1 << 20


def states(folder: str, leave_out: str = "") -> dict[str, State]:
    """Return path and state of each plain file; `.git` and `.loop` stay out."""
    top = os.path.realpath(folder)
    skipped = os.path.realpath(leave_out) if leave_out else ""
    found = {}
    for entry in _walk(top, skipped):
        with suppress(FileNotFoundError):
            info = entry.stat(follow_symlinks=False)
            state = (info.st_mtime_ns, info.st_size, info.st_ino)
            found[os.path.relpath(entry.path, top)] = state
    return found


def plain_files(folder: str) -> list[str]:
    """Return the paths below a folder that holds plain files only, sorted."""
    if os.path.islink(folder):
        raise _refused(folder, "is a link")
    found, todo = [], [folder]
    while todo:
        with storing(folder), os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    found.append(os.path.relpath(entry.path, folder))
                else:
                    raise _refused(entry.path, "is a link or no plain file")
    return sorted(found)


def place(folder: str, relative: str) -> str:
    """Return where `relative` is in the folder, refusing every way out of it."""
    parts = relative.split("/")
    if not relative or os.path.isabs(relative) or ".." in parts or "\0" in relative:
        raise _refused(relative, "is not a path inside the folder")
    if PRIVATE.intersection(part.casefold() for part in parts):
        raise _refused(relative, "belongs to git or to looptasks")
    inner = os.path.normpath(os.path.join(os.path.realpath(folder), relative))
    if os.path.realpath(os.path.dirname(inner)) != os.path.dirname(inner):
        raise _refused(relative, "passes through a link")
    return inner


def copy_file(source: str, target: str) -> None:
    """Copy a plain file whole, making the folders above it."""
    aside = os.path.join(
        os.path.dirname(target), f".{os.path.basename(target)[:200]}.part"
    )
    with storing(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            mode = os.fstat(reader).st_mode
            if not stat.S_ISREG(mode):
                raise _refused(source, "is no plain file")
            with suppress(FileNotFoundError):
                os.unlink(aside)
            _pour(reader, aside, mode)
        finally:
            os.close(reader)
        os.replace(aside, target)


def remove_file(target: str) -> None:
    """Remove a file, if it is there."""
    with storing(target), suppress(FileNotFoundError):
        os.unlink(target)


def _pour(reader: int, path: str, mode: int) -> None:
    executable = 0o777 if mode & stat.S_IXUSR else 0o666
    writer = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, executable)
    try:
        while block := memoryview(os.read(reader, _CHUNK)):
            while block:
                block = block[os.write(writer, block) :]
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(writer)


def _walk(top: str, skipped: str) -> Iterator["os.DirEntry[str]"]:
    todo = [top]
    while todo:
        with suppress(FileNotFoundError, PermissionError), os.scandir(todo.pop()) as it:
            for entry in it:
                if entry.name in PRIVATE or entry.path == skipped:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry


def _refused(path: str, why: str) -> LoopError:
    return LoopError(
        f"`{path}` {why}, so it is not touched",
        fix="take it out of the recording, or record anew with `record=FOLDER`",
    )
