"""The shipped loops: found by name, and they do what their comments promise."""

import pytest
import yaml

from looptasks.core.prompt import variables
from tests.support.doit_process import REPOSITORY
from tests.support.project import Project

SHIPPED = sorted(path.parent.name for path in REPOSITORY.glob("loops/*/loop.yaml"))
# Stands in for any agent: does what `steps/ITERATION` says.
AGENT = "#!/bin/sh\necho $LOOP_TYPE:$LOOP_ITERATION >> runs.log\n. ./steps/do\n"


def shipped(project: Project, name: str, does: str, *words: str) -> tuple[int, str]:
    """Run a shipped loop with an agent that does something; return code and output."""
    project.write("any-agent.sh", AGENT).chmod(0o755)
    project.write("steps/do", f"{does}\n")
    ran = project.doit(f"loop:{name}", "agent=./any-agent.sh", *words)
    return ran.code, ran.out


def check(project: Project, command: str) -> None:
    """Write the project's `validate.sh`."""
    project.write("validate.sh", f"#!/bin/sh\n{command}\n").chmod(0o755)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_loop_is_listed_and_has_nothing_to_find_fault_with(
    project: Project, name: str
) -> None:
    assert f"loop:{name} " in project.ok("list").out
    assert project.ok("lint", name).out == "0 errors, 0 warnings\n"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_loop_takes_whichever_agent_there_is(name: str) -> None:
    folder = REPOSITORY / "loops" / name
    declared = yaml.safe_load((folder / "loop.yaml").read_text())
    assert declared["agent"] == "auto"
    used = set(variables((folder / "prompt.md").read_text()))
    assert {"ITERATION", "PROGRESS_FILE", "FEEDBACK"} <= used
    # What one entry of a plan is for stands in the entry.
    assert {"GOAL", "ITEM"} & used


def test_a_loop_of_the_project_wins_over_a_shipped_one(project: Project) -> None:
    project.loop("ralph", max_iterations=1)
    project.ok("loop:ralph")
    assert project.runs() == ["ralph:1"]


def test_improve_plan_ends_when_two_in_a_row_agree_and_the_plan_is_there(
    project: Project,
) -> None:
    does = (
        "mkdir -p docs; test -f docs/plan.md || { echo plan > docs/plan.md; "
        "echo 'PLATEAU: false'; exit; }; echo 'REASONING: fine'; echo 'PLATEAU: true'"
    )
    code, out = shipped(project, "improve-plan", does)
    assert (code, len(project.runs())) == (0, 3), out
    assert project.ok("loop:improve-plan").last.startswith("nothing to do")


def test_improve_plan_is_not_done_without_a_plan(project: Project) -> None:
    code, out = shipped(project, "improve-plan", "echo 'PLATEAU: true'", "max=3")
    assert code == 1
    assert "not written: `docs/plan.md`" in out


def test_a_plan_that_a_person_edits_is_refined_again(project: Project) -> None:
    does = "mkdir -p docs; echo x >> docs/plan.md; echo 'PLATEAU: true'"
    assert shipped(project, "improve-plan", does)[0] == 0
    assert len(project.new_runs()) == 2
    project.write("docs/plan.md", "by hand\n")
    assert shipped(project, "improve-plan", does)[0] == 0
    assert len(project.new_runs()) == 2


def test_idea_wizard_takes_five_rounds(project: Project) -> None:
    does = "mkdir -p docs; echo idea >> docs/ideas.md; echo 'BEST: idea'"
    code, _ = shipped(project, "idea-wizard", does)
    assert (code, len(project.runs())) == (0, 5)


def test_ralph_goes_on_until_the_check_passes(project: Project) -> None:
    check(project, "echo more work is needed; test $(grep -c . work) -ge 3")
    code, _ = shipped(project, "ralph", "echo done >> work")
    assert (code, len(project.runs())) == (0, 3)
    assert "more work is needed" in project.prompt("ralph", "ralph", 2)


def test_ralph_pays_no_agent_for_a_job_that_is_done(project: Project) -> None:
    check(project, "exit 0")
    code, out = shipped(project, "ralph", "exit 1")
    assert (code, project.runs()) == (0, [])
    assert "not needed" in out


@pytest.mark.parametrize("passed_at_once", [True, False])
def test_a_changed_check_is_a_new_job_for_ralph(
    project: Project, passed_at_once: bool
) -> None:
    check(project, "exit 0" if passed_at_once else "test -f one")
    assert shipped(project, "ralph", "touch one")[0] == 0
    project.new_runs()
    check(project, "test -f two")
    assert shipped(project, "ralph", "touch two")[0] == 0
    assert project.new_runs() == ["ralph:1"]
    assert project.ok("loop:ralph").last.startswith("nothing to do")


def test_a_tuned_prompt_file_repeats_nothing_of_ralph(project: Project) -> None:
    check(project, "test $(grep -c . work) -ge 3")
    project.write("PROMPT.md", "Work.\n")
    assert shipped(project, "ralph", "echo done >> work", "max=2")[0] == 1
    project.write("PROMPT.md", "Work harder.\n")
    assert shipped(project, "ralph", "echo done >> work", "max=9")[0] == 0
    assert project.runs() == ["ralph:1", "ralph:2", "ralph:3"]


def test_ralph_as_a_stage_takes_another_check(project: Project) -> None:
    stage = {"name": "work", "loop": "ralph", "validate": "test -f made"}
    project.pipeline("all", stage)
    project.step("ralph", "touch made")
    project.ok("pipeline:all")
    assert project.state("all", "work")["status"] == "complete"
