"""Worktrees: one checkout per piece of work, beside the main tree and never in it.

They live in `.loop/<session>/worktrees/`: on the project's own disk, so that git
links instead of copying; ignored by git, and named like the work, so that a person
finds them. What git ignores in a worktree is not work, and goes with it.
"""

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from looptasks.core.worktree import (
    Swept,
    Worktree,
    branch_of,
    checked_branch,
    checked_part,
)
from looptasks.effects.files import make_folder, storing, write_if_changed, write_whole
from looptasks.effects.git import Git
from looptasks.effects.git_commit import rescue_commit
from looptasks.effects.git_lock import wait_for_ours
from looptasks.errors import LoopError

_READY = "looptasks-ready"


class Worktrees:
    """The worktrees of one session."""

    def __init__(self, root: str, session: str) -> None:
        self.root = os.path.realpath(root)
        self.session = checked_part(session, "session")
        self.git = Git(self.root)
        self.home = os.path.join(self.root, ".loop")
        self.folder = os.path.join(self.home, session, "worktrees")

    def target(self) -> str:
        """Return the branch that work is merged into: the one that is checked out."""
        self.git.top()
        branch = self.git.current_branch()
        if branch is None:
            raise LoopError(
                "HEAD is detached: there is no branch to merge into",
                where=self.root,
                fix="`git switch BRANCH`, or `git switch -c NEW-BRANCH`",
            )
        self._start(None)
        return checked_branch(branch)

    def add(self, name: str, start: str | None = None) -> Worktree:
        """Return the worktree of that name, with all earlier work that it holds."""
        branch = branch_of(self.session, name)
        begin = self._start(start)
        with self._guard():
            worktree = self._found(name, begin) or self._made(name, branch, begin)
        if worktree.base != begin and self.git.tip(branch) == worktree.base:
            Git(worktree.path, closed=True).run("merge", "--quiet", "--ff-only", begin)
            return worktree._replace(base=begin)
        return worktree

    def _start(self, start: str | None) -> str:
        self.git.top()
        commit = self.git.commit(start or "HEAD")
        if commit is None:
            named = f"`{start}` is no commit" if start else "there is no commit yet"
            fix = "name a commit or a branch" if start else "make a first commit"
            raise LoopError(named, where=self.root, fix=fix)
        if self.git.ask("cat-file", "-e", f"{commit}:.gitmodules").code == 0:
            raise LoopError(
                "worktrees cannot hold the submodules that `.gitmodules` names",
                where=self.root,
                fix="use `isolation: shared`",
            )
        return commit

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Let one process at a time make and remove worktrees."""
        from filelock import FileLock  # noqa: PLC0415 - 28 ms that a no-op saves

        make_folder(self.folder)
        with storing(self.folder):
            write_if_changed(os.path.join(self.folder, ".gitignore"), b"*\n")
            lock = FileLock(os.path.join(self.home, "worktrees.lock"))
        with lock:
            yield

    def place(self, name: str, base: str) -> Worktree:
        """Return what the worktree of that name is, whether it is there or not."""
        path = os.path.join(self.folder, name)
        branch = f"loop/{self.session}/{name}"
        folder = os.path.normpath(os.path.join(path, self.git.prefix()))
        return Worktree(name, path, branch, base, folder)

    def _found(self, name: str, begin: str) -> Worktree | None:
        worktree = self.place(name, begin)
        if not os.path.lexists(worktree.path):
            return None
        if not self._is_ready(worktree.path):
            self._clear(worktree.path)
            return None
        wait_for_ours(worktree.path)
        rescue_commit(worktree, f"Work of {name} that an interrupted run left")
        return self._based(worktree, begin)

    def _based(self, worktree: Worktree, begin: str) -> Worktree:
        ours = f"refs/heads/{worktree.branch}"
        return worktree._replace(base=self.git.run("merge-base", begin, ours))

    def _made(self, name: str, branch: str, begin: str) -> Worktree:
        worktree = self.place(name, begin)
        if self.git.tip(branch) is None:
            self.git.run("branch", "--no-track", "--", branch, begin)
        adding = ("worktree", "add", "--quiet", worktree.path, branch)
        if self.git.ask(*adding).code:
            self._clear(worktree.path)  # git still knows one that somebody deleted
            self.git.run(*adding)
        self.make_ready(worktree.path)
        os.makedirs(worktree.folder, exist_ok=True)
        return self._based(worktree, begin)

    def make_ready(self, path: str) -> None:
        """Note that a checkout is complete: from now on a missing file is work."""
        folder = Git(path, closed=True).folder()
        write_whole(os.path.join(folder, _READY), b"")

    def _is_ready(self, path: str) -> bool:
        if not os.path.isfile(os.path.join(path, ".git")):
            return False
        said = Git(path, closed=True).ask("rev-parse", "--absolute-git-dir")
        if said.code:
            # The project's folder was moved: the two ends of the link disagree.
            self.git.ask("worktree", "repair", path)
            said = Git(path, closed=True).ask("rev-parse", "--absolute-git-dir")
        folder = said.out.strip()
        return not said.code and os.path.exists(os.path.join(folder, _READY))

    def remove(self, worktree: Worktree) -> str | None:
        """Remove a checkout, keeping its branch; uncommitted work is committed."""
        with self._guard():
            return self._remove(worktree)

    def _remove(self, worktree: Worktree) -> str | None:
        commit = None
        if self._is_ready(worktree.path):
            commit = rescue_commit(worktree, f"Work left in {worktree.name}")
            self.make_unready(worktree.path)
        self._clear(worktree.path)
        return commit

    def make_unready(self, path: str) -> None:
        """Note that a checkout is being taken apart: a missing file is no work."""
        folder = Git(path, closed=True).folder()
        with storing(folder):
            os.unlink(os.path.join(folder, _READY))

    def _clear(self, path: str) -> None:
        """Take away a checkout that was never complete, or is no longer."""
        self.git.ask("worktree", "unlock", path)  # a killed `add` leaves it locked
        if os.path.lexists(path) and not self._is_linked(path):
            self._archive(path)
        elif self.git.ask("worktree", "remove", "--force", path).code:
            shutil.rmtree(path, ignore_errors=True)
        self.git.run("worktree", "prune")

    def _is_linked(self, path: str) -> bool:
        """Tell whether git knows the checkout, or has emptied it already."""
        listed = self.git.run("worktree", "list", "--porcelain").splitlines()
        return f"worktree {path}" in listed or not os.listdir(path)

    def _archive(self, path: str) -> None:
        base = os.path.join(self.home, "archive", self.session)
        make_folder(base)
        name, count = f"worktree-{os.path.basename(path)}", 1
        while os.path.lexists(os.path.join(base, f"{name}-{count}")):
            count += 1
        with storing(path):
            os.rename(path, os.path.join(base, f"{name}-{count}"))

    def drop_branch(self, worktree: Worktree, target: str) -> bool:
        """Delete a branch whose work the target has; tell whether it did."""
        tip, goal = self.git.tip(worktree.branch), self.git.tip(target)
        if not tip or not goal or not self.git.is_ancestor(tip, goal):
            return False
        deleting = ("update-ref", "-d", f"refs/heads/{worktree.branch}", tip)
        return self.git.ask(*deleting).code == 0

    def sweep(self, alive: Collection[str] = ()) -> tuple[Swept, ...]:
        """Commit and remove the worktrees that no living run works in."""
        if not os.path.isdir(self.folder):
            return ()
        with self._guard():
            dead = sorted(set(self.names()) - set(alive))
            swept = tuple(self._swept(name) for name in dead)
            self.git.run("worktree", "prune")
        return swept

    def names(self) -> list[str]:
        """Return the names of the worktrees that are there."""
        with os.scandir(self.folder) as entries:
            return [e.name for e in entries if e.is_dir() and e.name[0] != "."]

    def _swept(self, name: str) -> Swept:
        try:
            checked_part(name, "worktree")
            return Swept(name, self._remove(self.place(name, self._start(None))))
        except LoopError as error:
            return Swept(name, None, str(error))
