"""Git's HEAD, read from its files: an iteration cannot afford to start git twice."""

import os


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
    current = os.path.abspath(root)
    while True:
        path = os.path.join(current, ".git")
        if os.path.isdir(path):
            return path
        link = _text(path)
        if link and link.startswith("gitdir: "):
            return os.path.join(current, link.removeprefix("gitdir: "))
        if current == os.path.dirname(current):
            return None
        current = os.path.dirname(current)


def _packed(folder: str, name: str) -> str | None:
    for line in (_text(os.path.join(folder, "packed-refs")) or "").splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return commit
    return None


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None
