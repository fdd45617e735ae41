"""Worktrees: work in them is never lost, and never in the main tree."""

import os
import shutil
from pathlib import Path

import pytest

from looptasks.core.merge import Merged
from looptasks.core.worktree import Worktree
from looptasks.effects.git_commit import UnresolvedMerge, commit_all
from looptasks.effects.git_worktree import Worktrees
from looptasks.errors import LoopError
from tests.support.git_repository import Repository, passes


def _rescued(repository: Repository) -> list[str]:
    listing = ("for-each-ref", "--format=%(refname)", "refs/loop/rescued/")
    return repository.git(*listing).splitlines()


def test_a_worktree_is_a_checkout_on_its_own_branch(repository: Repository) -> None:
    worktree = repository.worktrees.add("ab-1.2")
    assert worktree.branch == "loop/s/ab-1.2"
    assert worktree.base == repository.head
    assert Path(worktree.path, "f.txt").read_text() == "one\ntwo\nthree\n"
    assert repository.git("branch", "--show-current", at=worktree.path) == (
        worktree.branch
    )
    assert repository.status == ""


def test_worktrees_are_unseen_where_nothing_is_ignored(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "bare-bones")
    repository.git("rm", "-q", ".loop/.gitignore")
    repository.git("commit", "-qm", "no ignoring")
    repository.work("a", new="new\n")
    repository.git("add", "-A")
    assert "s/worktrees" not in repository.git("ls-files")


def test_a_start_can_be_named(repository: Repository) -> None:
    first = repository.head
    repository.write("later.txt", "later\n")
    repository.commit("later")
    worktree = repository.worktrees.add("a", first)
    assert worktree.base == first
    assert not Path(worktree.path, "later.txt").exists()


def test_a_commit_leaves_out_what_has_one_home(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    for name in (".beads/issues.jsonl", ".loop/README.md"):
        Path(worktree.path, name).parent.mkdir(exist_ok=True)
        Path(worktree.path, name).write_text("here\n")
    repository.git("add", "-Af", at=worktree.path)
    commit = commit_all(worktree, "work")
    assert commit is not None
    shown = repository.git("show", "--format=", "--name-only", commit)
    assert shown == "new.txt"
    assert commit_all(worktree, "again") is None


def test_a_commit_holds_deletions_and_odd_names(repository: Repository) -> None:
    worktree = repository.worktrees.add("a")
    Path(worktree.path, "f.txt").unlink()
    Path(worktree.path, "-x *é\n.txt").write_text("odd\n")
    assert commit_all(worktree, "work") is not None
    assert repository.git("status", "--porcelain", at=worktree.path) == ""


def test_work_goes_on_in_a_worktree_that_a_dead_run_left(
    repository: Repository,
) -> None:
    repository.work("a", new="half\n")
    again = repository.worktrees.add("a")
    assert Path(again.path, "new.txt").read_text() == "half\n"
    assert repository.shown("new.txt", again.branch) == "half"
    said = repository.git("log", "-1", "--format=%s", again.branch)
    assert said == "Work of a that an interrupted run left"


def test_work_goes_on_from_the_branch_of_a_removed_worktree(
    repository: Repository,
) -> None:
    repository.worktrees.remove(repository.work("a", new="half\n"))
    again = repository.worktrees.add("a")
    assert Path(again.path, "new.txt").read_text() == "half\n"
    assert again.base == repository.head


def test_a_branch_without_work_of_its_own_starts_at_the_newest(
    repository: Repository,
) -> None:
    worktree = repository.work("a", new="new\n")
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    again = repository.worktrees.add("a")
    assert again.base == repository.head
    assert repository.git("rev-parse", again.branch) == repository.head


def test_removing_commits_what_is_uncommitted(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    commit = repository.worktrees.remove(worktree)
    assert not Path(worktree.path).exists()
    assert commit == repository.git("rev-parse", worktree.branch)
    assert repository.shown("new.txt", worktree.branch) == "new"
    assert len(repository.git("worktree", "list").splitlines()) == 1


def test_removing_twice_is_harmless(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    repository.worktrees.remove(worktree)
    assert repository.worktrees.remove(worktree) is None


def test_removing_keeps_a_tracker_that_was_written_to(repository: Repository) -> None:
    repository.write(".beads/issues.jsonl", "1\n")
    repository.commit("tracker")
    worktree = repository.worktrees.add("a")
    Path(worktree.path, ".beads/issues.jsonl").write_text("2\n")
    repository.worktrees.remove(worktree)
    (kept,) = _rescued(repository)
    assert repository.shown(".beads/issues.jsonl", kept) == "2"


def test_a_sweep_keeps_work_and_the_living(repository: Repository) -> None:
    dead = repository.work("dead", new="dead\n")
    living = repository.work("living", new="living\n")
    (swept,) = repository.worktrees.sweep({"living"})
    assert (swept.name, swept.problem) == ("dead", "")
    assert repository.shown("new.txt", dead.branch) == "dead"
    assert not Path(dead.path).exists()
    assert Path(living.path, "new.txt").exists()
    assert repository.git("diff", "main", living.branch) == ""


def test_a_sweep_forgets_checkouts_that_somebody_deleted(
    repository: Repository,
) -> None:
    worktree = repository.work("a", new="new\n")
    commit_all(worktree, "work")
    shutil.rmtree(worktree.path)
    repository.worktrees.sweep()
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert Path(repository.worktrees.add("a").path, "new.txt").exists()


def test_a_deleted_checkout_is_made_again(repository: Repository) -> None:
    worktree = repository.worktrees.add("a")
    shutil.rmtree(worktree.path)
    assert Path(repository.worktrees.add("a").path, "f.txt").exists()


def test_a_checkout_that_was_never_complete_is_no_work(repository: Repository) -> None:
    worktree = repository.worktrees.add("a")
    Path(repository.root, ".git/worktrees/a/looptasks-ready").unlink()
    Path(repository.root, ".git/worktrees/a/locked").write_text("initializing")
    Path(worktree.path, "f.txt").unlink()
    again = repository.worktrees.add("a")
    assert Path(again.path, "f.txt").exists()
    assert repository.git("rev-parse", again.branch) == repository.head


def test_a_folder_that_git_does_not_know_is_archived(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    Path(worktree.path, ".git").unlink()
    repository.git("worktree", "prune")
    repository.worktrees.sweep()
    archived = list((repository.root / ".loop/archive/s").iterdir())
    assert [path.name for path in archived] == ["worktree-a-1"]
    assert (archived[0] / "new.txt").read_text() == "new\n"


def test_a_moved_project_finds_its_worktrees(repository: Repository) -> None:
    repository.work("a", new="new\n")
    moved = repository.top.rename(repository.top.with_name("moved"))
    worktree = Worktrees(str(moved), "s").add("a")
    assert worktree.path.startswith(os.path.realpath(moved))
    assert Path(worktree.path, "new.txt").read_text() == "new\n"


def _switched(repository: Repository, *how: str) -> Worktree:
    worktree = repository.work("a", first="first\n")
    commit_all(worktree, "first")
    repository.git("switch", "-q", *how, at=worktree.path)
    Path(worktree.path, "second.txt").write_text("second\n")
    return worktree


def test_work_on_a_branch_that_the_agent_made_counts(repository: Repository) -> None:
    worktree = _switched(repository, "-c", "my-own")
    commit_all(worktree, "second")
    assert repository.shown("second.txt", worktree.branch) == "second"
    assert repository.shown("first.txt", worktree.branch) == "first"


def test_a_look_at_an_older_commit_loses_nothing(repository: Repository) -> None:
    worktree = _switched(repository, "--detach", "HEAD~1")
    commit_all(worktree, "second")
    assert repository.shown("first.txt", worktree.branch) == "first"
    assert repository.shown("second.txt", _rescued(repository)[0]) == "second"


def test_an_unfinished_rebase_loses_nothing(repository: Repository) -> None:
    worktree = repository.work("a", f="a\n", first="first\n")
    commit_all(worktree, "first")
    repository.write("f.txt", "main\n")
    repository.commit("main")
    with pytest.raises(AssertionError):
        repository.git("rebase", "-q", "main", at=worktree.path)
    Path(worktree.path, "second.txt").write_text("second\n")
    again = repository.worktrees.add("a")
    assert repository.shown("first.txt", again.branch) == "first"
    assert repository.shown("second.txt", _rescued(repository)[0]) == "second"
    assert not Path(repository.root, ".git/worktrees/a/rebase-merge").exists()


def test_an_unfinished_merge_is_set_aside_and_not_committed(
    repository: Repository,
) -> None:
    worktree = repository.work("a", f="a\n")
    repository.write("f.txt", "main\n")
    repository.commit("main")
    repository.merging.bring_in(worktree)
    with pytest.raises(UnresolvedMerge) as raised:
        commit_all(worktree, "work")
    assert raised.value.files == ("f.txt",)
    again = repository.worktrees.add("a")
    assert Path(again.path, "f.txt").read_text() == "a\n"
    assert "<<<<<<<" in repository.shown("f.txt", _rescued(repository)[0])


def test_a_repository_inside_of_a_worktree_is_said_and_kept(
    repository: Repository,
) -> None:
    worktree = repository.worktrees.add("a")
    inner = Path(worktree.path, "inner")
    inner.mkdir()
    repository.git("init", "-q", at=inner)
    (inner / "x").write_text("x")
    repository.git("add", "-A", at=inner)
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    repository.git(*named, "commit", "-qm", "x", at=inner)
    with pytest.raises(LoopError, match="`inner` is a git repository inside"):
        commit_all(worktree, "work")
    (swept,) = repository.worktrees.sweep()
    assert "`inner`" in swept.problem
    assert (inner / "x").exists()


def test_a_branch_is_dropped_only_when_merged(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    commit_all(worktree, "work")
    worktrees = repository.worktrees
    assert not worktrees.drop_branch(worktree, "main")
    repository.merging.merge_back(worktree, passes)
    worktrees.remove(worktree)
    assert worktrees.drop_branch(worktree, "main")
    assert repository.git("branch", "--list", "loop/*") == ""


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a b", "-x", "a..b", "a.", "a.lock", "a~1", "é", "@"]
)
def test_odd_names_are_refused(repository: Repository, name: str) -> None:
    with pytest.raises(LoopError, match="cannot be part of a branch"):
        repository.worktrees.add(name)
    with pytest.raises(LoopError, match="cannot be part of a branch"):
        Worktrees(str(repository.root), name)


def test_a_start_that_is_no_commit_is_said(repository: Repository) -> None:
    with pytest.raises(LoopError, match="`--all` is no commit"):
        repository.worktrees.add("a", "--all")


def test_a_repository_without_commits_is_said(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "unborn")
    repository.git("update-ref", "-d", "HEAD")
    with pytest.raises(LoopError, match="no commit yet"):
        repository.worktrees.target()
    with pytest.raises(LoopError, match="no commit yet"):
        repository.worktrees.add("a")


def test_a_detached_head_is_no_target(repository: Repository) -> None:
    assert repository.worktrees.target() == "main"
    repository.git("switch", "-q", "--detach")
    with pytest.raises(LoopError, match="HEAD is detached"):
        repository.worktrees.target()


def test_submodules_are_refused(repository: Repository) -> None:
    repository.write(".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ./x\n')
    repository.commit("submodule")
    with pytest.raises(LoopError, match="submodules"):
        repository.worktrees.add("a")
