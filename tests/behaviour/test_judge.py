"""A judge in real doit processes: another agent that must approve."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crash import CrashProject, kill, until
from tests.support.project import Project
from tests.support.session_schemas import faults

# As the project's own agent, but a judge finds its step under a name of its own.
AGENT = """\
#!/bin/sh
echo "$LOOP_TYPE:$LOOP_ITERATION${LOOP_ROLE:+:}$LOOP_ROLE" >> runs.log
if [ -n "$LOOP_USAGE" ]; then
    echo '{"cost_usd": 0.25, "tokens": {"input": 2, "output": 1}}' > "$LOOP_USAGE"
fi
kind=$LOOP_TYPE${LOOP_ROLE:+-}$LOOP_ROLE
for step in "steps/$kind.$LOOP_ITERATION" "steps/$kind"; do
    if [ -f "$step" ]; then . "./$step"; exit; fi
done
echo "$LOOP_TYPE says $LOOP_ITERATION"
"""
PLAN = json.dumps(
    {
        "title": "Tea",
        "overview": "Make tea.",
        "specs": [{"name": "a", "title": "A", "description": "B"}],
    }
)
WRITES = f"cat > \"$LOOP_ARTIFACT\" <<'END'\n{PLAN}\nEND\n"


def judged(project: Project, *verdicts: str, **settings: Any) -> None:
    project.write("agent.sh", AGENT)
    more = {"completion": "validated", "judge": "judge.md", **settings}
    project.loop("x", "Work.\n${FEEDBACK}", **more)
    project.write("loops/x/judge.md", "Judge ${OUTPUT} for ${GOAL}. ${FEEDBACK}")
    project.step("x-judge", *(f"cat <<'END'\n{text}\nEND" for text in verdicts))


def judge_folder(project: Project, iteration: int) -> Path:
    return project.session("s", "x", "iterations", f"{iteration:04d}", "judge")


def test_a_judge_rejects_until_it_approves(project: Project) -> None:
    judged(project, "Too short.\n\n**REJECTED**: too short", "APPROVED")
    ran = project.ok("loop:x", "session=s", "goal=tea")
    assert project.runs() == ["x:1", "x:1:judge", "x:2", "x:2:judge"]
    assert "`judge` passed" in ran.last
    told = project.prompt("s", "x", 2)
    assert "the judge rejected it: too short\n\nToo short." in told
    prompt = (judge_folder(project, 1) / "prompt.md").read_text()
    assert f"Judge {judge_folder(project, 1).parent}/output.md for tea." in prompt
    assert "goal" in project.json("s", "x/iterations/0001/inputs.json")["files"]
    first, second = (project.state("s", "x", n) for n in (1, 2))
    assert first["judge"] == {
        "verdict": "rejected",
        "reason": "too short",
        "cost_usd": 0.25,
    }
    assert first["validation"] == {
        "command": "judge",
        "exit_code": 1,
        "reason": "the judge rejected it: too short",
    }
    assert second["judge"]["verdict"] == "approved"
    assert second["validation"] == {"command": "judge", "exit_code": 0}
    assert list(faults(project.session("s"))) == []


def test_what_a_judge_costs_is_the_iterations(project: Project) -> None:
    judged(project, "APPROVED", budget_usd=10)
    project.ok("loop:x", "session=s")
    state = project.state("s", "x", 1)
    assert state["cost_usd"] == 0.5
    assert state["tokens"] == {"input": 4, "output": 2, "cached": 0}
    assert project.state("s", "x")["cost_usd"] == 0.5


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("Looks fine to me.", "no line begins with APPROVED or REJECTED"),
        ("APPROVED\nREJECTED", "it says both APPROVED and REJECTED"),
        ("", "no line begins with APPROVED or REJECTED"),
    ],
)
def test_an_unclear_answer_is_a_rejection(
    project: Project, answer: str, why: str
) -> None:
    judged(project, answer, max_iterations=1)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert f"the judge's answer is unclear: {why}" in ran.last
    assert project.state("s", "x", 1)["judge"]["verdict"] == "unclear"


def test_a_judge_is_asked_only_when_all_else_has_passed(project: Project) -> None:
    judged(project, "APPROVED", artifact="plan", validate="test -e good")
    project.step("x", "echo nothing", WRITES, f"{WRITES}touch good")
    ran = project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:2", "x:3", "x:3:judge"]
    assert "`test -e good` passed" in ran.last


def test_a_judge_may_be_another_agent_with_another_model(project: Project) -> None:
    project.write("strict.sh", '#!/bin/sh\necho "APPROVED by $LOOP_MODEL"\n').chmod(
        0o755
    )
    own = {"prompt": "judge.md", "agent": {"command": "./strict.sh"}, "model": "large"}
    judged(project, "REJECTED", judge=own, model="small")
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1"]
    assert project.state("s", "x", 1)["judge"]["reason"] == "by large"


def test_a_judge_that_cannot_be_started_is_said_beforehand(project: Project) -> None:
    judged(project, "APPROVED", judge={"prompt": "judge.md", "agent": "nobody"})
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "`judge.agent` is `nobody`, which is no agent" in ran.err + ran.out
    assert project.runs() == []


def test_a_stage_of_a_pipeline_may_bring_its_own_judge(project: Project) -> None:
    judged(project, "APPROVED")
    stages: list[dict[str, Any]] = [
        {"loop": "x", "judge": "Is ${OUTPUT} strict?"},
        {"name": "y", "prompt": "Go on.", "judge": "judges/y.md", "runs": 1},
    ]
    project.write("judges/y.md", "Is ${INPUTS.x} in ${OUTPUT}?")
    project.step("y-judge", "echo APPROVED")
    project.pipeline("all", *stages)
    project.ok("pipeline:all", "session=s")
    prompt = (judge_folder(project, 1) / "prompt.md").read_text()
    assert prompt.startswith("Is ")
    assert prompt.rstrip().endswith("strict?")
    other = project.session("s", "y", "iterations", "0001", "judge", "prompt.md")
    assert "x says 1" in other.read_text()


def test_a_judge_that_fails_is_tried_again(project: Project) -> None:
    judged(project, "", backoff=0)
    project.step("x-judge", "[ -e tried ] && echo APPROVED || { touch tried; exit 1; }")
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:1:judge", "x:1:judge"]
    (failed,) = project.ledger("s", "attempt")
    assert (failed["role"], failed["attempt"]) == ("judge", 1)
    assert project.state("s", "x", 1)["attempts"] == 1
    assert list(faults(project.session("s"))) == []


def test_a_judge_that_fails_for_good_loses_nothing(project: Project) -> None:
    judged(project, "", attempts=1)
    project.step("x-judge", "echo no >&2; exit 1")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "the judge was not heard: exit code 1: no" in ran.last
    project.step("x-judge", "echo APPROVED")
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:1:judge", "x:1:judge"]
    assert project.output("s", "x") == "x says 1\n"


def test_a_judge_waits_for_money_like_anyone(project: Project) -> None:
    judged(project, "APPROVED", budget_usd=0.2)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 4
    assert "the budget is used up" in ran.last
    judged(project, "APPROVED", budget_usd=2)
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:1:judge"]


def test_judges_can_be_recorded_and_replayed(project: Project) -> None:
    judged(project, "REJECTED: not yet", "APPROVED")
    project.ok("loop:x", "session=s", "record=rec")
    own = {"prompt": "judge.md", "agent": {"command": "./gone.sh"}}
    judged(project, "", judge=own)
    project.path("agent.sh").unlink()
    project.ok("loop:x", "session=ci", "agent=replay", "replay=rec")
    found = [project.state("ci", "x", n)["judge"]["verdict"] for n in (1, 2)]
    assert found == ["rejected", "approved"]


CRASHING = """\
#!/bin/sh
echo "$LOOP_SESSION $LOOP_TYPE$LOOP_ROLE $LOOP_ITERATION" >> calls.log
if [ -n "$LOOP_ROLE" ]; then
    while [ ! -e go ]; do sleep 0.02; done
    echo APPROVED
fi
"""


def crashing(folder: Path, **settings: Any) -> CrashProject:
    project = CrashProject(folder, CRASHING)
    project.loop(judge="judge.md", completion="validated", **settings)
    project.write("loops/work/judge.md", "Judge it.")
    return project


def test_a_kill_between_work_and_judge_pays_nobody_twice(tmp_path: Path) -> None:
    project = crashing(tmp_path, validate="touch v; while [ -e wait ]; do :; done")
    project.write("wait", "")
    process = project.start("loop:work")
    until((project.folder / "v").exists)
    kill(process)
    assert project.is_quiet()
    (project.folder / "wait").unlink()
    (project.folder / "go").touch()
    ran = project.run("loop:work")
    assert ran.code == 0, ran
    assert project.calls() == {"work work 1": 1, "work workjudge 1": 1}


def test_a_kill_during_the_judgement_asks_the_judge_again(tmp_path: Path) -> None:
    project = crashing(tmp_path)
    process = project.start("loop:work")
    until(lambda: project.called(2))
    kill(process)
    assert project.is_quiet()
    (project.folder / "go").touch()
    ran = project.run("loop:work")
    assert ran.code == 0, ran
    assert project.calls() == {"work work 1": 1, "work workjudge 1": 2}
    folder = project.path("work", "work/iterations/0001/judge/attempts")
    assert sorted(path.name for path in folder.iterdir()) == ["1", "2"]
    assert json.loads((folder / "2/result.json").read_text())["verdict"] == "ok"
