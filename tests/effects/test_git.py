"""Git calls: they ask nobody, run no hooks, and fail in words."""

import os
from pathlib import Path

import pytest

from looptasks.effects.git import Git
from looptasks.effects.git_worktree import Worktrees
from looptasks.errors import LoopError
from tests.support.git_repository import Repository, passes


def test_a_failure_says_what_git_says(repository: Repository) -> None:
    with pytest.raises(LoopError, match="`git switch` failed: fatal: invalid ref"):
        Git(str(repository.root)).run("switch", "nope")


def test_a_tree_is_clean_whatever_the_session_writes(repository: Repository) -> None:
    git = Git(str(repository.root))
    repository.write(".beads/issues.jsonl", "{}\n")
    repository.write(".loop/s/ledger.jsonl", "{}\n")
    assert git.is_clean()
    repository.write("other.txt", "x")
    assert git.changes() == ["other.txt"]
    assert not git.is_clean()


def test_branch_and_head_are_those_checked_out(repository: Repository) -> None:
    git = Git(str(repository.root))
    assert (git.current_branch(), git.head()) == ("main", repository.head)
    repository.git("switch", "-q", "--detach")
    assert git.current_branch() is None
    assert git.head() == repository.head


def test_variables_of_a_surrounding_git_do_not_count(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert Git(str(repository.root)).head() is not None
    monkeypatch.undo()


def test_no_hook_of_the_repository_runs(repository: Repository) -> None:
    ran = repository.root / "ran"
    for name in ("pre-commit", "commit-msg", "post-checkout", "post-merge"):
        hook = repository.root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> {ran}\nexit 1\n")
        hook.chmod(0o755)
    worktree = repository.work("a", new="new\n")
    repository.merging.merge_back(worktree, passes)
    repository.worktrees.remove(worktree)
    assert repository.shown("new.txt") == "new"
    assert not ran.exists()


def test_work_is_committed_where_nobody_is_configured(repository: Repository) -> None:
    repository.git("config", "--unset", "user.name")
    repository.git("config", "--unset", "user.email")
    repository.merging.merge_back(repository.work("a", new="new\n"), passes)
    said = repository.git("log", "-1", "--format=%an <%ae>", "main")
    assert said == "looptasks <looptasks@localhost>"


def test_signing_and_editors_are_not_asked_for(repository: Repository) -> None:
    repository.git("config", "commit.gpgSign", "true")
    repository.git("config", "gpg.program", "/bin/false")
    repository.git("config", "core.editor", "/bin/false")
    repository.merging.merge_back(repository.work("a", new="new\n"), passes)
    assert repository.shown("new.txt") == "new"


def test_a_stash_of_local_changes_is_never_made(repository: Repository) -> None:
    repository.git("config", "merge.autoStash", "true")
    worktree = repository.work("a", f="theirs\n")
    repository.write("f.txt", "mine\n")
    repository.merging.merge_back(worktree, passes)
    assert (repository.root / "f.txt").read_text() == "mine\n"
    assert repository.git("stash", "list") == ""


def test_no_repository_is_said(tmp_path: Path) -> None:
    git = Git(str(tmp_path))
    assert not git.is_repository()
    with pytest.raises(LoopError, match="no git repository") as raised:
        Worktrees(str(tmp_path), "s").add("a")
    assert "isolation: shared" in raised.value.fix


def test_a_bare_repository_is_said(tmp_path: Path, repository: Repository) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    assert not Git(str(tmp_path / "bare")).is_repository()
    with pytest.raises(LoopError, match="bare repository"):
        Worktrees(str(tmp_path / "bare"), "s").target()


def test_git_that_is_not_installed_is_said(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    git = Git(str(repository.root))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LoopError, match="git cannot be started"):
        git.head()


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(LoopError, match="no such folder"):
        Git(str(tmp_path / "gone")).head()


def test_a_closed_git_never_works_in_the_repository_around(
    repository: Repository,
) -> None:
    inner = repository.root / "inner"
    inner.mkdir()
    assert Git(str(inner)).top() == os.path.realpath(repository.root)
    with pytest.raises(LoopError, match="no git repository"):
        Git(str(inner), closed=True).top()
