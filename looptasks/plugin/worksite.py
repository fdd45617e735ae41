"""A worksite: a bead's own worktree, where its agent works undisturbed."""

import contextlib
import os
from collections.abc import Iterable

from looptasks.core.job import Job, Site
from looptasks.core.merge import CheckFailed, CheckResult, Conflict, Dirty
from looptasks.core.process import Command, check_code
from looptasks.effects.git import Git
from looptasks.effects.git_head import head_commit
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_worktree import Worktrees
from looptasks.effects.project_files import digests
from looptasks.errors import LoopError
from looptasks.plugin.processes import processes
from looptasks.plugin.workplace import Workplace

_SHOWN = 20_000


def isolates(root: str, session: str, declared: str | None, workers: int) -> bool:
    """Tell whether beads get worktrees: as declared, else where it makes sense."""
    if declared is not None:
        return declared == "worktree"
    if workers < 2:  # noqa: PLR2004 - one alone is in nobody's way
        return False
    git = Git(root)
    if not git.is_repository() or git.head() is None or not git.is_clean():
        return False
    try:
        Worktrees(root, session).target()
    except LoopError:  # such as a detached HEAD: nothing to merge into
        return False
    return True


def clean_up(place: Workplace) -> None:
    """Bring home what dead runs left in worktrees: committed to its branch."""
    if os.path.isdir(os.path.join(place.folder.path, "worktrees")):
        trees = Worktrees(place.root, place.session)
        with contextlib.suppress(LoopError):  # without a target nothing was merged
            Merging(trees, trees.target()).recover()
        trees.sweep()


def site_for(place: Workplace, bead: str, title: str) -> Site:
    """Return a bead's worktree, made from the newest state of the branch."""
    trees = Worktrees(place.root, place.session)
    target = trees.target()
    return Site(bead, trees.add(bead, target).folder, target, title)


class Worksite:
    """The project as an agent in a worktree sees it."""

    def __init__(self, place: Workplace, job: Job, site: Site, log: str) -> None:
        self.root = site.folder
        self._place = place
        self._job = job
        self._site = site
        self._log = log

    def digests(self, patterns: Iterable[str]) -> dict[str, str]:
        """Return path and digest of each file that the patterns mean."""
        return digests(self.root, patterns)

    def missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the paths that do not exist."""
        return tuple(
            path for path in paths if not os.path.exists(os.path.join(self.root, path))
        )

    def head(self) -> str | None:
        """Return the commit that is checked out."""
        return head_commit(self.root)

    def fingerprint(self) -> str:
        """Return a digest of all that counts as progress."""
        return self._place.fingerprint()

    def integrate(self) -> str:
        """Bring the work home; return what stands in the way, empty if nothing."""
        trees = Worktrees(self._place.root, self._place.session)
        merging = Merging(trees, self._site.target)
        worktree = trees.place(self._site.name, self._site.target)
        outcome = merging.merge_back(worktree, self._check, self._site.title)
        match outcome:
            case Conflict(_, text):
                brought = merging.bring_in(worktree)
                return brought.text if brought is not None else text
            case CheckFailed(output):
                merging.bring_in(worktree)
                return f"the merged tree does not pass the check:\n\n{output}"
            case Dirty(_, text):
                return text
            case _:
                return ""

    def _check(self, folder: str) -> CheckResult:
        command = self._job.stage.loop.validate
        if not command:
            return CheckResult(ok=True)
        ended = processes().run(
            Command(
                argv=("sh", "-c", command),
                cwd=folder,
                stdin="/dev/null",
                stdout=self._log,
                stderr=self._log,
                env=self._job.env,
                timeout=self._job.stage.loop.timeout,
            )
        )
        with open(self._log, "rb") as file:
            output = file.read(_SHOWN).decode("utf-8", "replace")
        return CheckResult(ok=check_code(ended) == 0, output=output)


def kept_branch(place: Workplace, bead: str) -> str:
    """Return the branch that holds a bead's work, empty when there is none."""
    trees = Worktrees(place.root, place.session)
    branch = trees.place(bead, "").branch
    return branch if trees.git.tip(branch) else ""


def put_away(place: Workplace, bead: str) -> None:
    """Remove a finished bead's worktree and branch; unfinished work stays."""
    if not kept_branch(place, bead):
        return
    trees = Worktrees(place.root, place.session)
    with contextlib.suppress(LoopError):  # the work is home; the next run tidies up
        target = trees.target()
        worktree = trees.place(bead, target)
        trees.remove(worktree)
        trees.drop_branch(worktree, target)
