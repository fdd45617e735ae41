"""Declaration files: which loops and pipelines there are, and what they hold."""

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from looptasks.core.digest import of_bytes
from looptasks.errors import DeclarationError

MAX_BYTES = 1 << 20
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Available(NamedTuple):
    """A loop or pipeline that can be run; shipped ones have an absolute path."""

    kind: str
    name: str
    path: str
    shipped: bool

    @property
    def entry(self) -> str:
        """The task that runs it."""
        return f"{self.kind}:{self.name}"


class Snapshot:
    """Files as they were when first looked at; also knows which were not there."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.digests: dict[str, str | None] = {}
        self._texts: dict[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """Return a file's text, None when there is none; refuse what is no text."""
        if path not in self._texts:
            data = read(self.root, path)
            self.digests[path] = None if data is None else of_bytes(data)
            self._texts[path] = None if data is None else _decoded(data, path)
        return self._texts[path]

    def settle_on(self, found: Available) -> None:
        """Note the files that would come before the one that was found."""
        own = f"loops/{found.name}/loop.yaml"
        if found.kind == "pipeline":
            own = f"pipelines/{found.name}.yaml"
        if found.path != own:
            self.digests[own] = None
        if found.shipped and found.kind == "pipeline":
            self.digests[f"pipelines/{found.name}.yml"] = None


def unchanged(root: str, digests: dict[str, str | None]) -> bool:
    """Tell whether files have the digests that they had; None means no file."""
    for path, digest in digests.items():
        data = read(root, path)
        if digest != (None if data is None else of_bytes(data)):
            return False
    return True


def read(root: str, path: str) -> bytes | None:
    """Return a file's content, None when there is none; refuse what is no file."""
    try:
        # Opening a pipe that nobody writes to would wait for ever.
        descriptor = os.open(os.path.join(root, path), os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise _unreadable(path, why, "make it readable") from error
    try:
        return _whole(descriptor, path)
    except OSError as error:
        raise _unreadable(
            path, error.strerror or str(error), "look at the disk"
        ) from error
    finally:
        os.close(descriptor)


def _whole(descriptor: int, path: str) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _unreadable(path, "it is not a file", "put a file there")
    if status.st_size > MAX_BYTES:
        raise _unreadable(path, "it is larger than 1 MiB", "make it smaller")
    pieces = []
    while piece := os.read(descriptor, MAX_BYTES):
        pieces.append(piece)
    return b"".join(pieces)


def _decoded(data: bytes, path: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8 (byte {error.start + 1})"
        raise _unreadable(path, why, "save it as UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        why = f"it holds a NUL byte (line {line})"
        raise _unreadable(path, why, "save it as plain text")
    return text


def _unreadable(path: str, why: str, fix: str) -> DeclarationError:
    return DeclarationError(f"cannot be read: {why}", where=path, fix=fix)


def available(root: str) -> tuple[Available, ...]:
    """Return what can be run, the project's own before what is shipped."""
    found: dict[tuple[str, str], Available] = {}
    for shipped, kind, folder in _shelves(root):
        for name, path in sorted(_listed(kind, folder)):
            shown = path if shipped else os.path.relpath(path, root)
            found.setdefault((kind, name), Available(kind, name, shown, shipped))
    return tuple(found.values())


def unfinished(root: str) -> tuple[str, ...]:
    """Return the project's loop folders that lack a `loop.yaml`."""
    folder = os.path.join(root, "loops")
    names = (n for n in _names(folder) if os.path.isdir(os.path.join(folder, n)))
    ours = (n for n in names if n[0] not in "._")
    return tuple(
        sorted(n for n in ours if not os.path.lexists(f"{folder}/{n}/loop.yaml"))
    )


def _shelves(root: str) -> Iterator[tuple[bool, str, str]]:
    shipped = os.path.join(_PACKAGE, "shipped")
    if not os.path.isdir(shipped):  # a checkout, where they stand beside the package
        shipped = os.path.dirname(_PACKAGE)
    for is_shipped, top in ((False, root), (True, shipped)):
        yield is_shipped, "loop", os.path.join(top, "loops")
        yield is_shipped, "pipeline", os.path.join(top, "pipelines")


def _listed(kind: str, folder: str) -> Iterator[tuple[str, str]]:
    for name in _names(folder):
        if name.startswith("."):
            continue
        path = os.path.join(folder, name)
        if kind == "loop":
            if os.path.lexists(os.path.join(path, "loop.yaml")):
                yield name, os.path.join(path, "loop.yaml")
        elif name.endswith((".yaml", ".yml")):
            yield os.path.splitext(name)[0], path


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        why = error.strerror or str(error)
        raise _unreadable(folder, why, "make the folder readable") from error
