"""The result branch in use: instances begin and end there, and in the end it lands."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from looptasks.core.digest import of_value
from looptasks.core.job import Site
from looptasks.core.landing import Landing, landing_of, merge_command
from looptasks.core.merge import CheckResult, Conflict, Outcome, merge_message
from looptasks.core.process import CutShort
from looptasks.core.worktree import tree_name
from looptasks.effects.git import Git
from looptasks.effects.git_archive import BranchArchive
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_result import ResultBranch
from looptasks.effects.git_worktree import Worktrees
from looptasks.plugin.tree_check import TreeCheck
from looptasks.plugin.workplace import Workplace
from looptasks.plugin.worksite import site_at, ways_home

_LIMIT = 3600.0


def instance_site(place: Workplace, stage: str, title: str) -> Site:
    """Return an instance's worktree, made from the newest state of the result."""
    trees = Worktrees(place.root, place.session)
    return site_at(trees, stage, ResultBranch(trees).begin(), title)


def set_aside(place: Workplace, stage: str) -> str:
    """Keep an instance's work under another name; return that, empty without work."""
    trees = Worktrees(place.root, place.session)
    return BranchArchive(trees).put(tree_name(stage), *ways_home(trees))


def pending_branches(place: Workplace, prefix: str = "") -> list[str]:
    """Return the branches of a stage and of all below it, those set aside included."""
    return BranchArchive(Worktrees(place.root, place.session)).of(prefix)


def land(
    place: Workplace, checks: Sequence[str], how: str, env: Mapping[str, str]
) -> Landing:
    """Merge the result into the user's branch if they pass together; else say why."""
    trees = Worktrees(place.root, place.session)
    result = ResultBranch(trees)
    home = result.home
    if not home:  # no git is started for a session that has no result
        return Landing("nothing")
    if trees.git.tip(result.name) is None:
        result.drop()
        return Landing("nothing")
    log = place.folder.file("landing.log")
    commands = tuple(dict.fromkeys(c for c in checks if c))
    try:
        outcome = _outcome(trees, how, _ResultCheck(result, commands, log, env))
    except CutShort:
        return Landing("blocked", "interrupted during the check of the result")
    landing = landing_of(outcome, result.name, home)
    if landing.state in ("landed", "nothing"):
        result.drop()
    elif outcome is None or isinstance(outcome, Conflict):
        shown = trees.git.current_branch()
        return landing._replace(command=merge_command(result.name, home, shown))
    return landing


class _ResultCheck(NamedTuple):
    """All checks of a result; a tree that has passed them is not asked again."""

    result: ResultBranch
    commands: tuple[str, ...]
    log: str
    env: Mapping[str, str]

    def run(self, folder: str) -> CheckResult:
        """Say whether the tree in a folder passes."""
        tree = of_value([Git(folder).run("rev-parse", "HEAD^{tree}"), *self.commands])
        if self.result.passed(tree):
            return CheckResult(ok=True)
        for command in self.commands:
            said = TreeCheck(command, self.log, self.env, _LIMIT).run(folder)
            if not said.ok:
                return CheckResult(ok=False, output=f"`{command}`:\n\n{said.output}")
        self.result.note_passed(tree)
        return CheckResult(ok=True)


def _outcome(trees: Worktrees, how: str, check: _ResultCheck) -> Outcome | None:
    merging = Merging(trees, check.result.home)
    try:
        if how == "manual":
            return merging.fits(check.result.name, check.run)
        say = merge_message("the result", trees.session)
        return merging.merge(check.result.name, check.run, say)
    finally:
        merging.recover()
