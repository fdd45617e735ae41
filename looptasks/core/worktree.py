"""A worktree: a checkout of its own for one piece of work, on a branch of its own."""

import re
from typing import NamedTuple

from looptasks.core.digest import of_bytes
from looptasks.core.taskname import bead_of
from looptasks.errors import UsageError

# These have one home, the main tree: no worktree commits or merges them.
HOMES = (".loop", ".beads")
_LONGEST = 200  # a file system takes 255, and both git and we append to it
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._+=-]{{0,{_LONGEST - 1}}}")
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


def result_of(session: str) -> str:
    """Return the branch on which a session's work comes together before it lands.

    >>> result_of("auth")
    'loop/auth/result'
    """
    return branch_of(session, "result")


def tree_name(stage: str) -> str:
    """Return the name of a stage's worktree: a bead's id, else one with a `+`.

    >>> tree_name("beads/ab-1"), tree_name("code/db-schema/tables"), tree_name("plan")
    ('ab-1', 'code+db-schema+tables', 'plan+')
    """
    if bead := bead_of(stage):
        return bead
    parts = [_without_odd_dots(part) for part in stage.split("/")]
    name = "+".join(parts if len(parts) > 1 else [*parts, ""])
    if len(name) <= _LONGEST:
        return name
    digest = of_bytes(stage.encode())[:12]
    return f"{name[: _LONGEST - len(digest) - 1]}={digest}"


def _without_odd_dots(part: str) -> str:
    return part.replace(".", "=") if _ODD.search(part) else part


def is_instance(tree: str) -> bool:
    """Tell whether a worktree of that name is an instance's, and no bead's."""
    return "+" in tree


def is_of(tree: str, stage: str) -> bool:
    """Tell whether a worktree of that name is the stage's, or of one below it.

    >>> is_of("code+db+tables", "code/db"), is_of("code+db2", "code/db")
    (True, False)
    """
    name = tree_name(stage).rstrip("+")
    return tree == name or tree.startswith(f"{name}+")


def checked_part(name: str, where: str) -> str:
    """Return a name that can be part of a branch's name, or say why it cannot."""
    if _NAME.fullmatch(name) and not _ODD.search(name):
        return name
    raise UsageError(
        f"`{name}` cannot be part of a branch's name",
        where=where,
        fix=f"use at most {_LONGEST} letters, digits, `.`, `_`, `-`, `+`, `=`; "
        "begin with no sign, and have no `..`, no `.` and no `.lock` at the end",
    )


def checked_branch(name: str) -> str:
    """Return a branch's name that git and a command line both take."""
    parts = name.split("/")
    if all(_NAME.fullmatch(part) and not _ODD.search(part) for part in parts):
        return name
    raise UsageError(
        f"`{name}` cannot be the branch to merge into",
        where="branch",
        fix="use a branch of letters, digits, `.`, `_`, `-`, `+`, `=` and `/`",
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
