"""A declaration cache: checked declarations as JSON, so that a second load parses none.

It is only a shortcut: whatever is wrong with it, the declarations are read again.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from looptasks import __version__
from looptasks.core.digest import of_bytes, of_value
from looptasks.effects.declaration_files import unchanged
from looptasks.effects.files import (
    make_folder,
    read_bytes,
    write_if_changed,
    write_whole,
)
from looptasks.errors import LoopError

FOLDER = os.path.join(".loop", ".cache")
_SEAL = 64


def recall(root: str, entry: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """Return what was remembered of an entry, if none of its files has changed."""
    with suppress(OSError, ValueError, LoopError):
        data = read_bytes(_path(root, entry, given)) or b""
        seal, body = data[:_SEAL], data[_SEAL + 1 :]
        if seal.decode() != of_bytes(body):
            return None
        record: dict[str, Any] = json.loads(body)
        if record["version"] == __version__ and unchanged(root, record["files"]):
            return record
    return None


def remember(
    root: str, entry: str, given: dict[str, Any], record: dict[str, Any]
) -> None:
    """Keep a record for next time, if the disk lets us and no secret is in it."""
    from looptasks.effects.scrub import clean  # noqa: PLC0415 - not on the fast path

    texts = [text for stage in record.get("stages", ()) for text in _texts(stage)]
    if any(clean(text) != text for text in texts):
        return
    body = json.dumps({**record, "version": __version__}, separators=(",", ":"))
    data = body.encode()
    with suppress(OSError, ValueError, LoopError):
        folder = os.path.join(root, FOLDER)
        make_folder(folder)
        write_if_changed(os.path.join(folder, ".gitignore"), b"*\n")
        sealed = of_bytes(data).encode() + b"\n" + data
        write_whole(_path(root, entry, given), sealed)


def _texts(stage: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a stage's record holds of prompts."""
    settings = stage.get("settings", {})
    yield str(stage.get("prompt", ""))
    yield str(settings.get("judge", ""))
    yield str(settings.get("passes", ""))


def _path(root: str, entry: str, given: dict[str, Any]) -> str:
    kind, _, name = entry.partition(":")
    if os.sep in name:
        raise ValueError(name)
    suffix = f"-{of_value(given)[:16]}" if given else ""
    return os.path.join(root, FOLDER, f"{kind}-{name}{suffix}.sealed")
