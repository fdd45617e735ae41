"""A repository: a real git in a folder of its own, with nobody's configuration."""

import os
import subprocess
from pathlib import Path

from looptasks.core.merge import CheckResult
from looptasks.core.worktree import Worktree
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_worktree import Worktrees

ENVIRON = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path | str, *arguments: str) -> str:
    """Return what git prints in a folder."""
    done = subprocess.run(
        ("git", *arguments),
        cwd=folder,
        env=os.environ | ENVIRON,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Repository:
    """A repository with one commit on `main`, and a session `s` on it."""

    def __init__(self, root: Path, inner: str = "") -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.top = root
        self.root = root / inner
        self.git("init", "--quiet", "-b", "main")
        self.git("config", "user.name", "Ann")
        self.git("config", "user.email", "ann@example.org")
        self.root.mkdir(exist_ok=True)
        self.write(".loop/.gitignore", "*\n!.gitignore\n")
        self.write("f.txt", "one\ntwo\nthree\n")
        self.commit("first")

    def git(self, *arguments: str, at: Path | str = "") -> str:
        """Return what git prints."""
        return git(at or self.top, *arguments)

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, message: str) -> str:
        """Commit everything in the main tree."""
        self.git("add", "-A")
        self.git("commit", "--quiet", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    @property
    def head(self) -> str:
        """The commit of `main`."""
        return self.git("rev-parse", "main")

    @property
    def status(self) -> str:
        """What git finds changed in the main tree."""
        return self.git("status", "--porcelain")

    def shown(self, name: str, commit: str = "main") -> str:
        """Return a file as a commit has it."""
        return self.git("show", f"{commit}:{name}")

    @property
    def worktrees(self) -> Worktrees:
        """The worktrees of session `s`."""
        return Worktrees(str(self.root), "s")

    @property
    def merging(self) -> Merging:
        """The way of session `s` into `main`."""
        return Merging(self.worktrees, "main")

    def work(self, name: str, **files: str) -> Worktree:
        """Return a worktree in which files are written, not committed."""
        worktree = self.worktrees.add(name)
        for file, text in files.items():
            Path(worktree.folder, f"{file}.txt").write_text(text)
        return worktree


def passes(folder: str) -> CheckResult:
    """Return that any tree with its first file is good."""
    return CheckResult(ok=Path(folder, "f.txt").exists())
