"""Artifacts in real doit processes: checked, fed back, handed on."""

import json
from pathlib import Path
from typing import Any

from tests.support.crash import CrashProject, kill, until
from tests.support.project import Project, rerun
from tests.support.session_schemas import faults

GOOD: dict[str, Any] = {
    "title": "Tea",
    "overview": "Make tea.",
    "specs": [{"name": "water", "title": "Water", "description": "Boil it."}],
}
PROMPT = "Plan tea in ${ARTIFACT}, after ${ARTIFACT.previous}.\n${FEEDBACK}"


def writes(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"cat > \"$LOOP_ARTIFACT\" <<'END'\n{text}\nEND\n"


def tells(value: Any, after: str = "") -> str:
    text = f"Here it is:\n\n```json\n{json.dumps(value, indent=1)}\n```\n{after}"
    return f"cat <<'END'\n{text}\nEND\n"


def planning(project: Project, *steps: str, **settings: Any) -> None:
    more = {"completion": "validated", "artifact": "plan", **settings}
    project.loop("x", PROMPT, **more)
    project.step("x", *steps)


def artifact(project: Project, iteration: int) -> Path:
    return project.session("s", "x", "iterations", f"{iteration:04d}", "artifact.json")


def test_what_is_wrong_is_feedback_until_it_is_right(project: Project) -> None:
    half = {**GOOD, "title": 3, "specs": []}
    planning(project, writes("{'title'"), writes(half), writes(GOOD))
    ran = project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:2", "x:3"]
    assert "`artifact plan` passed" in ran.last
    said = [project.prompt("s", "x", n) for n in (1, 2, 3)]
    assert f"in {artifact(project, 1)}, after ." in said[0]
    assert "The artifact plan is not valid" in said[1]
    assert "it is not JSON: Expecting property name" in said[1]
    assert "- `title` is a number, but must be a text" in said[2]
    assert "- `specs` must have at least 1 entries, not 0" in said[2]
    assert json.loads(project.session("s", "x", "output", "plan.json").read_text()) == (
        GOOD
    )
    assert not project.session("s", "x", "output", "output.md").exists()
    state = project.state("s", "x", 2)
    assert state["artifact"] == ""
    assert state["validation"] == {
        "command": "artifact plan",
        "exit_code": 1,
        "reason": "`artifact plan` is not valid: 2 problems, first: "
        "`specs` must have at least 1 entries, not 0",
    }
    last = project.state("s", "x", 3)
    assert last["validation"] == {"command": "artifact plan", "exit_code": 0}
    assert len(last["artifact"]) == 64
    assert list(faults(project.session("s"))) == []


def test_an_answer_may_end_with_it(project: Project) -> None:
    planning(project, tells(GOOD, "So much for that."), tells(GOOD))
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:2"]
    assert "end the answer with one block fenced as ```json" in project.prompt(
        "s", "x", 2
    )
    assert json.loads(artifact(project, 2).read_text()) == GOOD


def test_an_agent_that_makes_none_is_not_believed(project: Project) -> None:
    planning(project, "echo 'I am done.'", completion="fixed-n", max_iterations=2)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "`artifact plan` is not valid: there is none" in ran.last
    assert not project.session("s", "x", "output").exists()


def test_a_stage_is_not_complete_before_it_has_made_one(project: Project) -> None:
    planning(project, writes(GOOD), validate="true", check_before=True)
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1"]


def test_the_command_checks_only_what_the_schema_lets_pass(project: Project) -> None:
    check = 'echo checked >> checks.log; grep -q Green "$LOOP_ARTIFACT"'
    green = {**GOOD, "title": "Green tea"}
    planning(project, writes("{}"), writes(GOOD), writes(green), validate=check)
    ran = project.ok("loop:x", "session=s")
    assert len(project.runs()) == 3
    assert project.read("checks.log").split() == ["checked", "checked"]
    assert f"`{check}` passed" in ran.last
    failed = project.state("s", "x", 2)
    assert failed["validation"] == {"command": check, "exit_code": 1}
    assert len(failed["artifact"]) == 64
    assert f"after {artifact(project, 2)}." in project.prompt("s", "x", 3)


def test_a_schema_of_the_projects_own_counts(project: Project) -> None:
    schema = {"required": ["dishes"], "properties": {"dishes": {"minItems": 2}}}
    project.write("schemas/menu.schema.json", json.dumps(schema))
    planning(
        project,
        writes({"dishes": ["soup"]}),
        writes({"dishes": ["soup", "pie"]}),
        artifact="menu",
    )
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:2"]
    made = project.session("s", "x", "output", "menu.md").read_text()
    assert made == "# menu\n\n## Dishes\n\n- soup\n- pie\n"


def test_a_broken_schema_is_an_error_before_anything_runs(project: Project) -> None:
    project.write("schemas/plan.json", '{"$ref": "http://localhost:9/plan"}')
    planning(project, writes(GOOD))
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "schemas/plan.json: `$ref` is `http://localhost:9/plan`" in ran.err + ran.out
    assert project.runs() == []
    project.path("schemas/plan.json").unlink()
    project.ok("loop:x", "session=s")


def test_the_next_stage_gets_the_json_and_not_the_markdown(project: Project) -> None:
    stages = [
        {"name": "plan", "prompt": "x", "artifact": "plan", "runs": 1},
        {"name": "next", "prompt": "From ${INPUTS}", "runs": 1},
    ]
    project.pipeline("all", *stages)
    project.step("plan", writes(GOOD))
    project.ok("pipeline:all", "session=s")
    prompt = project.prompt("s", "next", 1)
    assert "output/plan.json ---" in prompt
    assert "plan.md" not in prompt
    # The same plan in other words is no other plan.
    project.step("plan", writes(json.dumps(dict(reversed(GOOD.items())), indent=9)))
    project.new_runs()
    project.ok("forget", "stage:plan:0001", "session=s")
    assert rerun(project, "pipeline:all") == ["plan:1"]
    project.step("plan", writes({**GOOD, "title": "Coffee"}))
    project.ok("forget", "stage:plan:0001", "session=s")
    assert rerun(project, "pipeline:all") == ["plan:1", "next:1"]


def test_what_a_person_made_of_it_counts_without_doits_memory(project: Project) -> None:
    planning(project, writes(GOOD))
    project.ok("loop:x", "session=s")
    output = project.session("s", "x", "output", "plan.json")
    output.write_text(json.dumps({**GOOD, "title": "Coffee"}))
    project.forget_doit("s")
    assert project.ok("loop:x", "session=s").code == 0
    assert json.loads(output.read_text())["title"] == "Coffee"


def test_what_a_failed_attempt_left_is_not_taken_for_the_next_ones(
    project: Project,
) -> None:
    planning(project, f"[ -e tried ] && exit 0\n{writes(GOOD)}touch tried; exit 1")
    project.loop("x", "x", artifact="plan", max_iterations=1, backoff=0)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "there is none" in ran.last
    folder = project.session("s", "x", "iterations", "0001", "attempts")
    assert json.loads((folder / "1/artifact.json").read_text()) == GOOD


HELD = f"""\
#!/bin/sh
echo "$LOOP_SESSION $LOOP_TYPE $LOOP_ITERATION" >> calls.log
cat > "$LOOP_ARTIFACT" <<'END'
{json.dumps(GOOD)}
END
touch written
while [ ! -e go ]; do sleep 0.02; done
"""
SLOW = "touch checking; while [ ! -e go ]; do sleep 0.02; done"


def test_what_a_killed_attempt_wrote_is_not_taken_for_the_next_ones(
    tmp_path: Path,
) -> None:
    project = CrashProject(tmp_path, HELD)
    project.loop(artifact="plan", completion="validated", max_iterations=1)
    process = project.start("loop:work")
    until((project.folder / "written").exists)
    kill(process)
    assert project.is_quiet()
    project.script("agent.sh", "#!/bin/sh\necho nothing\n")
    ran = project.run("loop:work")
    assert ran.code == 1
    assert "there is none" in ran.out
    attempt = project.path("work", "work/iterations/0001/attempts/1/artifact.json")
    assert json.loads(attempt.read_text()) == GOOD


def test_a_kill_after_the_artifact_was_made_pays_nobody_twice(tmp_path: Path) -> None:
    project = CrashProject(tmp_path, HELD.partition("while")[0])
    project.loop(artifact="plan", completion="validated", validate=SLOW)
    process = project.start("loop:work")
    until((project.folder / "checking").exists)
    kill(process)
    assert project.is_quiet()
    (project.folder / "go").touch()
    ran = project.run("loop:work")
    assert ran.code == 0, ran
    assert project.calls().total() == 1
    output = project.path("work", "work/output/plan.json")
    assert json.loads(output.read_text()) == GOOD
