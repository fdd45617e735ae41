"""Merging back: the target is as before or has all of the work, and is never red."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from looptasks.core.merge import (
    CheckFailed,
    CheckResult,
    Conflict,
    Dirty,
    Merged,
    NothingToMerge,
)
from looptasks.effects.git_merge import Merging
from looptasks.errors import LoopError
from tests.support.git_repository import Repository, passes


def test_a_merge_brings_the_work_into_branch_and_tree(repository: Repository) -> None:
    worktree = repository.work("ab-1", new="work\n")
    outcome = repository.merging.merge_back(worktree, passes, "Merge ab-1: Log in")
    assert outcome == Merged(repository.head)
    assert repository.status == ""
    assert (repository.root / "new.txt").read_text() == "work\n"
    said = repository.git("log", "-1", "--format=%s|%an", "main")
    assert said == "Merge ab-1: Log in|Ann"
    assert len(repository.git("log", "-1", "--format=%p", "main").split()) == 2


def test_work_that_the_target_has_is_not_merged_again(repository: Repository) -> None:
    worktree = repository.work("a", new="work\n")
    repository.merging.merge_back(worktree, passes)
    before = repository.head
    assert repository.merging.merge_back(worktree, passes) == NothingToMerge()
    assert repository.head == before


def test_a_second_merge_keeps_the_first(repository: Repository) -> None:
    first = repository.work("a", a="a\n")
    second = repository.work("b", b="b\n")
    for worktree in (first, second):
        assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert {"a.txt", "b.txt"} <= {p.name for p in repository.root.iterdir()}


def _two_on_one_line(repository: Repository) -> Conflict:
    first = repository.work("a", f="one\nTWO by a\nthree\n")
    second = repository.work("b", f="one\nTWO by b\nthree\n")
    repository.merging.merge_back(first, passes)
    outcome = repository.merging.merge_back(second, passes)
    assert isinstance(outcome, Conflict)
    return outcome


def test_a_conflict_leaves_the_target_untouched(repository: Repository) -> None:
    outcome = _two_on_one_line(repository)
    assert outcome.files == ("f.txt",)
    assert repository.status == ""
    assert repository.shown("f.txt") == "one\nTWO by a\nthree"


def test_a_conflict_tells_hunks_and_commands(repository: Repository) -> None:
    text = _two_on_one_line(repository).text
    for part in ("TWO by a", "TWO by b", "`f.txt`: changed on both", "git merge --no"):
        assert part in text


def test_the_commands_of_a_conflict_resolve_it(repository: Repository) -> None:
    text = _two_on_one_line(repository).text
    worktree = repository.worktrees.add("b")
    commands = [s.strip() for s in text.splitlines() if s.startswith("    git ")]
    subprocess.run(commands[0].split(), cwd=worktree.path, check=False)
    Path(worktree.path, "f.txt").write_text("one\nTWO by both\nthree\n")
    for command in commands[1:]:
        subprocess.run(command.split(), cwd=worktree.path, check=True)
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert repository.shown("f.txt") == "one\nTWO by both\nthree"


def test_bring_in_leaves_markers_that_do_not_merge(repository: Repository) -> None:
    _two_on_one_line(repository)
    before = repository.head
    worktree = repository.worktrees.add("b")
    brought = repository.merging.bring_in(worktree)
    assert isinstance(brought, Conflict)
    assert "git merge" not in brought.text
    assert "<<<<<<<" in Path(worktree.path, "f.txt").read_text()
    outcome = repository.merging.merge_back(worktree, passes)
    assert isinstance(outcome, Conflict)
    assert "still has conflict markers" in outcome.text
    assert repository.head == before


def test_a_conflict_resolved_after_bring_in_merges(repository: Repository) -> None:
    _two_on_one_line(repository)
    worktree = repository.worktrees.add("b")
    repository.merging.bring_in(worktree)
    Path(worktree.path, "f.txt").write_text("one\nTWO by both\nthree\n")
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert repository.shown("f.txt") == "one\nTWO by both\nthree"


def test_bring_in_without_conflict_brings_the_target(repository: Repository) -> None:
    worktree = repository.work("a", a="a\n")
    repository.write("newer.txt", "newer\n")
    repository.commit("newer")
    assert repository.merging.bring_in(worktree) is None
    assert Path(worktree.path, "newer.txt").exists()
    assert repository.merging.bring_in(worktree) is None


def _at_most_two_notes(folder: str) -> CheckResult:
    notes = sorted(p.name for p in Path(folder).glob("note-*"))
    return CheckResult(ok=len(notes) <= 2, output=f"too many: {notes}")


def test_two_green_sides_that_are_red_together_are_undone(
    repository: Repository,
) -> None:
    repository.write("note-0", "0")
    repository.commit("a note")
    first, second = repository.work("a"), repository.work("b")
    Path(first.path, "note-1").touch()
    Path(second.path, "note-2").touch()
    assert _at_most_two_notes(second.path).ok
    repository.merging.merge_back(first, _at_most_two_notes)
    before = repository.head
    outcome = repository.merging.merge_back(second, _at_most_two_notes)
    assert isinstance(outcome, CheckFailed)
    assert "note-2" in outcome.output
    assert (repository.head, repository.status) == (before, "")
    assert not (repository.root / "note-2").exists()


def test_a_failed_check_leaves_nothing_for_the_next(repository: Repository) -> None:
    bad = repository.work("bad", bad="bad\n")
    repository.merging.merge_back(bad, lambda _: CheckResult(ok=False))
    good = repository.work("good", good="good\n")
    seen: list[str] = []

    def looks(folder: str) -> CheckResult:
        seen.extend(p.name for p in Path(folder).iterdir())
        return CheckResult(ok=True)

    assert isinstance(repository.merging.merge_back(good, looks), Merged)
    assert "good.txt" in seen
    assert "bad.txt" not in seen


@pytest.mark.parametrize("name", ["f.txt", "new.txt"])
def test_local_changes_in_the_way_are_named_and_kept(
    repository: Repository, name: str
) -> None:
    worktree = repository.work("a", f="changed\n", new="new\n")
    repository.write(name, "mine\n")
    before = repository.head
    outcome = repository.merging.merge_back(worktree, passes)
    assert isinstance(outcome, Dirty)
    assert outcome.files == (name,)
    assert "git stash" in outcome.text
    assert (repository.root / name).read_text() == "mine\n"
    assert repository.head == before


def test_local_changes_made_during_the_check_are_kept(repository: Repository) -> None:
    worktree = repository.work("a", f="changed\n", new="new\n")

    def meanwhile(folder: str) -> CheckResult:
        repository.write("f.txt", "mine\n")
        return passes(folder)

    before = repository.head
    outcome = repository.merging.merge_back(worktree, meanwhile)
    assert isinstance(outcome, Dirty)
    assert outcome.files == ("f.txt",)
    assert (repository.root / "f.txt").read_text() == "mine\n"
    assert not (repository.root / "new.txt").exists()
    assert repository.head == before


def test_an_ignored_file_is_not_overwritten(repository: Repository) -> None:
    worktree = repository.work("a", secret="from the branch\n")
    repository.merging.bring_in(worktree)
    (repository.root / ".git/info/exclude").write_text("secret.txt\n")
    repository.write("secret.txt", "mine\n")
    outcome = repository.merging.merge_back(worktree, passes)
    assert isinstance(outcome, Dirty)
    assert (repository.root / "secret.txt").read_text() == "mine\n"


def test_unrelated_local_changes_survive_a_merge(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    repository.write("f.txt", "mine\n")
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert (repository.root / "f.txt").read_text() == "mine\n"
    assert repository.status == "M f.txt"


def test_a_commit_made_during_the_check_is_checked_too(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    checked: list[bool] = []

    def meanwhile(folder: str) -> CheckResult:
        checked.append(Path(folder, "other.txt").exists())
        if not checked[-1]:
            repository.write("other.txt", "other\n")
            repository.commit("other")
        return CheckResult(ok=True)

    assert isinstance(repository.merging.merge_back(worktree, meanwhile), Merged)
    assert checked == [False, True]
    assert repository.status == ""


def test_what_has_one_home_is_never_merged(repository: Repository) -> None:
    repository.write(".beads/issues.jsonl", "1\n")
    repository.commit("tracker")
    worktree = repository.work("a", new="new\n")
    Path(worktree.path, ".beads/issues.jsonl").write_text("theirs\n")
    Path(worktree.path, ".beads/more").write_text("theirs\n")
    repository.git("add", "-A", at=worktree.path)
    repository.git("commit", "-qm", "all", at=worktree.path)
    repository.write(".beads/issues.jsonl", "1\n2\n")
    repository.commit("tracker goes on")
    repository.write(".beads/issues.jsonl", "1\n2\n3\n")
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert repository.shown(".beads/issues.jsonl") == "1\n2"
    assert (repository.root / ".beads/issues.jsonl").read_text() == "1\n2\n3\n"
    assert not (repository.root / ".beads/more").exists()


def test_bring_in_is_not_stopped_by_what_has_one_home(repository: Repository) -> None:
    repository.write(".beads/issues.jsonl", "1\n")
    repository.commit("tracker")
    worktree = repository.work("a", new="new\n")
    Path(worktree.path, ".beads/issues.jsonl").write_text("theirs\n")
    repository.write(".beads/issues.jsonl", "2\n")
    repository.commit("tracker goes on")
    assert repository.merging.bring_in(worktree) is None
    assert Path(worktree.path, ".beads/issues.jsonl").read_text() == "2\n"


def test_a_target_that_nobody_shows_moves_alone(repository: Repository) -> None:
    repository.git("branch", "release")
    before = repository.head
    worktree = repository.work("a", new="new\n")
    merging = Merging(repository.worktrees, "release")
    outcome = merging.merge_back(worktree, passes)
    assert outcome == Merged(repository.git("rev-parse", "release"))
    assert (repository.head, repository.status) == (before, "")


def test_a_target_shown_elsewhere_moves_with_its_tree(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("worktree", "add", "-q", "-b", "release", str(tmp_path / "rel"))
    worktree = repository.work("a", new="new\n")
    outcome = Merging(repository.worktrees, "release").merge_back(worktree, passes)
    assert isinstance(outcome, Merged)
    assert (tmp_path / "rel/new.txt").exists()
    assert repository.git("status", "--porcelain", at=tmp_path / "rel") == ""


def test_a_project_in_a_subfolder_is_checked_there(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "whole", "shop")
    worktree = repository.work("a", new="new\n")
    assert Path(worktree.folder, "f.txt").exists()
    assert isinstance(repository.merging.merge_back(worktree, passes), Merged)
    assert repository.shown("shop/new.txt") == "new"


@pytest.mark.parametrize("target", ["-x", "a b", "a..b", "../x", "x.lock", ""])
def test_an_odd_target_is_refused(repository: Repository, target: str) -> None:
    with pytest.raises(LoopError, match="cannot be the branch"):
        Merging(repository.worktrees, target)


def test_a_missing_target_is_said(repository: Repository) -> None:
    worktree = repository.work("a", new="new\n")
    with pytest.raises(LoopError, match="no branch `nope`"):
        Merging(repository.worktrees, "nope").merge_back(worktree, passes)


_ONE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from looptasks.core.merge import Merged
from tests.support.git_repository import passes
from looptasks.effects.git_merge import Merging
from looptasks.effects.git_worktree import Worktrees
root, name = sys.argv[1:]
worktrees = Worktrees(root, "s")
worktree = worktrees.add(name)
Path(worktree.path, name + ".txt").write_text(name)
outcome = Merging(worktrees, "main").merge_back(worktree, passes)
assert isinstance(outcome, Merged), outcome
worktrees.remove(worktree)
"""


def test_threads_that_merge_at_once_lose_nothing(repository: Repository) -> None:
    def merged(name: str) -> bool:
        worktree = repository.work(name, **{name: name})
        return isinstance(repository.merging.merge_back(worktree, passes), Merged)

    names = [f"t{number}" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(merged, names))
    assert {f"{n}.txt" for n in names} <= {p.name for p in repository.root.iterdir()}
    assert repository.status == ""


def test_six_processes_that_merge_at_once_lose_nothing(repository: Repository) -> None:
    names = [f"w{number}" for number in range(6)]
    command = (sys.executable, "-c", _ONE, str(repository.root))
    running = [
        subprocess.Popen((*command, name), stderr=subprocess.PIPE) for name in names
    ]
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()
    assert {f"{n}.txt" for n in names} <= {p.name for p in repository.root.iterdir()}
    assert repository.status == ""
    assert len(repository.git("worktree", "list").splitlines()) == 2
