"""An onion whose plan iterates again while inner work is still running."""

import time
from pathlib import Path

import pytest

from tests.support.onion_project import OnionProject

WISH = {s: {f"{s}{n}": f"do {s}{n}" for n in (1, 2, 3)} for s in ("a", "b", "c")}
CHANGED = {**WISH, "b": {name: f"{text}!" for name, text in WISH["b"].items()}}
CALLS = 1 + 3 + 9 + 9


@pytest.fixture
def onion(tmp_path: Path) -> OnionProject:
    project = OnionProject(tmp_path / "onion")
    project.wish(WISH)
    return project


def until(project: OnionProject, *calls: str) -> None:
    deadline = time.monotonic() + 60
    while not set(calls) <= set(project.runs()):
        assert time.monotonic() < deadline, project.runs()
        time.sleep(0.05)


def hold(project: OnionProject, *calls: str) -> None:
    for call in calls:
        project.write(f"gates/{call}", "")


def free(project: OnionProject) -> None:
    for path in project.path("gates").iterdir():
        path.unlink()


def look_again(project: OnionProject, *words: str) -> None:
    """Have the plan iterate, with nothing else to say, while a code agent works."""
    hold(project, "code.a2")
    running = project.start("-n", "4", *words, "pipeline:onion", "session=s")
    until(project, "code:a2")
    project.ok("iterate", "plan", "session=s", "feedback=look again")
    free(project)
    running.communicate(timeout=120)
    assert running.returncode == 0


def half_way(project: OnionProject, *words: str) -> list[str]:
    """Have the plan iterate while two code agents are at work; return all calls."""
    hold(project, "code.a2", "code.b2")
    running = project.start("-n", "4", "pipeline:onion", "session=s", *words)
    until(project, "code:a2", "code:b2")
    project.wish(CHANGED)
    told = project.ok("iterate", "plan", "session=s", "feedback=b needs more")
    free(project)
    said, _ = running.communicate(timeout=120)
    assert running.returncode == 0, (said, told)
    return project.new_runs()


def test_only_the_changed_subtree_is_repeated_in_the_same_run(
    onion: OnionProject,
) -> None:
    calls = half_way(onion)
    assert calls.count("plan") == 2
    for name in ("a1", "a2", "a3", "c1", "c2", "c3"):
        assert calls.count(f"code:{name}") == 1, calls
        assert calls.count(f"phase:{name}") == 1, calls
    assert calls.count("spec:b") == 2
    assert calls.count("phase:b2") == 2
    assert "coded do b2!" in onion.output("s", "code/b/b2")
    assert "coded do b2\n" in onion.archived("s")
    onion.ok("pipeline:onion", "session=s")
    assert onion.new_runs() == []


def test_what_came_out_of_it_is_what_an_undisturbed_run_makes(
    onion: OnionProject, tmp_path: Path
) -> None:
    half_way(onion)
    calm = OnionProject(tmp_path / "calm")
    calm.wish(CHANGED)
    calm.ok("pipeline:onion", "session=s")
    for stage in ("spec/b/output/spec.json", "code/b/b3/output/output.md"):
        assert onion.read(".loop/s", stage) == calm.read(".loop/s", stage)
    assert onion.read(".loop/s/plan/output/plan.json") == calm.read(
        ".loop/s/plan/output/plan.json"
    )


def test_a_plan_that_comes_out_the_same_repeats_nothing_below(
    onion: OnionProject,
) -> None:
    look_again(onion)
    calls = onion.new_runs()
    assert calls.count("plan") == 2
    assert len(calls) == CALLS + 1


def test_a_removed_spec_is_archived_while_others_run(onion: OnionProject) -> None:
    hold(onion, "code.a2", "code.b2")
    running = onion.start("-n", "4", "pipeline:onion", "session=s")
    until(onion, "code:a2", "code:b2")
    onion.wish({name: WISH[name] for name in ("a", "c")})
    onion.ok("iterate", "plan", "session=s", "feedback=drop b")
    free(onion)
    running.communicate(timeout=120)
    assert running.returncode == 0
    assert not onion.session("s", "code", "b", "b2").exists()
    assert onion.output("s", "code/a/a2")
    assert onion.ledger("s", "end")[-1]["exit"] == 0


def test_with_now_the_running_descendants_are_stopped_at_once(
    onion: OnionProject,
) -> None:
    onion.layers(plan={"invalidate": "now"})
    hold(onion, "code.a2", "code.b2")
    running = onion.start("-n", "4", "pipeline:onion", "session=s")
    until(onion, "code:a2", "code:b2")
    onion.wish(CHANGED)
    onion.ok("iterate", "plan", "session=s", "feedback=b needs more")
    # Nobody frees them: they are ended, and what is not stale is begun again.
    deadline = time.monotonic() + 60
    while onion.runs().count("plan") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    free(onion)
    running.communicate(timeout=120)
    assert running.returncode == 0
    assert "coded do b2!" in onion.output("s", "code/b/b2")
    stopped = [e for e in onion.ledger("s", "attempt") if e["verdict"] == "interrupted"]
    assert {e["stage"] for e in stopped} >= {"code/a/a2", "code/b/b2"}


def test_another_round_repeats_no_ordinary_task(onion: OnionProject) -> None:
    onion.write(
        "dodo.py",
        'def task_note():\n    return {"actions": ["echo noted >> notes.log"]}\n',
    )
    look_again(onion, "note")
    assert onion.runs().count("plan") == 2
    assert onion.read("notes.log").split() == ["noted"]


def test_to_run_everything_again_means_once(onion: OnionProject) -> None:
    onion.ok("-n", "4", "pipeline:onion", "session=s")
    onion.new_runs()
    look_again(onion, "-a")
    calls = onion.new_runs()
    assert calls.count("plan") == 2
    assert len(calls) == CALLS + 1, calls
