"""Scrubbing: what looks like a secret is taken out of files that we keep."""

import os
from collections.abc import Iterator, Mapping
from functools import cache

from looptasks.core.secret import masked, named_secrets
from looptasks.effects.files import beside, storing

_CHUNK = 1 << 20
_UNSETTLED = ("prompt.md", "output.md", "validation.log")
PRINTED = ("stdout", "stderr", "usage.json")
_told: dict[str, None] = {}


def known_secrets() -> tuple[str, ...]:
    """Return the values that are named like secrets, in our environment or settings."""
    return (*_own(), *_told)


@cache
def _own() -> tuple[str, ...]:
    return named_secrets(os.environ)


def learn_secrets(variables: Mapping[str, str]) -> None:
    """Know from now on the secrets among the variables that an agent is given."""
    _told.update(dict.fromkeys(named_secrets(variables)))


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


def scrub_unsettled(session: str) -> None:
    """Take secrets out of what a dead run left in the middle of its iterations."""
    for parent, folders, _ in os.walk(session):
        folders[:] = [name for name in folders if name != "worktrees"]
        if os.path.basename(parent) == "iterations":
            left = [f"{parent}/{name}" for name in folders if _is_left(parent, name)]
            folders.clear()
            for iteration in left:
                _scrub_iteration(iteration)
            if left:
                scrub(f"{os.path.dirname(parent)}/progress.md")


def _is_left(parent: str, iteration: str) -> bool:
    # The last file that is written of an iteration.
    return not os.path.exists(f"{parent}/{iteration}/state.json")


def _scrub_iteration(folder: str) -> None:
    for name in _UNSETTLED:
        scrub(f"{folder}/{name}")
    for attempt, _, _ in os.walk(f"{folder}/attempts"):
        for name in PRINTED:
            scrub(f"{attempt}/{name}")


def _rewrite(path: str) -> None:
    from looptasks.core.secret_lines import masked_lines  # noqa: PLC0415 - seldom

    aside = beside(path)
    with storing(path):
        with open(aside, "wb") as file:
            for text in _texts(path, 0):
                hidden = masked_lines(text, known_secrets())
                file.write(hidden.encode("utf-8", "surrogateescape"))
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
