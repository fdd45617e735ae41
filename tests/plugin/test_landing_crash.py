"""Landings that are killed: all of the result has landed or none, and only once."""

from pathlib import Path

import pytest

from looptasks.core.landing import Landing
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_result import ResultBranch
from looptasks.plugin.result_branch import instance_site, land, set_aside
from looptasks.plugin.workplace import Workplace
from looptasks.plugin.worksite import put_away
from tests.support.deadly_git import DeadlyGit, age_locks
from tests.support.git_repository import Repository, passes
from tests.support.thorough import onwards

_LAND = """
import sys
from looptasks.plugin.result_branch import land
from looptasks.plugin.workplace import Workplace
land(Workplace(sys.argv[1], "s", "run"), (), "auto", {})
"""
_SET_ASIDE = """
import sys
from looptasks.plugin.result_branch import set_aside
from looptasks.plugin.workplace import Workplace
set_aside(Workplace(sys.argv[1], "s", "run"), "code/a")
"""


@pytest.fixture
def place(repository: Repository) -> Workplace:
    """Return the session's workplace."""
    return Workplace(str(repository.root), "s", "run")


def complete(repository: Repository, place: Workplace, name: str) -> None:
    site = instance_site(place, f"code/{name}", "")
    for file in (f"{name}-1", f"{name}-2"):
        Path(site.folder, file).write_text(name)
    trees = repository.worktrees
    Merging(trees, site.target).merge_back(trees.place(site.name, ""), passes)
    put_away(place, f"code/{name}")


def landings(repository: Repository) -> int:
    subjects = repository.git("log", "--format=%s", "--first-parent", "main")
    return subjects.splitlines().count("Merge the result (loop s)")


def assert_before_or_after(repository: Repository, before: str, name: str) -> None:
    """Tell that branch and tree have all of a landing, or none of it."""
    assert repository.status == ""
    files = {path.name for path in repository.root.glob(f"{name}-*")}
    if repository.head == before:
        assert files == set()
    else:
        parents = repository.git("log", "-1", "--format=%P", "main").split()
        assert parents[0] == before
        assert files == {f"{name}-1", f"{name}-2"}


# Each begins at another call, so that together they try all.
WAYS = ["before", "during", "together"]


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_a_landing_killed_at_any_git_call_is_before_or_after(
    repository: Repository, place: Workplace, tmp_path: Path, how: str
) -> None:
    deadly, call, code = DeadlyGit(tmp_path), 0, -9
    for count, call in enumerate(onwards(3, WAYS.index(how)), start=1):
        name = f"w{call}"
        complete(repository, place, name)
        before = repository.head
        code = deadly.run(call, how, "-c", _LAND, str(repository.root))
        if how == "together":
            age_locks(repository)
            repository.merging.recover()
        assert_before_or_after(repository, before, name)
        expected = "landed" if repository.head == before else "nothing"
        assert land(place, (), "auto", {}).state == expected
        assert land(place, (), "auto", {}) == Landing("nothing")
        assert_before_or_after(repository, before, name)
        assert landings(repository) == count
        assert repository.git("branch", "--list", "loop/*") == ""
        assert ResultBranch(repository.worktrees).home == ""
        if code != -9:
            break
    assert code == 0
    assert call > 15


@pytest.mark.slow
@pytest.mark.parametrize("how", ["before", "during"])
def test_setting_aside_that_is_killed_at_any_git_call_keeps_the_work_once(
    repository: Repository, place: Workplace, tmp_path: Path, how: str
) -> None:
    deadly, call, code = DeadlyGit(tmp_path), 0, -9
    while code == -9:
        call += 1
        site = instance_site(place, "code/a", "")
        Path(site.folder, "new").write_text(str(call))
        code = deadly.run(call, how, "-c", _SET_ASIDE, str(repository.root))
        set_aside(place, "code/a")
        listing = ("for-each-ref", "--format=%(refname)", "refs/heads/loop/s/archive")
        kept = repository.git(*listing).splitlines()
        assert sorted(int(repository.shown("new", ref)) for ref in kept) == list(
            range(1, call + 1)
        )
        assert repository.git("branch", "--list", "loop/s/code*") == ""
    assert code == 0
    assert call > 5
