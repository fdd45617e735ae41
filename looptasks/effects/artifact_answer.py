"""An artifact's answer: what an agent wrote to its file, or at the end of its words.

It is the agent's text, and so data only: never run, never followed, read strictly.
"""

import errno
import os
import stat

from looptasks.core.artifact import Inspection
from looptasks.core.artifact_text import Problem, canonical, parsed
from looptasks.core.digest import of_bytes
from looptasks.core.fenced_block import last_block
from looptasks.effects.artifact_schema import Limits, limited
from looptasks.effects.files import read_all, write_whole
from looptasks.effects.scrub import clean, scrub

LARGEST = 4 << 20
_LARGE = f"it is larger than {LARGEST >> 20} MiB"


def inspected(
    root: str, kind: tuple[str, Limits], path: str, answer: str
) -> Inspection:
    """Check an iteration's artifact, and keep it in its one form at `path`."""
    text = _written(path)
    if text is None:
        text = _told(answer, path)
    value = text if isinstance(text, Problem) else parsed(clean(text))
    if isinstance(value, Problem):
        if os.path.isfile(path) and not os.path.islink(path):
            scrub(path)
        return Inspection(problems=(value,))
    from looptasks.core.artifact_markdown import markdown  # noqa: PLC0415 - as below
    from looptasks.effects.artifact_check import problems  # noqa: PLC0415 - 50 ms

    data = canonical(value).encode()
    write_whole(path, data, durable=True)
    found = tuple(problems(value, limited(root, *kind)))
    if found:
        return Inspection(problems=found)
    # For people, who may be asked about it before it is handed on.
    write_whole(path.removesuffix(".json") + ".md", markdown(value, kind[0]).encode())
    return Inspection(of_bytes(data))


def _written(path: str) -> str | Problem | None:
    """Return the text of the file, None when there is none."""
    try:
        # Opening a pipe that nobody writes to would wait for ever.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        linked = error.errno == errno.ELOOP
        why = "it is a link" if linked else error.strerror or str(error)
        return Problem("", f"`{path}` cannot be read: {why}")
    try:
        return _read(descriptor, path)
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: str) -> str | Problem:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Problem("", f"`{path}` cannot be read: it is not a file")
    if status.st_size > LARGEST:
        return Problem("", f"`{path}` cannot be used: {_LARGE}")
    return _decoded(read_all(descriptor))


def _told(answer: str, path: str) -> str | Problem:
    """Return the JSON that ends an answer."""
    with open(answer, "rb") as file:
        file.seek(max(os.fstat(file.fileno()).st_size - LARGEST, 0))
        end = file.read(LARGEST).decode("utf-8", "replace")
    block = last_block(end, "json")
    if block is not None:
        return block
    what = f"there is none: write it to `{path}`, or end the answer with one block"
    return Problem("", f"{what} fenced as ```json")


def _decoded(data: bytes) -> str | Problem:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Problem("", f"it is not UTF-8 (byte {error.start + 1})")
