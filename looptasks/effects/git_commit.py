"""A commit of a worktree: all that its agent left, on the worktree's own branch."""

import os
import re
from collections.abc import Iterable

from looptasks.core.worktree import Worktree, homes, is_home
from looptasks.effects.git import LITERAL, Git
from looptasks.errors import LoopError

_MARKED = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
_REBASES = ("rebase-merge", "rebase-apply")
_LINK = "160000"


class UnresolvedMerge(LoopError):  # noqa: N818 - it is a state of the files
    """Files of a merge still have conflict markers."""

    def __init__(self, files: tuple[str, ...], where: str) -> None:
        named = ", ".join(f"`{name}`" for name in files)
        fix = "resolve each `<<<<<<<`, then `git add -A` and `git commit --no-edit`"
        super().__init__(f"there are conflict markers in {named}", where=where, fix=fix)
        self.files = files

    def __reduce__(self) -> tuple[object, ...]:
        return (UnresolvedMerge, (self.files, self.where))


def inside(worktree: Worktree) -> Git:
    """Return git in a worktree's project folder, sure not to be the main tree's."""
    git = Git(worktree.path, closed=True)
    if git.top() != os.path.realpath(worktree.path):
        raise LoopError("this is no worktree of ours", where=worktree.path)
    return git


def prefix_of(worktree: Worktree) -> str:
    """Return the project's place in its worktree: "" or `some/folder/`."""
    inner = os.path.relpath(worktree.folder, worktree.path)
    return "" if inner == "." else f"{inner}/"


def commit_all(worktree: Worktree, message: str) -> str | None:
    """Commit everything but what has one home; None when there is nothing."""
    git, prefix = inside(worktree), prefix_of(worktree)
    settle(git, worktree)
    if left := unresolved_files(git):
        raise UnresolvedMerge(left, worktree.path)
    _stage(git, prefix)
    merging = git.commit("MERGE_HEAD") is not None
    if not merging and git.ask("diff", "--cached", "--quiet").code == 0:
        return None
    _refuse_links(git)
    commit(git, message)
    return git.head()


def commit(git: Git, message: str) -> None:
    """Commit the index, by the configured author or else by `looptasks`."""
    options = ("--quiet", "--no-verify", "--allow-empty", "--message", message)
    git.run(*git.identity(), "commit", *options)


def _stage(git: Git, prefix: str) -> None:
    except_for = [f":(top,exclude,literal){home}" for home in homes(prefix)]
    # Some versions of git refuse to exclude what is ignored already.
    if git.ask("add", "--all", "--", ":/", *except_for).code:
        git.run("add", "--all", "--", ":/")
    git.run("reset", "--quiet", "--", *homes(prefix), **LITERAL)


def _refuse_links(git: Git) -> None:
    raw = git.names("diff", "--cached", "--raw", "--no-renames", "-z", "HEAD")
    pairs = zip(raw[::2], raw[1::2], strict=True)
    names = [name for entry, name in pairs if entry.split()[1] == _LINK]
    if names:
        git.run("reset", "--quiet", "--", *names, **LITERAL)
        raise LoopError(
            f"`{names[0]}` is a git repository inside of the worktree: "
            "a commit would not hold its files",
            where=git.root,
            fix=f"remove `{names[0]}/.git`, or ignore `{names[0]}`",
        )


def unresolved_files(git: Git) -> tuple[str, ...]:
    """Return the files of an unfinished merge that still have conflict markers."""
    names = git.names("diff", "--name-only", "--diff-filter=U", "-z")
    return tuple(name for name in names if _has_markers(os.path.join(git.root, name)))


def _has_markers(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _MARKED.search(file.read()) is not None
    except OSError:
        return False


def rescue_commit(worktree: Worktree, message: str) -> str | None:
    """Commit what a dead run left; an unfinished merge is set aside, not committed."""
    git, prefix = inside(worktree), prefix_of(worktree)
    settle(git, worktree)
    changes = git.all_changes()
    if not changes and git.commit("MERGE_HEAD") is None:
        return None
    if unresolved_files(git):
        set_aside(git, worktree)
        git.run("reset", "--quiet", "--hard")
    elif any(is_home(name, prefix) for name in changes):
        set_aside(git, worktree)
    return commit_all(worktree, message)


def settle(git: Git, worktree: Worktree) -> None:
    """Bring HEAD back to the worktree's branch, wherever an agent left it."""
    if git.current_branch() == worktree.branch:
        return
    name = f"refs/heads/{worktree.branch}"
    if _is_away(git, worktree):
        set_aside(git, worktree)
        git.ask("rebase", "--quit")
        git.run("symbolic-ref", "HEAD", name)
        git.run("reset", "--quiet", "--hard")
        return
    head, tip = git.head() or worktree.base, git.tip(worktree.branch)
    if tip and not git.is_ancestor(tip, head):
        _keep(git, worktree, tip)
    git.run("update-ref", name, head)
    git.run("symbolic-ref", "HEAD", name)


def _is_away(git: Git, worktree: Worktree) -> bool:
    """Tell whether HEAD is behind the branch, or amid a rebase of it."""
    head, tip = git.head(), git.tip(worktree.branch)
    if head is None or tip is None or head == tip:
        return False
    return _is_rebasing(git) or git.is_ancestor(head, tip)


def _is_rebasing(git: Git) -> bool:
    folder = git.folder()
    return any(os.path.isdir(os.path.join(folder, name)) for name in _REBASES)


def set_aside(git: Git, worktree: Worktree) -> str:
    """Keep the whole tree under `refs/loop/rescued/`, changing nothing else."""
    index = os.path.join(git.folder(), "looptasks-index")
    head = git.head() or worktree.base
    git.run("read-tree", head, GIT_INDEX_FILE=index)
    git.run("add", "--all", "--", ":/", GIT_INDEX_FILE=index)
    tree = git.run("write-tree", GIT_INDEX_FILE=index)
    os.unlink(index)
    message = f"Set aside: unfinished work of {worktree.name}"
    parents = _parents((head, git.commit("MERGE_HEAD")))
    made = git.run(*git.identity(), "commit-tree", tree, *parents, "-m", message)
    _keep(git, worktree, made)
    return made


def unfinished_merge(worktree: Worktree) -> bool:
    """Tell whether the worktree's newest commit was amid a merge that is set aside."""
    git = inside(worktree)
    rescued = f"refs/loop/rescued/{worktree.branch.removeprefix('loop/')}/"
    said = git.run("for-each-ref", "--format=%(parent)", rescued)
    begun = [line.split()[0] for line in said.splitlines() if " " in line]
    return git.head() in begun


def _parents(commits: Iterable[str | None]) -> list[str]:
    return [part for commit in commits if commit for part in ("-p", commit)]


def _keep(git: Git, worktree: Worktree, commit: str) -> None:
    place = worktree.branch.removeprefix("loop/")
    git.run("update-ref", f"refs/loop/rescued/{place}/{commit[:12]}", commit)
