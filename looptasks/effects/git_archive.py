"""Branches set aside: work that nobody goes on with, kept under another name."""

import re

from looptasks.core.worktree import branch_of, is_instance, is_of
from looptasks.effects.git_worktree import Worktrees

_NUMBERED = re.compile(r"archive/(.+)-(\d+)")


class BranchArchive:
    """The branches of a session's instances, those set aside included."""

    def __init__(self, worktrees: Worktrees) -> None:
        self._worktrees = worktrees
        self._git = worktrees.git
        self._root = f"loop/{worktrees.session}/"

    def put(self, name: str, *merged_into: str) -> str:
        """Set a worktree's branch aside; return its new name, if it held any work.

        A kill between two of the steps is made good by the next call.
        """
        self._worktrees.remove(self._worktrees.place(name, ""))
        return self.put_branch(name, *merged_into)

    def put_branch(self, name: str, *merged_into: str) -> str:
        """Set a branch aside that no worktree shows."""
        branch = branch_of(self._worktrees.session, name)
        tip = self._git.tip(branch)
        if tip is None:
            return ""
        kept = "" if self._has(merged_into, tip) else self._copied(name, tip)
        self._git.run("update-ref", "-d", f"refs/heads/{branch}", tip)
        return kept

    def _has(self, branches: tuple[str, ...], tip: str) -> bool:
        tips = filter(None, map(self._git.tip, branches))
        return any(self._git.is_ancestor(tip, newer) for newer in tips)

    def _copied(self, name: str, tip: str) -> str:
        kept = self._numbered(name)
        for number, commit in kept.items():
            if commit == tip:  # a kill came right after the copy
                return self._place(name, number)
        place = self._place(name, max(kept, default=0) + 1)
        self._git.run("update-ref", f"refs/heads/{place}", tip, "")
        return place

    def _numbered(self, name: str) -> dict[int, str]:
        """Return the commits of a worktree's branches set aside, by number."""
        pairs = ((_NUMBERED.fullmatch(n), tip) for n, tip in self._tips().items())
        return {int(m[2]): tip for m, tip in pairs if m and m[1] == name}

    def _place(self, name: str, number: int) -> str:
        return f"{self._root}archive/{name}-{number}"

    def instances(self) -> list[str]:
        """Return the names of the instances that have a branch."""
        return [n for n in self._tips() if is_instance(n) and "/" not in n]

    def of(self, stage: str) -> list[str]:
        """Return the branches of a stage and of those below it, set aside or not.

        Without a stage, all branches of the session.
        """
        names = ((n, _NUMBERED.fullmatch(n)) for n in self._tips())
        return [
            f"{self._root}{name}"
            for name, aside in names
            if not stage or is_of(aside[1] if aside else name, stage)
        ]

    def _tips(self) -> dict[str, str]:
        """Return the session's branches, by name without what all have in common."""
        root = f"refs/heads/{self._root}"
        said = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", root)
        pairs = (line.split() for line in said.splitlines())
        return {ref.removeprefix(root): commit for commit, ref in pairs}
