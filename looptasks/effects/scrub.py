"""Scrubbing: what looks like a secret is taken out of files that we keep."""

import os
from collections.abc import Iterator
from functools import cache

from looptasks.core.secret import masked, named_secrets
from looptasks.effects.files import beside, storing

_CHUNK = 1 << 20


@cache
def known_secrets() -> tuple[str, ...]:
    """Return the values in our own environment that are named like secrets."""
    return named_secrets(os.environ)


def clean(text: str) -> str:
    """Return a text without secrets."""
    return masked(text, known_secrets())


def scrub(path: str, start: int = 0) -> bool:
    """Take secrets out of a file, of any size; tell whether there were any.

    Only what stands behind `start` is looked at, but then all of it is cleaned.
    """
    try:
        if os.path.getsize(path) <= start:
            return False
        texts = _texts(path, start)
        found = any(text and clean(text) != text for text in texts)
    except FileNotFoundError:
        return False
    if found:
        _rewrite(path)
    return found


def _rewrite(path: str) -> None:
    aside = beside(path)
    with storing(path):
        with open(aside, "wb") as file:
            for text in _texts(path, 0):
                file.write(clean(text).encode("utf-8", "surrogateescape"))
        os.replace(aside, path)


def _texts(path: str, start: int) -> Iterator[str]:
    """Yield a file in pieces of whole lines; one that never ends is cut somewhere."""
    # Unbuffered: three files of every attempt are read here, most of them small.
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        rest = b""
        while block := file.read(_CHUNK):
            head, newline, rest = (rest + block).rpartition(b"\n")
            if not newline and len(rest) > _CHUNK:
                head, rest = rest, b""
            yield (head + newline).decode("utf-8", "surrogateescape")
        yield rest.decode("utf-8", "surrogateescape")
