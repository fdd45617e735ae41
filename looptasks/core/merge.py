"""A merge: one worktree's branch brought into the target, and what came of it."""

from collections.abc import Mapping
from typing import NamedTuple

_HUNKS = 6000
_LISTED = 20
_BEGUN = "The merge has begun in your worktree: the markers are in the files."
_END = """\
Resolve each `<<<<<<<` ... `>>>>>>>` so that both intentions hold, then run:

    git add -A
    git commit --no-edit"""
_KINDS = {
    "DD": "deleted on both sides, under two names",
    "AU": "added here",
    "UD": "changed here, deleted there",
    "UA": "added there",
    "DU": "deleted here, changed there",
    "AA": "added on both sides",
    "UU": "changed on both sides",
}


class CheckResult(NamedTuple):
    """What a check said about a tree."""

    ok: bool
    output: str = ""


class Merged(NamedTuple):
    """The target now has the work, in this commit."""

    commit: str


class Conflict(NamedTuple):
    """Both sides changed the same places; `text` is feedback for the agent."""

    files: tuple[str, ...]
    text: str


class CheckFailed(NamedTuple):
    """The sides fit together, but the merged tree does not pass."""

    output: str


class Dirty(NamedTuple):
    """The target's own tree has changes that the merge would overwrite."""

    files: tuple[str, ...]
    text: str


class NothingToMerge(NamedTuple):
    """The target has all of the work already."""


Outcome = Merged | Conflict | CheckFailed | Dirty | NothingToMerge


def merge_message(what: str, session: str, title: str = "") -> str:
    """Return a merge commit's message.

    >>> merge_message("bead ab-1", "auth", "Log in")
    'Merge bead ab-1: Log in (loop auth)'
    """
    said = " ".join(title.split())
    return f"Merge {what}{': ' if said else ''}{said} (loop {session})"


def conflict(
    branch: str,
    target: str,
    kinds: Mapping[str, str],
    hunks: str,
    *,
    begun: bool = False,
) -> Conflict:
    """Return a conflict, told so that an agent can resolve it in its worktree.

    Once the merge has `begun` there, its markers are in the files already.
    """
    files = tuple(sorted(kinds))
    lines = [f"`{branch}` and `{target}` changed the same places:", ""]
    lines += [f"- `{name}`: {_kind(kinds[name])}" for name in files[:_LISTED]]
    lines += [f"- and {len(files) - _LISTED} more"] if len(files) > _LISTED else []
    lines += ["", _capped(hunks), "", _BEGUN if begun else _begin(target), "", _END]
    return Conflict(files, "\n".join(lines))


def unresolved(branch: str, target: str, files: tuple[str, ...]) -> Conflict:
    """Return the conflict of a merge whose markers are still in the files."""
    lines = [f"The merge of `{target}` into `{branch}` is not finished:", ""]
    lines += [f"- `{name}` still has conflict markers" for name in files[:_LISTED]]
    lines += ["", _END]
    return Conflict(files, "\n".join(lines))


def dirty(target: str, tree: str, files: tuple[str, ...], said: str) -> Dirty:
    """Return the refusal that names the files in the way."""
    if not files:
        return Dirty(files, f"`{target}` cannot be moved on in `{tree}`: {said}")
    named = ", ".join(f"`{name}`" for name in files[:_LISTED])
    return Dirty(
        files,
        f"`{target}` is checked out in `{tree}`, where local changes are in the way: "
        f"{named}\n  fix: commit them, or put them away with `git stash`",
    )


def _kind(code: str) -> str:
    return _KINDS.get(code, "in conflict")


def _begin(target: str) -> str:
    return (
        f"To bring the newest `{target}` in, run in your worktree:\n\n"
        f"    git merge --no-edit {target}"
    )


def _capped(hunks: str) -> str:
    if len(hunks) <= _HUNKS:
        return hunks.strip("\n")
    return f"{hunks[:_HUNKS].rstrip()}\n[... {len(hunks) - _HUNKS} characters more]"
