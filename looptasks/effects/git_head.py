"""Git's HEAD, read from its files: an iteration cannot afford to start git twice."""

import os
from functools import cache

from looptasks.effects.files import read_bytes


def head_commit(root: str) -> str | None:
    """Return the commit that is checked out in `root`; None outside of git."""
    folder = _git_folder(root)
    head = _text(os.path.join(folder, "HEAD")) if folder else None
    if folder is None or head is None:
        return None
    if not head.startswith("ref: "):
        return head or None
    name = head.removeprefix("ref: ")
    shared = _text(os.path.join(folder, "commondir"))
    places = [folder, os.path.join(folder, shared)] if shared else [folder]
    for place in places:
        if commit := _text(os.path.join(place, name)):
            return commit
    return _packed(places[-1], name)


def _git_folder(root: str) -> str | None:
    for path in _candidates(os.path.abspath(root)):
        if os.path.exists(path):
            return path if os.path.isdir(path) else _linked(path)
    return None


@cache
def _candidates(folder: str) -> tuple[str, ...]:
    above = os.path.dirname(folder)
    here = os.path.join(folder, ".git")
    return (here,) if above == folder else (here, *_candidates(above))


def _linked(path: str) -> str | None:
    head, _, target = (_text(path) or "").partition("gitdir: ")
    if head or not target:
        return None
    return os.path.join(os.path.dirname(path), target)


def _packed(folder: str, name: str) -> str | None:
    for line in (_text(os.path.join(folder, "packed-refs")) or "").splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return commit
    return None


def _text(path: str) -> str | None:
    try:
        data = read_bytes(path)
    except OSError:
        return None
    return None if data is None else data.decode("utf-8", "replace").strip()
