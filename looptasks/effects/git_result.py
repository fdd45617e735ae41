"""The result branch: where a session's work comes together before it lands.

`.loop/<session>/landing.json` is there as long as the branch: it says where to land.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from looptasks.core.landing import NOTE
from looptasks.core.worktree import result_of
from looptasks.effects.files import make_folder, read_json, storing, write_json
from looptasks.effects.git_advance import tree_of
from looptasks.effects.git_archive import BranchArchive
from looptasks.effects.git_worktree import Worktrees


class ResultBranch:
    """A session's result branch, and the user's branch that is its home."""

    def __init__(self, worktrees: Worktrees) -> None:
        self._worktrees = worktrees
        self._git = worktrees.git
        self._archive = BranchArchive(worktrees)
        self._note = os.path.join(worktrees.home, worktrees.session, NOTE)
        self.name = result_of(worktrees.session)

    @property
    def home(self) -> str:
        """The branch to land on; empty when there is no result branch."""
        return str(self._noted().get("branch", ""))

    def _noted(self) -> dict[str, Any]:
        fields = read_json(self._note)
        return fields if isinstance(fields, dict) else {}

    def begin(self) -> str:
        """Return its name; until it has work of its own it is where its home is."""
        with self._alone():
            if not self.home or self._git.tip(self.name) is None:
                self._make()
            else:
                self._follow()
        return self.name

    @contextmanager
    def _alone(self) -> Iterator[None]:
        from filelock import FileLock  # noqa: PLC0415 - 28 ms that a no-op saves

        make_folder(self._worktrees.folder)
        with FileLock(os.path.join(self._worktrees.home, "result.lock")):
            yield

    def _make(self) -> None:
        home = self._worktrees.target()
        if not self.home:
            # A session of that name was reset, and this one begins anew.
            for name in self._archive.instances():
                self._archive.put(name, home)
            self._archive.put_branch("result", home)
        write_json(self._note, {"schema": 1, "branch": home}, durable=True)
        tip = self._git.run("rev-parse", f"refs/heads/{home}")
        self._git.run("update-ref", f"refs/heads/{self.name}", tip, "")

    def _follow(self) -> None:
        old, new = self._git.tip(self.name), self._git.tip(self.home)
        if not old or not new or old == new or not self._git.is_ancestor(old, new):
            return
        if not tree_of(self._git, self.name):
            # A merge that was faster is right, and whoever made it has both.
            self._git.ask("update-ref", f"refs/heads/{self.name}", new, old)

    def passed(self, tree: str) -> bool:
        """Tell whether a tree is known to pass all checks."""
        return bool(self._noted().get("passed") == tree)

    def note_passed(self, tree: str) -> None:
        """Note that a tree passes all checks."""
        write_json(self._note, self._noted() | {"passed": tree})

    def drop(self) -> None:
        """Remove the branch, now that its home has the work; others may still need it.

        If its home has the work under other commits, the branch is set aside.
        """
        with self._alone():
            if self._archive.instances():
                return
            self._archive.put_branch("result", self.home)
            with storing(self._note), suppress(FileNotFoundError):
                os.unlink(self._note)
