"""Descendants: which stages a change reaches, and where it ends."""

from typing import Any

from tests.support.project import Project, rerun


def chain(project: Project, *names: str, **more: Any) -> None:
    """Declare stages that each rest on the one before, and echo what they get."""
    stages = [{"name": n, "prompt": "${INPUTS}", "runs": 1, **more} for n in names]
    project.pipeline("p", *stages)
    for name in names:
        project.step(name, f"echo {name}; cat")


def test_a_parent_with_equal_output_leaves_its_children_alone(
    project: Project,
) -> None:
    chain(project, "a", "b", "c")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1", "c:1"]
    project.ok("forget", "stage:a", "session=s")
    assert rerun(project, "pipeline:p") == ["a:1"]
    assert rerun(project, "pipeline:p") == []


def test_a_changed_parent_restarts_exactly_its_descendants(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "${INPUTS}", "runs": 1, "inputs": ["a"]},
        {"name": "other", "prompt": "O", "runs": 1, "inputs": []},
        {"name": "c", "prompt": "${INPUTS}", "runs": 1, "inputs": ["b"]},
        {"name": "d", "prompt": "${INPUTS}", "runs": 1, "inputs": ["other"]},
    )
    for name in "abcd":
        project.step(name, f"echo {name}; cat")
    rerun(project, "pipeline:p")
    project.ok("forget", "stage:a", "session=s")
    project.step("a", "echo new")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1", "c:1"]
    assert rerun(project, "pipeline:p") == []


def test_a_change_ends_where_outputs_are_equal_again(project: Project) -> None:
    chain(project, "a", "b", "c", "d")
    project.step("b", "echo constant")
    rerun(project, "pipeline:p")
    project.ok("forget", "stage:a", "session=s")
    project.step("a", "echo new")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]


def test_a_file_read_in_the_middle_restarts_from_there(project: Project) -> None:
    project.write("plan.md", "one")
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "B", "runs": 1, "reads": ["plan.md"]},
        {"name": "c", "prompt": "C", "runs": 1},
    )
    project.step("b", "cat plan.md")
    rerun(project, "pipeline:p")
    project.write("plan.md", "two")
    assert rerun(project, "pipeline:p") == ["b:1", "c:1"]


def test_a_stage_may_ignore_its_inputs(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "${INPUTS}", "runs": 1, "restart_on": []},
    )
    rerun(project, "pipeline:p")
    project.ok("forget", "stage:a", "session=s")
    project.step("a", "echo new")
    assert rerun(project, "pipeline:p") == ["a:1"]


def test_another_goal_restarts_the_stages_that_were_told_the_goal(
    project: Project,
) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "${GOAL}", "runs": 1},
        {"name": "b", "prompt": "B", "runs": 1, "inputs": []},
    )
    assert rerun(project, "pipeline:p", "goal=one") == ["a:1", "b:1"]
    assert rerun(project, "pipeline:p", "goal=one") == []
    assert rerun(project, "pipeline:p", "goal=two") == ["a:1"]


def test_a_failed_stage_restarts_when_its_input_changed(project: Project) -> None:
    project.write("plan.md", "one")
    project.loop("x", max_iterations=2, reads=["plan.md"], validate="false")
    assert project.doit("loop:x", "session=s").code == 1
    assert project.doit("loop:x", "session=s").code == 1
    assert project.new_runs() == ["x:1", "x:2"]
    project.write("plan.md", "two")
    assert project.doit("loop:x", "session=s").code == 1
    assert project.new_runs() == ["x:1", "x:2"]
