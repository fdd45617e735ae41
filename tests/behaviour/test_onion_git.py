"""Instances in worktrees: they come together on a branch, which lands as a whole."""

from pathlib import Path

import pytest

from tests.support.onion_project import OnionProject

WISH = {s: {f"{s}{n}": f"do {s}{n}" for n in (1, 2)} for s in ("a", "b")}
FILES = ["a1.txt", "a2.txt", "b1.txt", "b2.txt"]


@pytest.fixture
def onion(tmp_path: Path) -> OnionProject:
    project = OnionProject(tmp_path / "onion")
    project.wish(WISH)
    project.track()
    return project


def written(project: OnionProject, commit: str = "HEAD") -> list[str]:
    found = project.git("ls-tree", "-r", "--name-only", commit, "--", "out")
    return [name.removeprefix("out/") for name in found.split()]


def test_the_whole_lands_on_the_users_branch(onion: OnionProject) -> None:
    ran = onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert written(onion) == FILES
    assert onion.read("out", "b2.txt") == "do b2\n"
    assert onion.git("status", "--porcelain") == ""
    assert onion.git("branch", "--list", "loop/*") == ""
    assert "complete" in ran.last
    onion.new_runs()
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert onion.new_runs() == []


def test_nothing_lands_while_a_part_is_missing(onion: OnionProject) -> None:
    onion.write("fail.code.b1", "")
    onion.layers(code={"attempts": 1})
    onion.git("commit", "-qam", "one attempt")
    first = onion.git("rev-parse", "HEAD")
    assert onion.doit("-n", "3", "pipeline:onion", "session=s").code == 1
    assert onion.git("rev-parse", "HEAD") == first
    assert not onion.path("out").exists()
    assert "a1.txt" in written(onion, "loop/s/result")
    assert "branch    loop/s/result" in onion.ok("status", "session=s").out
    onion.path("fail.code.b1").unlink()
    onion.new_runs()
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert onion.new_runs() == ["code:b1"]
    assert written(onion) == FILES


def test_what_lands_is_no_change_of_what_the_plan_reads(onion: OnionProject) -> None:
    onion.layers(plan={"reads": ["wish.json", "out"]}, code={"reads": ["out"]})
    onion.git("commit", "-qam", "the plan looks at what there is")
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    onion.new_runs()
    said = onion.ok("explain", "session=s", "--json").json
    fates = {o["fate"] for entry in said["entries"] for o in entry["stages"]}
    assert fates == {"rest"}
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert onion.new_runs() == []
    onion.write("out/a1.txt", "changed by a person\n")
    onion.git("commit", "-qam", "by hand")
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert onion.new_runs() == ["plan"]


def test_manual_leaves_the_branch_alone_and_prints_the_one_command(
    onion: OnionProject,
) -> None:
    onion.layers(code={"merge": "manual"})
    onion.git("commit", "-qam", "by hand")
    first = onion.git("rev-parse", "HEAD")
    ran = onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert onion.git("rev-parse", "HEAD") == first
    assert ran.last.endswith("git merge loop/s/result")
    again = onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert again.last.endswith("git merge loop/s/result")
    onion.git("merge", "-q", "loop/s/result")
    assert written(onion) == FILES
    assert "git merge" not in onion.ok("pipeline:onion", "session=s").last
    assert onion.git("branch", "--list", "loop/*") == ""


def test_a_changed_spec_lands_again_and_its_old_work_is_kept(
    onion: OnionProject,
) -> None:
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    onion.new_runs()
    changed = {"a": WISH["a"], "b": {name: f"{t}!" for name, t in WISH["b"].items()}}
    onion.wish(changed)
    onion.git("commit", "-qam", "another wish")
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert onion.new_runs() == sorted(
        ["plan", "spec:b", "phase:b1", "phase:b2", "code:b1", "code:b2"]
    )
    assert onion.read("out", "b1.txt") == "do b1!\n"
    assert onion.read("out", "a1.txt") == "do a1\n"
    assert onion.git("status", "--porcelain") == ""


def test_a_dirty_tree_keeps_the_result_waiting(onion: OnionProject) -> None:
    onion.layers(code={"isolation": "worktree"})
    onion.git("commit", "-qam", "worktrees")
    onion.write("out/a1.txt", "mine\n")
    ran = onion.doit("-n", "3", "pipeline:onion", "session=s")
    assert ran.code == 4, ran
    assert "waiting" in ran.last
    assert onion.read("out", "a1.txt") == "mine\n"
    onion.path("out", "a1.txt").unlink()
    onion.ok("-n", "3", "pipeline:onion", "session=s")
    assert written(onion) == FILES
