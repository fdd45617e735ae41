"""A worksite: a worktree of its own, where a bead's or instance's agent works."""

import contextlib
import os

from looptasks.core.fan import folder_of
from looptasks.core.job import Job, Site
from looptasks.core.merge import CheckFailed, Conflict, Dirty, merge_message
from looptasks.core.taskname import bead_of
from looptasks.core.worktree import is_instance, result_of, tree_name
from looptasks.effects.git import Git
from looptasks.effects.git_commit import unfinished_merge
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_result import ResultBranch
from looptasks.effects.git_worktree import Worktrees
from looptasks.effects.project_root import ProjectRoot
from looptasks.errors import LoopError
from looptasks.plugin.tree_check import TreeCheck
from looptasks.plugin.workplace import Workplace


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


def clean_up(place: Workplace, *, instances: bool = False) -> None:
    """Bring home what dead runs left in worktrees of beads, or else of instances.

    It is committed to its branch. The other kind may be at work by now.
    """
    if os.path.isdir(os.path.join(place.folder.path, "worktrees")):
        trees = Worktrees(place.root, place.session)
        Merging(trees, result_of(place.session)).recover()
        trees.sweep([n for n in trees.names() if is_instance(n) is not instances])


def site_for(place: Workplace, bead: str, title: str) -> Site:
    """Return a bead's worktree, made from the newest state of the user's branch."""
    trees = Worktrees(place.root, place.session)
    return site_at(trees, folder_of(bead), trees.target(), title)


def site_at(trees: Worktrees, stage: str, target: str, title: str) -> Site:
    """Return a stage's worktree, with all earlier work that it holds."""
    name = tree_name(stage)
    worktree = trees.add(name, target)
    if unfinished_merge(worktree):
        # Its feedback says that there are markers in the files.
        Merging(trees, target).bring_in(worktree)
    return Site(name, worktree.folder, target, title)


class Worksite(ProjectRoot):
    """The project as an agent in a worktree sees it."""

    def __init__(self, place: Workplace, job: Job, site: Site, log: str) -> None:
        super().__init__(site.folder)
        self._place = place
        self._job = job
        self._site = site
        self._log = log
        trees = Worktrees(place.root, place.session)
        self._merging = Merging(trees, site.target)
        self._worktree = trees.place(site.name, site.target)

    def fingerprint(self) -> str:
        """Return a digest of all that counts as progress."""
        return self._place.fingerprint()

    def catch_up(self) -> None:
        """Begin with what others have brought home meanwhile, unless it collides."""
        with contextlib.suppress(LoopError):  # it is said when the work comes home
            self._merging.catch_up(self._worktree)

    def integrate(self) -> str:
        """Bring the work home; return what stands in the way, empty if nothing."""
        loop = self._job.stage.loop
        check = TreeCheck(loop.validate, self._log, self._job.env, loop.timeout)
        outcome = self._merging.merge_back(self._worktree, check.run, self._message())
        match outcome:
            case Conflict(_, text):
                brought = self._merging.bring_in(self._worktree)
                return brought.text if brought is not None else text
            case CheckFailed(output):
                self._merging.bring_in(self._worktree)
                return f"the merged tree does not pass the check:\n\n{output}"
            case Dirty(_, text):
                return text
            case _:
                return ""

    def _message(self) -> str:
        stage = self._job.stage.name
        what = f"bead {bead_of(stage)}" if bead_of(stage) else stage
        return merge_message(what, self._place.session, self._site.title)


def kept_branch(place: Workplace, stage: str) -> str:
    """Return the branch that holds a stage's work, empty when there is none."""
    trees = Worktrees(place.root, place.session)
    branch = trees.place(tree_name(stage), "").branch
    return branch if trees.git.tip(branch) else ""


def put_away(place: Workplace, stage: str) -> None:
    """Remove a finished stage's worktree and branch; unfinished work stays."""
    if not kept_branch(place, stage):
        return
    trees = Worktrees(place.root, place.session)
    with contextlib.suppress(LoopError):  # the work is home; the next run tidies up
        worktree = trees.place(tree_name(stage), "")
        targets = [trees.target()] if bead_of(stage) else ways_home(trees)
        trees.remove(worktree)
        any(trees.drop_branch(worktree, target) for target in targets)


def ways_home(trees: Worktrees) -> list[str]:
    """Return the branches that an instance's finished work is on, sooner or later."""
    result = ResultBranch(trees)
    return [result.name, result.home or trees.git.current_branch() or ""]
