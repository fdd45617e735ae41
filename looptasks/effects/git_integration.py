"""The integration tree: a detached checkout in which merges are tried and checked.

Nobody works in it, so that the main tree is never seen half merged. It is kept from
one merge to the next: what a build has cached there makes the next check fast.
"""

import os
import shutil

from looptasks.core.worktree import homes
from looptasks.effects.git import LITERAL, Git
from looptasks.effects.git_commit import commit
from looptasks.effects.git_lock import wait_for_ours

_NAME = ".integration"


class Integration:
    """The integration tree of one session; used under the merge lock only."""

    def __init__(self, main: Git, folder: str) -> None:
        self._main = main
        self.path = os.path.join(folder, _NAME)
        self.folder = os.path.normpath(os.path.join(self.path, main.prefix()))
        self.git = Git(self.path, closed=True)

    def start_from(self, commit: str) -> None:
        """Show exactly a commit, whatever a killed merge left here."""
        wait_for_ours(self.path)
        if not self._is_reset(commit):
            self.remove()
            adding = ("worktree", "add", "--quiet", "--detach", self.path, commit)
            self._main.run(*adding)
        os.makedirs(self.folder, exist_ok=True)

    def _is_reset(self, commit: str) -> bool:
        if not os.path.isfile(os.path.join(self.path, ".git")):
            return False
        if self.git.current_branch() is not None:
            return False
        resets = self.git.ask("reset", "--quiet", "--hard", commit).code == 0
        return resets and self.git.ask("clean", "-ffdq").code == 0

    def remove(self) -> None:
        """Take the tree away."""
        self._main.ask("worktree", "unlock", self.path)
        self._main.ask("worktree", "remove", "--force", self.path)
        shutil.rmtree(self.path, ignore_errors=True)
        self._main.run("worktree", "prune")

    def merge(self, tip: str) -> dict[str, str]:
        """Merge a commit into the tree; return the files in conflict and how."""
        return merge_into(self.git, tip, "HEAD", self._main.prefix())

    def commit(self, message: str) -> str | None:
        """Commit the merge; None when it changes nothing."""
        if self.git.ask("diff", "--cached", "--quiet", "HEAD").code == 0:
            return None
        commit(self.git, message)
        return self.git.head()


def merge_into(git: Git, tip: str, home: str, prefix: str) -> dict[str, str]:
    """Merge without a commit, keeping `home`'s version of what has one home."""
    merging = ("merge", "--quiet", "--no-ff", "--no-commit", "--no-edit", tip)
    said = git.ask(*git.identity(), *merging)
    _keep_homes(git, home, prefix)
    found = conflicts(git)
    if said.code and not found and git.commit("MERGE_HEAD") is None:
        raise git.failure(merging, said)
    return found


def _keep_homes(git: Git, home: str, prefix: str) -> None:
    options = ("--cached", "--name-only", "--no-renames", "-z", home)
    names = git.names("diff", *options, "--", *homes(prefix), **LITERAL)
    if names:
        source = ("--source", home, "--staged", "--worktree")
        git.run("restore", "--quiet", *source, "--", *sorted(set(names)), **LITERAL)


def conflicts(git: Git) -> dict[str, str]:
    """Return the files in conflict, and git's two letters for how."""
    entries = git.names("status", "--porcelain", "-z", "--untracked-files=no")
    pairs = ((entry[3:], entry[:2]) for entry in entries)
    return {n: c for n, c in pairs if "U" in c or c in ("AA", "DD")}
