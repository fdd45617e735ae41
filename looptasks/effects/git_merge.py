"""The merge back: one at a time, tried and checked aside, then the branch moves."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from looptasks.core.merge import (
    CheckFailed,
    CheckResult,
    Conflict,
    Dirty,
    Merged,
    NothingToMerge,
    Outcome,
    conflict,
    dirty,
    unresolved,
)
from looptasks.core.worktree import Worktree, checked_branch, homes
from looptasks.effects.files import make_folder
from looptasks.effects.git import LITERAL
from looptasks.effects.git_advance import (
    Advance,
    advanced,
    in_the_way,
    take_back,
    tree_of,
)
from looptasks.effects.git_commit import (
    UnresolvedMerge,
    commit,
    commit_all,
    inside,
    prefix_of,
    set_aside,
)
from looptasks.effects.git_integration import Integration, merge_into
from looptasks.effects.git_worktree import Worktrees
from looptasks.errors import LoopError

Check = Callable[[str], CheckResult]
_TRIES = 5  # each is a whole check; somebody commits to the target all the time


class Merging:
    """The way of a session's work into a branch."""

    def __init__(self, worktrees: Worktrees, target: str) -> None:
        self._worktrees = worktrees
        self._git = worktrees.git
        self.target = checked_branch(target)

    @contextmanager
    def _alone(self, patience: float = -1) -> Iterator[None]:
        from filelock import FileLock  # noqa: PLC0415 - 28 ms that a no-op saves

        make_folder(self._worktrees.folder)
        lock = FileLock(os.path.join(self._worktrees.home, "merge.lock"))
        with lock.acquire(timeout=patience):
            take_back(self._worktrees.home)
            yield

    def recover(self) -> None:
        """Take back what a killed merge left, and the tree it was tried in."""
        from filelock import Timeout  # noqa: PLC0415 - 28 ms that a no-op saves

        # A living merge has done so itself, and its check may take long.
        with suppress(Timeout), self._alone(0):
            Integration(self._git, self._worktrees.folder).remove()

    def merge_back(self, worktree: Worktree, check: Check, say: str = "") -> Outcome:
        """Bring a worktree's work into the target, if the two together pass."""
        if left := self._unfinished(worktree):
            return left
        return self.merge(worktree.branch, check, say)

    def merge(self, branch: str, check: Check, say: str = "") -> Outcome:
        """Bring a branch into the target, if the two together pass."""
        with self._alone():
            for _ in range(_TRIES):
                outcome = self._tried(branch, check, say)
                if outcome is not None:
                    return outcome
        raise LoopError(
            f"`{self.target}` moved during each of {_TRIES} checks",
            where=self._git.root,
            fix="run it again when nobody else commits to that branch",
        )

    def _unfinished(self, worktree: Worktree) -> Conflict | None:
        """Commit what the agent left; return the markers that forbid it."""
        try:
            commit_all(worktree, f"Work of {worktree.name}, uncommitted by its agent")
        except UnresolvedMerge as error:
            return unresolved(worktree.branch, self.target, error.files)
        return None

    def fits(self, branch: str, check: Check) -> Outcome | None:
        """Say what is against a merge, moving nothing; None if nothing is."""
        with self._alone():
            aside = Integration(self._git, self._worktrees.folder)
            made = self._made(branch, aside, "")
            if not isinstance(made, Advance):
                return made
            said = check(aside.folder)
        return None if said.ok else CheckFailed(said.output)

    def _tried(self, branch: str, check: Check, say: str) -> Outcome | None:
        """Return what came of one try; None when the target moved meanwhile."""
        aside = Integration(self._git, self._worktrees.folder)
        made = self._made(branch, aside, say)
        if isinstance(made, Advance):
            return self._checked(made, check, aside.folder)
        return made

    def _made(self, branch: str, aside: Integration, say: str) -> Advance | Outcome:
        """Return the advance that a merge would be, made aside."""
        old, tip = self._tip(self.target), self._tip(branch)
        if self._git.is_ancestor(tip, old):
            return NothingToMerge()
        aside.start_from(old)
        if found := aside.merge(tip):
            return conflict(branch, self.target, found, aside.git.run("diff"))
        new = aside.commit(say or f"Merge {branch}")
        if new is None:
            return NothingToMerge()
        return Advance(self.target, tree_of(self._git, self.target), old, new)

    def _tip(self, branch: str) -> str:
        tip = self._git.tip(branch)
        if tip is None:
            raise LoopError(f"there is no branch `{branch}`", where=self._git.root)
        return tip

    def _checked(self, advance: Advance, check: Check, folder: str) -> Outcome | None:
        if files := in_the_way(advance):
            return dirty(advance.branch, advance.tree, files, "")
        said = check(folder)
        if not said.ok:
            return CheckFailed(said.output)
        refusal = self._advanced(advance)
        if refusal is None:
            return Merged(advance.new)
        return refusal if self._git.tip(self.target) == advance.old else None

    def _advanced(self, advance: Advance) -> Dirty | None:
        # The check took its time: the target may have been checked out elsewhere.
        now = advance._replace(tree=tree_of(self._git, self.target))
        return advanced(self._git, self._worktrees.home, now)

    def bring_in(self, worktree: Worktree) -> Conflict | None:
        """Merge the target into a worktree; conflict markers stay for its agent."""
        if left := self._unfinished(worktree):
            return left
        git, goal = inside(worktree), self._tip(self.target)
        if git.is_ancestor(goal, "HEAD"):
            return None
        prefix = prefix_of(worktree)
        if git.all_changes():
            set_aside(git, worktree)
            git.run("reset", "--quiet", "--hard")
            git.run("clean", "-ffdq", "--", *homes(prefix), **LITERAL)
        if found := merge_into(git, goal, goal, prefix):
            hunks = git.run("diff")
            return conflict(worktree.branch, self.target, found, hunks, begun=True)
        commit(git, f"Merge {self.target} into {worktree.branch}")
        return None

    def catch_up(self, worktree: Worktree) -> bool:
        """Merge the target into a worktree if they fit; tell whether they do.

        A merge that waits there for its agent, or whatever else HEAD is amid, stays.
        """
        git = inside(worktree)
        if git.commit("MERGE_HEAD") or git.current_branch() != worktree.branch:
            return False
        if git.is_ancestor(self._tip(self.target), "HEAD"):
            return True
        found = self.bring_in(worktree)
        if found is not None and git.commit("MERGE_HEAD"):
            git.run("reset", "--quiet", "--hard")
        return found is None
