"""Merges that are killed: the target is before or after, and the next run goes on."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from looptasks.core.merge import CheckResult, Dirty, Merged, NothingToMerge
from looptasks.core.worktree import Worktree
from tests.support.deadly_git import DeadlyGit, age_locks
from tests.support.git_repository import Repository, passes
from tests.support.thorough import onwards

_MERGE = """
import sys
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_worktree import Worktrees
from tests.support.deadly_git import DeadlyGit, age_locks
from tests.support.git_repository import passes
root, name = sys.argv[1:]
worktrees = Worktrees(root, "s")
print(Merging(worktrees, "main").merge_back(worktrees.add(name), passes))
"""
# A git that dies amid the removal of a worktree, with the one that started it.
_HALF_REMOVING = """\
#!/bin/sh
case "$*" in
*"worktree remove"*)
    for path; do :; done
    rm "$path/f.txt"
    kill -9 $PPID
    exit 1 ;;
esac
exec "$REAL_GIT" "$@"
"""
_REMOVE = """
import sys
from looptasks.effects.git_worktree import Worktrees
worktrees = Worktrees(sys.argv[1], "s")
worktrees.remove(worktrees.place("w", ""))
"""
# A content filter that kills the git which checks out, amid its files.
_FILTER = """\
#!/bin/sh
if [ -f "$0.armed" ]; then
    rm "$0.armed"
    kill -9 $PPID
    exit 1
fi
cat
"""


def _assert_goes_on(repository: Repository, worktree: Worktree) -> None:
    outcome = repository.merging.merge_back(worktree, passes)
    assert isinstance(outcome, Merged | NothingToMerge)
    assert repository.status == ""
    assert repository.shown(f"{worktree.name}.txt") == worktree.name
    assert (repository.root / f"{worktree.name}.txt").exists()


# Each begins at another call, so that together they try all.
WAYS = ["before", "during", "together"]


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
def test_a_merge_killed_at_any_git_call_is_before_or_after(
    repository: Repository, tmp_path: Path, how: str
) -> None:
    deadly, call, code = DeadlyGit(tmp_path), 0, -9
    for call in onwards(3, WAYS.index(how)):
        name = f"w{call}"
        worktree = repository.work(name, **{name: name})
        before = repository.head
        code = deadly.run(call, how, "-c", _MERGE, str(repository.root), name)
        if how == "together":
            age_locks(repository)
            repository.merging.recover()
        assert repository.status == "", f"killed at call {call}"
        parents = repository.git("log", "-1", "--format=%P", "main").split()
        assert repository.head == before or parents[0] == before
        _assert_goes_on(repository, repository.worktrees.add(name))
        repository.worktrees.remove(worktree)
        if code != -9:
            break
    assert code == 0
    assert call > 15


def test_a_half_removed_worktree_is_not_taken_for_work(
    repository: Repository, tmp_path: Path
) -> None:
    worktree = repository.work("w", w="w")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(_HALF_REMOVING)
    (tmp_path / "bin/git").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environ = os.environ | {"PATH": path, "REAL_GIT": shutil.which("git") or ""}
    command = (sys.executable, "-c", _REMOVE, str(repository.root))
    assert subprocess.run(command, env=environ, check=False).returncode == -9
    assert not Path(worktree.path, "f.txt").exists()
    again = repository.worktrees.add("w")
    assert Path(again.path, "f.txt").exists()
    assert Path(again.path, "w.txt").read_text() == "w"


def _armed(repository: Repository, folder: Path) -> Path:
    script = folder / "filter"
    script.write_text(_FILTER)
    script.chmod(0o755)
    repository.git("config", "filter.deadly.smudge", str(script))
    repository.git("config", "filter.deadly.clean", "cat")
    repository.write(".gitattributes", "m.txt filter=deadly\n")
    repository.write("z.txt", "old\n")
    repository.commit("attributes")
    return folder / "filter.armed"


def _half_way(repository: Repository, folder: Path) -> tuple[Worktree, Path]:
    armed = _armed(repository, folder)
    worktree = repository.work("w", a="new\n", f="changed\n", m="m\n", z="new\n")
    Path(worktree.path, "w.txt").write_text("w")
    return worktree, armed


def test_git_killed_amid_its_checkout_is_taken_back(
    repository: Repository, tmp_path: Path
) -> None:
    worktree, armed = _half_way(repository, tmp_path)

    def arm(folder: str) -> CheckResult:
        armed.touch()
        return passes(folder)

    before = repository.head
    outcome = repository.merging.merge_back(worktree, arm)
    assert isinstance(outcome, Dirty)
    assert not armed.exists()
    assert (repository.head, repository.status) == (before, "")
    _assert_goes_on(repository, worktree)


def _die_half_way(repository: Repository, worktree: Worktree, armed: Path) -> None:
    """Leave what a kill of git and its parent leaves amid the checkout."""
    aside = repository.merging

    def die(folder: str) -> CheckResult:
        armed.touch()
        new = repository.git("rev-parse", "HEAD", at=folder)
        tree, old = str(repository.root), repository.head
        note = f'{{"branch":"main","tree":"{tree}","old":"{old}","new":"{new}"}}'
        repository.write(".loop/advance.json", note)
        command = ("git", "merge", "-q", "--ff-only", new)
        subprocess.run(command, cwd=tree, check=False, stderr=subprocess.DEVNULL)
        return CheckResult(ok=False)

    aside.merge_back(worktree, die)
    age_locks(repository)


def test_the_next_run_takes_back_a_half_done_checkout(
    repository: Repository, tmp_path: Path
) -> None:
    worktree, armed = _half_way(repository, tmp_path)
    before = repository.head
    _die_half_way(repository, worktree, armed)
    assert repository.status != ""
    repository.merging.recover()
    assert (repository.head, repository.status) == (before, "")
    _assert_goes_on(repository, worktree)


def test_taking_back_keeps_what_a_person_wrote_since(
    repository: Repository, tmp_path: Path
) -> None:
    worktree, armed = _half_way(repository, tmp_path)
    _die_half_way(repository, worktree, armed)
    repository.write("f.txt", "mine\n")
    repository.merging.recover()
    assert (repository.root / "f.txt").read_text() == "mine\n"
    assert repository.status == "M f.txt"
    outcome = repository.merging.merge_back(worktree, passes)
    assert isinstance(outcome, Dirty)
    assert outcome.files == ("f.txt",)


def test_taking_back_undoes_files_that_became_folders(
    repository: Repository, tmp_path: Path
) -> None:
    armed = _armed(repository, tmp_path)
    repository.write("a.txt", "a file\n")
    repository.write("*", "a star\n")
    repository.write("untouched", "old\n")
    repository.commit("files")
    worktree = repository.work("w", m="m\n", w="w")
    Path(worktree.path, "a.txt").unlink()
    Path(worktree.path, "a.txt").mkdir()
    Path(worktree.path, "a.txt/inner").write_text("inner\n")
    Path(worktree.path, "*").write_text("changed\n")
    Path(worktree.path, "[u]ntouched").write_text("new\n")
    before = repository.head
    repository.write("untouched", "mine\n")
    _die_half_way(repository, worktree, armed)
    assert (repository.root / "*").read_text() == "changed\n"
    repository.merging.recover()
    assert (repository.head, repository.status) == (before, "M untouched")
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert (repository.root / "untouched").read_text() == "mine\n"


def test_an_old_lock_that_no_git_holds_is_removed(repository: Repository) -> None:
    lock = repository.root / ".git/index.lock"
    lock.touch()
    age_locks(repository)
    worktree = repository.work("w", w="w")
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert not lock.exists()


def test_a_lock_that_a_living_git_holds_is_waited_for(repository: Repository) -> None:
    worktree = repository.work("w", w="w")
    # `git commit -a` holds the lock while its editor is open.
    repository.write("f.txt", "by hand\n")
    editor = os.environ | {"GIT_EDITOR": "sleep 1; echo by hand >"}
    command = ("git", "commit", "-q", "-a")
    with subprocess.Popen(command, cwd=repository.root, env=editor) as committing:
        lock = repository.root / ".git/index.lock"
        while not lock.exists():
            time.sleep(0.01)
        os.utime(lock, (1, 1))
        outcome = repository.merging.merge_back(worktree, passes)
    assert committing.returncode == 0
    assert isinstance(outcome, Merged)
    assert repository.shown("f.txt") == "by hand"
