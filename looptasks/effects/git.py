"""Git: short calls that ask nobody, run no hooks, and fail in words."""

import os
import subprocess
from typing import NamedTuple

from looptasks.core.worktree import is_home
from looptasks.effects.git_lock import OURS, refused_by, wait_for
from looptasks.errors import LoopError

_LIMIT = 600.0  # a checkout of a large repository takes minutes on a slow disk
_GRACE = 10.0
_ENVIRON = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
# A hook of git that starts us would make every call of ours work on its repository.
_INHERITED = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)
# What a user likes at the keyboard must not change what a merge does.
_SETTINGS = (
    OURS,
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "merge.autoStash=false",
    "merge.conflictStyle=merge",
    "merge.verifySignatures=false",
    "rerere.enabled=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
)
# A file may be called `*`: its name must not mean all the others.
LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
_NOBODY = {"user.name": "looptasks", "user.email": "looptasks@localhost"}


class Said(NamedTuple):
    """What a git call came to."""

    code: int
    out: str
    err: str

    @property
    def reason(self) -> str:
        """Git's own last word on what went wrong."""
        lines = [s for s in (self.err or self.out).splitlines() if s.strip()]
        fatal = [s for s in lines if s.startswith(("fatal: ", "error: "))]
        return (fatal or lines or ["it said nothing"])[-1].strip()


class Git:
    """Git in one folder; with `closed`, never in a repository around that folder."""

    def __init__(self, root: str, *, closed: bool = False) -> None:
        self.root = os.path.realpath(root)
        self._closed = closed
        self._top: str | None = None
        self._identity: tuple[str, ...] | None = None

    def run(self, *arguments: str, **environ: str) -> str:
        """Return what git prints; a failure is an error."""
        said = self.ask(*arguments, **environ)
        if said.code:
            raise self.failure(arguments, said)
        return said.out.rstrip("\n")

    def failure(self, arguments: tuple[str, ...], said: Said) -> LoopError:
        """Return the error that a failed call is."""
        verb = next(a for a in arguments if a != "-c" and "=" not in a)
        return LoopError(
            f"`git {verb}` failed: {said.reason}",
            where=self.root,
            fix="run it by hand in that folder, and mend what it says",
        )

    def ask(self, *arguments: str, **environ: str) -> Said:
        """Return what git says, failed or not; locks of dead gits do not count."""
        said = self._call(arguments, environ)
        lock = refused_by(said.err) if said.code else None
        while lock and wait_for(lock):
            said = self._call(arguments, environ)
            lock = refused_by(said.err) if said.code else None
        return said

    def _call(self, arguments: tuple[str, ...], environ: dict[str, str]) -> Said:
        settings = [part for s in _SETTINGS for part in ("-c", s)]
        try:
            # A session of its own: Ctrl-C must not end git between two files.
            process = subprocess.Popen(
                ("git", *settings, *arguments),  # noqa: S607 - whichever the user has
                cwd=self.root,
                env=self._environ() | environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise _no_git(self.root, error) from error
        with process:
            out, err = _output(process, arguments[0])
        return Said(process.returncode, _text(out), _text(err))

    def _environ(self) -> dict[str, str]:
        environ = {k: v for k, v in os.environ.items() if k not in _INHERITED}
        if self._closed:
            environ["GIT_CEILING_DIRECTORIES"] = os.path.dirname(self.root)
        return environ | _ENVIRON

    def names(self, *arguments: str, **environ: str) -> list[str]:
        """Return the names that a call with `-z` prints."""
        return [name for name in self.run(*arguments, **environ).split("\0") if name]

    def identity(self) -> tuple[str, ...]:
        """Return the options that name an author where the configuration does not."""
        if self._identity is None:
            said = self.ask("config", "--get-regexp", r"^user\.(name|email)$").out
            known = {line.partition(" ")[0] for line in said.splitlines()}
            missing = [f"{k}={v}" for k, v in _NOBODY.items() if k not in known]
            self._identity = tuple(part for m in missing for part in ("-c", m))
        return self._identity

    def is_repository(self) -> bool:
        """Tell whether the folder is in a working tree of git."""
        return self.ask("rev-parse", "--is-inside-work-tree").out.strip() == "true"

    def top(self) -> str:
        """Return the working tree's top folder; without one: an error."""
        if self._top is None:
            said = self.ask("rev-parse", "--show-toplevel")
            if said.code or not said.out.strip():
                raise _no_repository(self.root, said)
            self._top = os.path.realpath(said.out.rstrip("\n"))
        return self._top

    def prefix(self) -> str:
        """Return the folder's place in the repository: "" or `some/folder/`."""
        inner = os.path.relpath(self.root, self.top())
        return "" if inner == "." else f"{inner}/"

    def folder(self) -> str:
        """Return git's own folder of this working tree."""
        return self.run("rev-parse", "--absolute-git-dir")

    def is_clean(self) -> bool:
        """Tell whether nothing is uncommitted, beside what has one home."""
        return not self.changes()

    def changes(self) -> list[str]:
        """Return what is uncommitted or untracked, beside what has one home."""
        prefix = self.prefix()
        return [name for name in self.all_changes() if not is_home(name, prefix)]

    def all_changes(self) -> list[str]:
        """Return everything that is uncommitted or untracked."""
        options = ("--porcelain", "-z", "--untracked-files=normal", "--no-renames")
        return [entry[3:] for entry in self.names("status", *options)]

    def current_branch(self) -> str | None:
        """Return the branch that is checked out; None when HEAD is detached."""
        said = self.ask("symbolic-ref", "--quiet", "HEAD")
        return None if said.code else said.out.strip().removeprefix("refs/heads/")

    def head(self) -> str | None:
        """Return the commit that is checked out; None before the first one."""
        return self.commit("HEAD")

    def commit(self, name: str) -> str | None:
        """Return the commit that a name means; None when it means none."""
        said = self.ask("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return None if said.code else said.out.strip()

    def tip(self, branch: str) -> str | None:
        """Return a branch's newest commit; None when there is no such branch."""
        return self.commit(f"refs/heads/{branch}")

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether one commit is in the history of another."""
        return self.ask("merge-base", "--is-ancestor", older, newer).code == 0


def _output(process: "subprocess.Popen[bytes]", verb: str) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=_LIMIT)
    except subprocess.TimeoutExpired as error:
        process.terminate()  # git removes its locks on TERM, and cannot on KILL
        try:
            process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
        raise LoopError(f"`git {verb}` did not end in {_LIMIT:.0f} s") from error


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _no_git(root: str, error: OSError) -> LoopError:
    if os.path.isdir(root):
        return LoopError(
            f"git cannot be started: {error.strerror}",
            fix="install git, or use `isolation: shared`",
        )
    return LoopError("there is no such folder", where=root)


def _no_repository(root: str, said: Said) -> LoopError:
    if "must be run in a work tree" in said.err:
        what, fix = "this is a bare repository", "work in a clone that has files"
    elif "not a git repository" in said.err:
        what, fix = "this is no git repository", "`git init` and a first commit"
    else:
        what, fix = f"git refuses: {said.reason}", "mend what it says"
    return LoopError(what, where=root, fix=f"{fix}, or use `isolation: shared`")
