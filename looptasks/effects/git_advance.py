"""The advance of a branch: the branch and the tree that shows it move together.

Git killed between two files of a checkout leaves a tree that is neither old nor new.
So `.loop/advance.json` says what is under way, and the next run takes it back.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from looptasks.core.merge import Dirty, dirty
from looptasks.effects.files import make_folder, read_json, storing, write_whole
from looptasks.effects.git import LITERAL, Git
from looptasks.effects.git_lock import wait_for_ours

_CHUNK = 500


class Advance(NamedTuple):
    """A branch on its way from one commit to another; `tree` "" if none shows it."""

    branch: str
    tree: str
    old: str
    new: str


def tree_of(git: Git, branch: str) -> str:
    """Return the working tree in which a branch is checked out, "" if there is none."""
    path = ""
    for line in git.run("worktree", "list", "--porcelain").splitlines():
        key, _, value = line.partition(" ")
        if key == "worktree":
            path = value
        elif key == "branch" and value == f"refs/heads/{branch}":
            return path if os.path.isdir(path) else ""
    return ""


def in_the_way(advance: Advance) -> tuple[str, ...]:
    """Return the uncommitted files that an advance would overwrite."""
    if not advance.tree:
        return ()
    git = Git(advance.tree, closed=True)
    touched = _touched(git, advance)
    changed = set(git.names("diff", "--name-only", "--no-renames", "-z", advance.old))
    added = [name for name, how in touched.items() if how == "A"]
    there = {n for n in added if os.path.lexists(os.path.join(git.root, n))}
    return tuple(sorted(touched.keys() & changed | there))


def _touched(git: Git, advance: Advance) -> dict[str, str]:
    """Return the files that differ between the two commits, and git's letter how."""
    options = ("-r", "--name-status", "--no-renames", "-z")
    said = git.names("diff-tree", *options, advance.old, advance.new)
    return dict(zip(said[1::2], said[::2], strict=True))


def advanced(git: Git, home: str, advance: Advance) -> Dirty | None:
    """Move a branch and its tree on; what is in the way leaves both as they were."""
    if files := in_the_way(advance):
        return dirty(advance.branch, advance.tree, files, "")
    note = os.path.join(home, "advance.json")
    make_folder(home)
    write_whole(note, _line(advance), durable=True)
    refusal = _moved(git, advance)
    if refusal and advance.tree:  # git itself may have been killed, or the disk full
        _restore(Git(advance.tree, closed=True), advance)
    with storing(note):
        os.unlink(note)
    return refusal


def _line(advance: Advance) -> bytes:
    import json  # noqa: PLC0415 - only a merge needs it

    return json.dumps(advance._asdict()).encode()


def _moved(git: Git, advance: Advance) -> Dirty | None:
    if not advance.tree:
        name = f"refs/heads/{advance.branch}"
        moving = ("update-ref", "-m", "loop: merge", name, advance.new, advance.old)
        said = git.ask(*moving)
        return Dirty((), said.reason) if said.code else None
    tree = Git(advance.tree, closed=True)
    options = ("--quiet", "--ff-only", "--no-overwrite-ignore", "--no-stat")
    said = tree.ask("merge", *options, advance.new)
    return dirty(advance.branch, tree.root, (), said.reason) if said.code else None


def take_back(home: str) -> bool:
    """Undo what a killed advance left half done; tell whether there was one."""
    note = os.path.join(home, "advance.json")
    fields = read_json(note)
    if not isinstance(fields, dict):
        return False
    advance = Advance(**fields)
    if advance.tree and os.path.isdir(advance.tree):
        _restore(Git(advance.tree, closed=True), advance)
    with storing(note):
        os.unlink(note)
    return True


def _restore(git: Git, advance: Advance) -> None:
    """Restore what the advance wrote; a file that a person changed since stays."""
    wait_for_ours(advance.tree)
    git.ask("update-index", "-q", "--refresh")  # meets the lock of a dead git
    if git.tip(advance.branch) != advance.old or git.head() != advance.old:
        return
    touched = _touched(git, advance)
    # What was added goes first: a new folder may stand where an old file was.
    for undo, added in ((_unadd, True), (_put_back, False)):
        names = [n for n in in_the_way(advance) if (touched[n] == "A") is added]
        for some in _chunks([n for n in names if _is_ours(git, advance, n)]):
            undo(git, advance, some)


def _put_back(git: Git, advance: Advance, names: list[str]) -> None:
    git.run("checkout", "--quiet", advance.old, "--", *names, **LITERAL)


def _unadd(git: Git, _: Advance, names: list[str]) -> None:
    options = ("--quiet", "--cached", "--ignore-unmatch")
    git.run("rm", *options, "--", *names, **LITERAL)
    _unlink(git.root, names)


def _unlink(root: str, names: list[str]) -> None:
    for name in names:
        path = os.path.join(root, name)
        with suppress(OSError):
            os.unlink(path)
        with suppress(OSError):
            os.removedirs(os.path.dirname(path))


def _chunks(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), _CHUNK):
        yield names[start : start + _CHUNK]


def _is_ours(git: Git, advance: Advance, name: str) -> bool:
    """Tell whether a file is absent, old, new, or the beginning of the new one."""
    path = os.path.join(git.root, name)
    if os.path.islink(path) or not os.path.isfile(path):
        return not os.path.isdir(path) or os.path.islink(path)
    digest = git.run("hash-object", "--path", name, "--", path)
    known = (_blob(git, advance.old, name), _blob(git, advance.new, name))
    return digest in known or _begins(git, advance.new, name, path)


def _blob(git: Git, commit: str, name: str) -> str:
    said = git.ask("rev-parse", "--verify", "--quiet", f"{commit}:{name}")
    return said.out.strip()


def _begins(git: Git, commit: str, name: str, path: str) -> bool:
    said = git.ask("cat-file", "--filters", f"{commit}:{name}")
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return said.code == 0 and said.out.startswith(file.read())
