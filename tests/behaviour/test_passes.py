"""Passes in real doit processes: one after the other, each when it is validated."""

from typing import Any

from tests.support.project import Project

PASSES: list[Any] = [
    "draft",
    {"name": "review", "prompt": "Look for ${HOLES}.", "max": 2},
]
NOTES = 'echo "$LOOP_ITERATION $LOOP_PASS ${LOOP_ITEM:-none}" >> passes.log'


def passing(project: Project, *steps: str, **settings: Any) -> None:
    prompt = "Pass ${PASS}: ${PASS.prompt} ${FEEDBACK}"
    project.loop("x", prompt, **{"passes": PASSES, **settings})
    project.step("x", *(f"{NOTES}; {step}" for step in steps))


def test_without_a_check_each_pass_takes_one_iteration(project: Project) -> None:
    passing(project, "echo done")
    ran = project.ok("loop:x", "session=s")
    assert "all 2 passes validated" in ran.last
    assert project.read("passes.log").splitlines() == ["1 draft none", "2 review none"]
    assert project.prompt("s", "x", 1).rstrip() == "Pass draft:"
    assert project.prompt("s", "x", 2).rstrip() == "Pass review: Look for ${HOLES}."
    assert [project.state("s", "x", n)["item"] for n in (1, 2)] == ["draft", "review"]


def test_a_pass_goes_on_until_it_is_validated(project: Project) -> None:
    check = "echo looking; test $LOOP_ITERATION != 2"
    passing(project, "echo a", "echo b", "echo c", validate=check)
    project.ok("loop:x", "session=s")
    log = project.read("passes.log").split()[1::3]
    assert log == ["draft", "review", "review"]
    assert project.prompt("s", "x", 3).rstrip().endswith("failed:\n\nlooking")


def test_a_pass_has_its_own_limit(project: Project) -> None:
    passing(project, "echo a", validate="test $LOOP_ITERATION = 1")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert project.runs() == ["x:1", "x:2", "x:3"]
    assert "pass `review` reached its limit of 2 iterations" in ran.last
    assert "raise its `max`" in ran.last
    passing(project, "echo a", validate="true", passes=["draft", "review"])
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:2", "x:3", "x:4"]


def test_the_limit_of_the_loop_counts_all_passes(project: Project) -> None:
    passing(project, "echo a", validate="false", passes=["a", "b"], max_iterations=3)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "reached the limit of 3 iterations: 0 of 2 passes validated" in ran.last
    assert ran.command.endswith("max=6")


def test_a_pass_that_is_added_runs_alone(project: Project) -> None:
    passing(project, "echo a", passes=["draft", "review"])
    project.ok("loop:x", "session=s")
    passing(project, "echo a", passes=["draft", "order", "review"])
    project.ok("loop:x", "session=s")
    assert project.read("passes.log").split()[1::3] == ["draft", "review", "order"]


def test_a_pass_that_is_forgotten_runs_again_as_itself(project: Project) -> None:
    passing(project, "echo a", passes=["draft", "review"])
    project.ok("loop:x", "session=s")
    project.ok("forget", "loop:x:0001", "session=s")
    project.ok("loop:x", "session=s")
    log = project.read("passes.log").splitlines()
    assert log == ["1 draft none", "2 review none", "1 draft none"]
