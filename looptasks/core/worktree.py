"""A worktree: a checkout of its own for one piece of work, on a branch of its own."""

import re
from typing import NamedTuple

from looptasks.errors import UsageError

# These have one home, the main tree: no worktree commits or merges them.
HOMES = (".loop", ".beads")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ODD = re.compile(r"\.\.|\.\Z|\.lock\Z")


class Worktree(NamedTuple):
    """A checkout; `folder` is the project in it, `base` where its branch left."""

    name: str
    path: str
    branch: str
    base: str
    folder: str


class Swept(NamedTuple):
    """A dead run's worktree; `commit` holds what it left, `problem` why it stays."""

    name: str
    commit: str | None
    problem: str = ""


def branch_of(session: str, name: str) -> str:
    """Return the branch of a piece of work.

    >>> branch_of("auth", "ab-1")
    'loop/auth/ab-1'
    """
    return f"loop/{checked_part(session, 'session')}/{checked_part(name, 'worktree')}"


def checked_part(name: str, where: str) -> str:
    """Return a name that can be part of a branch's name, or say why it cannot."""
    if _NAME.fullmatch(name) and not _ODD.search(name):
        return name
    raise UsageError(
        f"`{name}` cannot be part of a branch's name",
        where=where,
        fix="use at most 64 letters, digits, `.`, `_`, `-`; begin with no sign, "
        "and have no `..`, no `.` and no `.lock` at the end",
    )


def checked_branch(name: str) -> str:
    """Return a branch's name that git and a command line both take."""
    parts = name.split("/")
    if all(_NAME.fullmatch(part) and not _ODD.search(part) for part in parts):
        return name
    raise UsageError(
        f"`{name}` cannot be the branch to merge into",
        where="branch",
        fix="use a branch of letters, digits, `.`, `_`, `-` and `/`",
    )


def homes(prefix: str) -> tuple[str, ...]:
    """Return the folders with one home, for a project at `prefix` of its repository.

    >>> homes("shop/")
    ('.loop', '.beads', 'shop/.loop', 'shop/.beads')
    """
    inner = tuple(prefix + home for home in HOMES) if prefix else ()
    return HOMES + inner


def is_home(path: str, prefix: str) -> bool:
    """Tell whether a path of the repository is in a folder with one home."""
    return any(path.rstrip("/") == h or path.startswith(f"{h}/") for h in homes(prefix))
