"""HEAD is read as git itself would tell it, without starting git."""

import subprocess
from pathlib import Path

import pytest

from looptasks.effects.git_head import head_commit


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "one")
    return folder


def commit(folder: Path, text: str) -> str:
    git(folder, "commit", "-q", "--allow-empty", "-m", text)
    return git(folder, "rev-parse", "HEAD")


def test_a_branch_is_followed(repository: Path) -> None:
    assert head_commit(str(repository)) == git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "-b", "feature/with/slashes")
    new = commit(repository, "two")
    assert head_commit(str(repository)) == new


def test_a_detached_head_is_itself(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    commit(repository, "two")
    git(repository, "checkout", "-q", "--detach", first)
    assert head_commit(str(repository)) == first


def test_packed_refs_are_found_and_loose_ones_win(repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "-a", "v1", "-m", "annotated")
    git(repository, "pack-refs", "--all")
    assert not (repository / ".git/refs/heads/main").exists()
    assert head_commit(str(repository)) == first
    assert head_commit(str(repository)) != commit(repository, "two")
    assert head_commit(str(repository)) == git(repository, "rev-parse", "HEAD")


def test_a_worktree_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", "-b", "side", str(tree))
    mine = commit(tree, "in the tree")
    assert head_commit(str(tree)) == mine
    assert head_commit(str(repository)) != mine
    git(repository, "pack-refs", "--all")
    assert head_commit(str(tree)) == mine


def test_a_folder_below_belongs_to_the_repository(repository: Path) -> None:
    below = repository / "a/b"
    below.mkdir(parents=True)
    assert head_commit(str(below)) == git(repository, "rev-parse", "HEAD")


def test_a_submodule_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    local = ("-c", "protocol.file.allow=always")
    git(outer, *local, "submodule", "--quiet", "add", str(repository), "inner")
    assert head_commit(str(outer / "inner")) == git(repository, "rev-parse", "HEAD")


def test_a_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert head_commit(str(tmp_path)) is None


def test_outside_of_git_there_is_no_head(tmp_path: Path) -> None:
    assert head_commit(str(tmp_path)) is None
    assert head_commit(str(tmp_path / "missing")) is None


@pytest.mark.parametrize("text", ["", "gitdir: nowhere", "nonsense"])
def test_a_damaged_repository_has_no_head(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert head_commit(str(tmp_path)) is None
