"""The result branch: begun once, newest while it is empty, gone when it has landed."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from looptasks.core.merge import Merged
from looptasks.core.worktree import tree_name
from looptasks.effects.git_archive import BranchArchive
from looptasks.effects.git_commit import commit_all
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_result import ResultBranch
from looptasks.errors import LoopError
from tests.support.git_repository import Repository, passes

RESULT = "loop/s/result"


def result_of(repository: Repository) -> ResultBranch:
    return ResultBranch(repository.worktrees)


def branches(repository: Repository) -> set[str]:
    listing = ("for-each-ref", "--format=%(refname:strip=2)", "refs/heads/loop")
    return set(repository.git(*listing).split())


def merge(repository: Repository, name: str) -> None:
    worktree = repository.work(name, **{name[-1]: f"{name}\n"})
    merging = Merging(repository.worktrees, RESULT)
    assert isinstance(merging.merge_back(worktree, passes), Merged)
    repository.worktrees.remove(worktree)
    assert repository.worktrees.drop_branch(worktree, RESULT)


def test_a_result_begins_where_the_user_is(repository: Repository) -> None:
    result = result_of(repository)
    assert result.home == ""
    assert result.begin() == RESULT
    assert result.home == "main"
    assert repository.git("rev-parse", RESULT) == repository.head


def test_a_result_without_work_follows_its_home(repository: Repository) -> None:
    result = result_of(repository)
    result.begin()
    repository.write("newer.txt", "newer\n")
    repository.commit("newer")
    repository.git("switch", "-q", "-c", "elsewhere")
    result.begin()
    assert repository.git("rev-parse", RESULT) == repository.head
    assert result.home == "main"


def test_a_result_with_work_stays_as_it_is(repository: Repository) -> None:
    result = result_of(repository)
    result.begin()
    merge(repository, "code+a")
    before = repository.git("rev-parse", RESULT)
    repository.write("newer.txt", "newer\n")
    repository.commit("newer")
    result.begin()
    assert repository.git("rev-parse", RESULT) == before


def test_merging_into_the_result_touches_neither_branch_nor_tree_of_the_user(
    repository: Repository,
) -> None:
    before = repository.head
    result_of(repository).begin()
    merge(repository, "code+a")
    assert (repository.head, repository.status) == (before, "")
    assert not (repository.root / "a.txt").exists()
    assert repository.shown("a.txt", RESULT) == "code+a"


def test_many_that_begin_at_once_begin_one_result(repository: Repository) -> None:
    def begin(number: int) -> str:
        name = result_of(repository).begin()
        return repository.worktrees.add(f"code+{number}", name).base

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(begin, range(4))) == {repository.head}
    assert branches(repository) == {RESULT, *(f"loop/s/code+{n}" for n in range(4))}


def test_a_result_is_dropped_when_its_home_has_it(repository: Repository) -> None:
    result = result_of(repository)
    result.begin()
    merge(repository, "code+a")
    repository.git("merge", "-q", "--no-edit", RESULT)
    result.drop()
    assert branches(repository) == set()
    assert result.home == ""


def test_a_result_whose_work_is_on_other_commits_is_set_aside(
    repository: Repository,
) -> None:
    result = result_of(repository)
    result.begin()
    merge(repository, "code+a")
    repository.git("merge", "-q", "--squash", RESULT)
    repository.git("commit", "-q", "-m", "squashed")
    result.drop()
    assert branches(repository) == {"loop/s/archive/result-1"}


def test_a_result_that_others_need_is_not_dropped(repository: Repository) -> None:
    result = result_of(repository)
    result.begin()
    repository.work("code+a", a="half\n")
    repository.work("ab-1", b="a bead's\n")
    result.drop()
    assert RESULT in branches(repository)
    BranchArchive(repository.worktrees).put("code+a")
    result.drop()
    assert RESULT not in branches(repository)


def test_a_session_that_was_reset_begins_without_its_old_work(
    repository: Repository,
) -> None:
    result_of(repository).begin()
    merge(repository, "code+a")
    commit_all(repository.work("code+b", b="half\n"), "half")
    bead = repository.work("ab-1", c="a bead's\n")
    commit_all(bead, "a bead's")
    shutil.move(repository.root / ".loop/s", repository.root / ".loop/archive-s")
    result_of(repository).begin()
    assert repository.git("rev-parse", RESULT) == repository.head
    again = repository.worktrees.add("code+b", RESULT)
    assert not Path(again.path, "b.txt").exists()
    kept = {"loop/s/archive/code+b-1", "loop/s/archive/result-1", bead.branch}
    assert kept < branches(repository)


def test_a_result_that_was_noted_and_not_made_is_made(repository: Repository) -> None:
    result_of(repository).begin()
    repository.git("update-ref", "-d", f"refs/heads/{RESULT}")
    assert result_of(repository).begin() == RESULT
    assert repository.git("rev-parse", RESULT) == repository.head


def test_a_detached_head_has_no_result(repository: Repository) -> None:
    repository.git("switch", "-q", "--detach")
    with pytest.raises(LoopError, match="HEAD is detached"):
        result_of(repository).begin()


def test_a_tree_that_passed_is_known_until_the_result_is_gone(
    repository: Repository,
) -> None:
    result = result_of(repository)
    result.begin()
    result.note_passed("one")
    assert result.passed("one")
    assert not result.passed("two")
    assert result.home == "main"
    note = json.loads((repository.root / ".loop/s/landing.json").read_text())
    assert note == {"schema": 1, "branch": "main", "passed": "one"}
    result.drop()
    assert not result.passed("one")


def test_work_set_aside_is_kept_and_counted(repository: Repository) -> None:
    archive = BranchArchive(repository.worktrees)
    for count in (1, 2):
        repository.work("code+a", a=f"{count}\n")
        assert archive.put("code+a") == f"loop/s/archive/code+a-{count}"
        assert repository.shown("a.txt", f"loop/s/archive/code+a-{count}") == f"{count}"
    assert archive.put("code+a") == ""
    assert len(repository.git("worktree", "list").splitlines()) == 1


def test_setting_aside_is_finished_after_a_kill_between_its_steps(
    repository: Repository,
) -> None:
    worktree = repository.work("code+a", a="a\n")
    commit_all(worktree, "a")
    repository.git("branch", "loop/s/archive/code+a-1", worktree.branch)
    archive = BranchArchive(repository.worktrees)
    assert archive.put("code+a") == "loop/s/archive/code+a-1"
    assert branches(repository) == {"loop/s/archive/code+a-1"}


def test_what_is_merged_need_not_be_set_aside(repository: Repository) -> None:
    result_of(repository).begin()
    worktree = repository.work("code+a", a="a\n")
    Merging(repository.worktrees, RESULT).merge_back(worktree, passes)
    assert BranchArchive(repository.worktrees).put("code+a", RESULT, "main") == ""
    assert branches(repository) == {RESULT}


def test_branches_of_a_stage_are_those_at_and_below_it(repository: Repository) -> None:
    archive = BranchArchive(repository.worktrees)
    for stage in ("code/db/a", "code/db/b-1", "code/db2/a", "phase/db/a"):
        repository.work(tree_name(stage), x=stage)
    archive.put("code+db+b-1")
    assert archive.of("code/db") == [
        "loop/s/archive/code+db+b-1-1",
        "loop/s/code+db+a",
    ]
    assert archive.of("code/db/b-1") == ["loop/s/archive/code+db+b-1-1"]
    assert archive.of("code/db/b") == []
    assert len(archive.of("code")) == 3


def test_a_sibling_catches_up_with_what_landed(repository: Repository) -> None:
    result_of(repository).begin()
    sibling = repository.work("code+b", b="half\n")
    merge(repository, "code+a")
    assert Merging(repository.worktrees, RESULT).catch_up(sibling)
    assert Path(sibling.path, "a.txt").read_text() == "code+a\n"
    assert Path(sibling.path, "b.txt").read_text() == "half\n"


def test_a_sibling_that_would_collide_is_left_as_it_is(repository: Repository) -> None:
    result_of(repository).begin()
    sibling = repository.work("code+b", a="mine\n")
    merge(repository, "code+a")
    assert not Merging(repository.worktrees, RESULT).catch_up(sibling)
    assert Path(sibling.path, "a.txt").read_text() == "mine\n"
    assert repository.git("status", "--porcelain", at=sibling.path) == ""


def test_a_merge_that_waits_for_its_agent_is_not_caught_up(
    repository: Repository,
) -> None:
    result_of(repository).begin()
    sibling = repository.work("code+b", a="mine\n")
    merge(repository, "code+a")
    merging = Merging(repository.worktrees, RESULT)
    merging.bring_in(sibling)
    assert not merging.catch_up(sibling)
    assert "<<<<<<<" in Path(sibling.path, "a.txt").read_text()
