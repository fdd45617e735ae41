"""The onion in real doit processes: what is repeated when a layer changes."""

from pathlib import Path

import pytest

from tests.support.onion_project import OnionProject

WISH = {
    spec: {f"{spec}{number}": f"do {spec}{number}" for number in (1, 2, 3)}
    for spec in ("a", "b", "c")
}
PHASES = [f"{spec}{number}" for spec in "abc" for number in (1, 2, 3)]


@pytest.fixture
def onion(tmp_path: Path) -> OnionProject:
    """Return a project with three specs of three phases, all done."""
    project = OnionProject(tmp_path / "onion")
    project.wish(WISH)
    project.ok("-n", "2", "pipeline:onion", "session=s")
    assert project.new_runs() == everything()
    return project


def everything() -> list[str]:
    calls = ["plan", *(f"spec:{spec}" for spec in "abc")]
    calls += [f"{kind}:{name}" for kind in ("phase", "code") for name in PHASES]
    return sorted(calls)


def subtree(spec: str) -> list[str]:
    names = [f"{spec}{number}" for number in (1, 2, 3)]
    below = [f"{kind}:{name}" for kind in ("phase", "code") for name in names]
    return sorted([f"spec:{spec}", *below])


def again(project: OnionProject) -> list[str]:
    project.ok("-n", "2", "pipeline:onion", "session=s")
    return project.new_runs()


def test_a_finished_onion_does_nothing(onion: OnionProject) -> None:
    assert again(onion) == []


def test_one_changed_spec_repeats_its_subtree_alone(onion: OnionProject) -> None:
    onion.wish({**WISH, "b": {name: f"{text}!" for name, text in WISH["b"].items()}})
    assert again(onion) == sorted(["plan", *subtree("b")])
    assert again(onion) == []
    assert "coded do b1!" in onion.output("s", "code/b/b1")


def test_an_identical_plan_repeats_nothing(onion: OnionProject) -> None:
    onion.write("wish.json", onion.read("wish.json") + "\n")
    assert again(onion) == ["plan"]
    assert again(onion) == []


def test_a_removed_spec_is_archived_with_all_below_it(onion: OnionProject) -> None:
    onion.wish({name: phases for name, phases in WISH.items() if name != "b"})
    said = onion.doit("explain", "session=s").out
    assert again(onion) == ["plan"]
    assert not onion.session("s", "spec", "b").exists()
    assert not onion.session("s", "code", "b", "b1").exists()
    assert "coded do b1\n" in onion.archived("s")
    assert again(onion) == []
    assert "stage:plan:0001" in said


def test_a_spec_that_returns_is_done_anew(onion: OnionProject) -> None:
    onion.wish({name: phases for name, phases in WISH.items() if name != "b"})
    again(onion)
    onion.wish(WISH)
    assert again(onion) == sorted(["plan", *subtree("b")])


def test_an_added_spec_is_all_that_runs(onion: OnionProject) -> None:
    onion.wish({**WISH, "d": {"d1": "do d1"}})
    assert again(onion) == ["code:d1", "phase:d1", "plan", "spec:d"]


def test_a_phase_edited_by_hand_repeats_its_code_alone(onion: OnionProject) -> None:
    onion.edit("phase/b/b2", "phase", {"objective": "do b2 otherwise"})
    said = onion.doit("explain", "session=s", "--json").json
    due = {o["task"]: o["fate"] for e in said["entries"] for o in e["stages"]}
    assert [task for task, fate in due.items() if fate == "run" and ":b" in task] == [
        "stage:code:b:b2"
    ]
    assert again(onion) == ["code:b2"]
    assert "otherwise" in onion.output("s", "code/b/b2")


def test_a_spec_edited_by_hand_repeats_the_phases_that_changed(
    onion: OnionProject,
) -> None:
    spec = onion.json("s", "spec", "a", "output", "spec.json")
    spec["phases"][0]["description"] = "do a1 with care"
    onion.edit("spec/a", "spec", spec)
    assert again(onion) == ["code:a1", "phase:a1"]


def test_a_broken_artifact_is_told_before_anything_runs(onion: OnionProject) -> None:
    onion.session("s", "spec", "a", "output", "spec.json").write_text("{")
    ran = onion.doit("pipeline:onion", "session=s")
    assert ran.code == 3, ran
    assert ".loop/s/spec/a/output/spec.json" in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err
    assert onion.new_runs() == []


def test_finished_descendants_of_a_changed_spec_are_called_invalidated(
    onion: OnionProject,
) -> None:
    onion.wish({**WISH, "b": {name: f"{text}!" for name, text in WISH["b"].items()}})
    onion.ok("stage:plan", "session=s")
    assert onion.new_runs() == ["plan"]
    for name in ("spec/b", "phase/b/b1", "code/b/b3"):
        state = onion.state("s", name)
        assert state["status"] == "invalidated", name
        assert "`b` of stage:plan changed" in state["completion_reason"]
    assert onion.state("s", "code/a/a1")["status"] == "complete"
    assert again(onion) == subtree("b")
    assert onion.state("s", "code/b/b3")["status"] == "complete"


def test_a_descendant_that_comes_out_the_same_holds_again(onion: OnionProject) -> None:
    plan = onion.json("s", "plan", "output", "plan.json")
    plan["specs"][1]["title"] = "another title for b"
    onion.edit("plan", "plan", plan)
    assert again(onion) == ["spec:b"]
    assert onion.state("s", "code/b/b1")["status"] == "complete"
    assert again(onion) == []


def test_specs_wait_for_those_that_they_depend_on(tmp_path: Path) -> None:
    project = OnionProject(tmp_path / "onion")
    wish = {"a": {"a1": "x"}, "b": {"b1": "x"}}
    project.wish({**wish, "_after": {"a": ["b"]}})
    project.ok("-n", "4", "pipeline:onion", "session=s")
    order = project.runs()
    assert order.index("spec:b") < order.index("spec:a")
    assert order.index("code:b1") < order.index("code:a1")


def test_in_order_runs_the_phases_of_a_spec_one_after_the_other(tmp_path: Path) -> None:
    project = OnionProject(tmp_path / "onion")
    project.layers(code={"in_order": True})
    project.wish({"a": {"a3": "x", "a1": "y", "a2": "z"}})
    project.ok("-n", "4", "pipeline:onion", "session=s")
    codes = [run for run in project.runs() if run.startswith("code")]
    assert codes == ["code:a1", "code:a2", "code:a3"]


def test_one_instance_can_be_asked_for_by_name(onion: OnionProject) -> None:
    changed = {name: {n: f"{t}!" for n, t in p.items()} for name, p in WISH.items()}
    onion.wish(changed)
    onion.ok("stage:code:b:b2", "session=s")
    assert onion.new_runs() == ["code:b2", "phase:b2", "plan", "spec:b"]
    onion.ok("stage:code:b", "session=s")
    assert onion.new_runs() == ["code:b1", "code:b3", "phase:b1", "phase:b3"]


def test_an_unknown_instance_is_told_with_what_is_near(onion: OnionProject) -> None:
    ran = onion.doit("stage:code:b:b9", "session=s")
    assert ran.code == 3
    assert "no `stage:code:b:b9`" in ran.out + ran.err
    assert "stage:code:b:b1" in ran.out + ran.err


def test_one_failing_instance_lets_the_others_finish(tmp_path: Path) -> None:
    project = OnionProject(tmp_path / "onion")
    project.layers(spec={"attempts": 1})
    project.wish(WISH)
    project.write("fail.spec.b", "")
    ran = project.doit("-n", "2", "pipeline:onion", "session=s")
    assert ran.code == 1
    assert "stage:spec:b" in ran.last or "spec/b" in ran.last
    done = set(everything()) - set(subtree("b")) | {"spec:b"}
    assert project.new_runs() == sorted(done)
    project.path("fail.spec.b").unlink()
    assert again(project) == subtree("b")


def test_a_failed_child_makes_its_parent_iterate_with_its_words(tmp_path: Path) -> None:
    project = OnionProject(tmp_path / "onion")
    project.layers(spec={"on_child_failure": "iterate"}, phase={"attempts": 1})
    project.wish({"a": {"a1": "x", "a2": "y"}})
    project.write("fail.phase.a1", "")
    ran = project.doit("pipeline:onion", "session=s")
    assert ran.code == 1
    runs = project.new_runs()
    assert runs.count("spec:a") == 2, runs
    assert runs.count("code:a2") == 1
    prompt = project.session("s", "spec", "a", "iterations", "0002", "prompt.md")
    assert prompt.exists()
    assert "stage:phase:a:a1 failed for good" in project.read(
        ".loop", "s", "spec", "a", "progress.md"
    )


def test_a_failed_child_is_tried_again_as_often_as_declared(tmp_path: Path) -> None:
    project = OnionProject(tmp_path / "onion")
    policy = {"on_child_failure": {"do": "retry", "limit": 2}}
    project.layers(spec=policy, phase={"attempts": 1})
    project.wish({"a": {"a1": "x"}})
    project.write("fail.phase.a1", "")
    ran = project.doit("pipeline:onion", "session=s")
    assert ran.code == 1
    assert project.new_runs().count("phase:a1") == 3


def test_work_that_begins_anew_can_see_what_it_replaces(onion: OnionProject) -> None:
    onion.layers(plan={"prompt": "ARTIFACT=${ARTIFACT}\n---\n[${ARTIFACT.previous}]"})
    onion.wish({**WISH, "d": {"d1": "do d1"}})
    again(onion)
    prompt = onion.prompt("s", "plan", 1)
    before = Path(prompt.partition("[")[2].partition("]")[0])
    assert before.is_relative_to(onion.path(".loop", "archive", "s"))
    assert '"d1"' not in before.read_text()


def test_an_artifact_edited_by_hand_is_rendered_again(onion: OnionProject) -> None:
    plan = onion.json("s", "plan", "output", "plan.json")
    plan["specs"][1]["title"] = "another title for b"
    onion.edit("plan", "plan", plan)
    again(onion)
    assert "another title" in onion.read(".loop/s/plan/output/plan.md")
    assert "another title" in onion.read(".loop/s/plan/entries/specs/b.json")


def test_status_and_board_show_instances_below_their_stage(onion: OnionProject) -> None:
    onion.wish({name: WISH[name] for name in ("a", "b")})
    again(onion)
    said = onion.ok("status", "session=s").out
    stages = [line.split()[1] for line in said.splitlines() if line[:5] == "stage"]
    assert stages[:5] == ["plan", "spec", "spec/a", "spec/b", "phase"]
    assert "2 of 2 instances complete" in said
    board = onion.read(".loop/s/PROGRESS.md")
    assert "4 of 4 stages complete, 14 of 14 instances complete" in board
    assert "spec/c" not in board
    assert onion.ok("status", "session=s", "--json").json["status"] == "complete"
