"""Variables: those of a prompt, of an agent's environment, and of a command line."""

from typing import Any

import pytest

from tests.support.project import Project

NAMES = (
    "SESSION",
    "SESSION_NAME",
    "ITERATION",
    "INDEX",
    "PROGRESS",
    "PROGRESS_FILE",
    "OUTPUT",
    "PERSPECTIVE",
    "ITEM",
    "GOAL",
    "FEEDBACK",
    "VALIDATE",
    "LEARNINGS",
    "INPUTS",
    "ARTIFACT",
    "BEAD",
    "BEAD_ID",
)


def filled(project: Project, session: str, stage: str, number: int) -> dict[str, str]:
    lines = project.prompt(session, stage, number).splitlines()
    pairs = (line.partition("=") for line in lines)
    return {name: value for name, _, value in pairs}


def test_every_prompt_variable_is_filled_in(project: Project) -> None:
    prompt = "".join(f"{name}=${{{name}}}\n" for name in NAMES)
    project.loop(
        "x",
        prompt,
        completion="all-items",
        items=["one", "two"],
        perspectives=["left", "right"],
        validate="true",
    )
    project.ok("loop:x", "session=s", "goal=the goal")
    values = filled(project, "s", "x", 2)
    folder = project.session("s", "x")
    progress = str(folder / "progress.md")
    assert values == {
        "SESSION": "s",
        "SESSION_NAME": "s",
        "ITERATION": "2",
        "INDEX": "1",
        "PROGRESS": progress,
        "PROGRESS_FILE": progress,
        "OUTPUT": str(folder / "iterations/0002/output.md"),
        "PERSPECTIVE": "right",
        "ITEM": "two",
        "GOAL": "the goal",
        "FEEDBACK": "",
        "VALIDATE": "true",
        "LEARNINGS": "",
        "INPUTS": "",
        "ARTIFACT": "",
        "BEAD": "",
        "BEAD_ID": "",
    }


def test_inputs_are_the_texts_of_earlier_stages(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "B", "runs": 1, "inputs": []},
        {
            "name": "c",
            "prompt": "all ${INPUTS} / only ${INPUTS.a} /",
            "runs": 1,
            "inputs": ["a", "b"],
        },
    )
    project.ok("pipeline:p", "session=s")
    prompt = project.prompt("s", "c", 1)
    both, _, only = prompt.partition("/ only")
    assert both.index("a says 1") < both.index("b says 1")
    assert "a says 1" in only
    assert "b says 1" not in only
    assert ".loop/s/a/output/output.md" in only


def test_two_dollars_are_one_and_other_dollars_stay(project: Project) -> None:
    text = "$$5 $HOME $(date) ${HOME:-x} $${GOAL} 100% {GOAL} $"
    project.loop("x", text, max_iterations=1)
    project.ok("loop:x", "session=s")
    assert project.prompt("s", "x", 1) == (
        "$5 $HOME $(date) ${HOME:-x} ${GOAL} 100% {GOAL} $"
    )


def test_a_value_is_never_expanded_again(project: Project) -> None:
    goal = "${SESSION} $$ $(touch hacked) `touch hacked` {0} %s \\1"
    project.pipeline(
        "p",
        {"name": "a", "prompt": "${GOAL}", "runs": 1},
        {"name": "b", "prompt": "${INPUTS.a}", "runs": 1},
    )
    project.step("a", "cat")
    project.ok("pipeline:p", "session=s", f"goal={goal}")
    assert project.prompt("s", "a", 1) == goal
    assert goal in project.prompt("s", "b", 1)
    assert not project.path("hacked").exists()


def test_learnings_of_the_session_reach_the_prompt(project: Project) -> None:
    project.loop("x", "${LEARNINGS}", max_iterations=2)
    project.step(
        "x",
        "mkdir -p .loop/s/learnings; echo be kind > .loop/s/learnings/001-kindness.md",
    )
    project.ok("loop:x", "session=s")
    assert project.prompt("s", "x", 1) == ""
    assert "be kind" in project.prompt("s", "x", 2)


@pytest.mark.parametrize("name", ["GOALS", "INPUTS.nobody", "session"])
def test_an_unknown_prompt_variable_stops_before_any_agent(
    project: Project, name: str
) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": f"${{{name}}}", "runs": 1},
    )
    ran = project.doit("pipeline:p", "session=s")
    assert ran.code == 3
    assert f"${{{name}}}" in ran.err
    assert "fix: " in ran.err
    assert project.runs() == []
    assert not project.session("s").exists()


def test_an_agent_knows_from_its_environment_where_it_is(project: Project) -> None:
    project.loop("x", "Go.", completion="all-items", items=["one thing"], model="m1")
    project.step("x", "env | sort")
    project.ok("loop:x", "session=s")
    lines = project.read(".loop/s/x/iterations/0001/output.md").splitlines()
    env = dict(line.split("=", 1) for line in lines if "=" in line)
    expected = {
        "CLAUDE_LOOP_AGENT": "1",
        "CLAUDE_LOOP_SESSION": "s",
        "CLAUDE_LOOP_TYPE": "x",
        "LOOP_AGENT_RUN": "1",
        "LOOP_SESSION": "s",
        "LOOP_TYPE": "x",
        "LOOP_ITERATION": "1",
        "LOOP_ITEM": "one thing",
        "LOOP_MODEL": "m1",
    }
    assert {name: env.get(name) for name in expected} == expected
    assert "LOOP_BEAD" not in env


@pytest.mark.parametrize(
    ("variable", "guess"),
    [("sesion=s", "session"), ("gaol=x", "goal"), ("modle=x", "model")],
)
def test_a_misspelt_variable_is_an_error_with_a_suggestion(
    project: Project, variable: str, guess: str
) -> None:
    project.loop("x", max_iterations=1)
    for words in (["loop:x"], ["list"], ["status"], ["explain", "loop:x"]):
        ran = project.doit(*words, variable)
        assert ran.code == 3, words
        assert f"did you mean `{guess}`?" in ran.err
        assert "Traceback" not in ran.err
    assert project.runs() == []


@pytest.mark.parametrize(
    "variable", ["max=many", "budget=much", "force=perhaps", "max=-1", "budget=nan"]
)
def test_a_variable_that_makes_no_sense_is_an_error(
    project: Project, variable: str
) -> None:
    project.loop("x", max_iterations=1)
    ran = project.doit("loop:x", "session=s", variable)
    assert ran.code == 3
    assert f"`{variable.partition('=')[0]}`" in ran.err
    assert project.runs() == []


def test_variables_may_come_from_the_environment(project: Project) -> None:
    project.loop("x", max_iterations=1, agent="claude")
    project.step("x", "echo $LOOP_MODEL")
    env = {
        "LOOP_SESSION": "envs",
        "LOOP_AGENT": "./agent.sh",
        "LOOP_MODEL": "envm",
        "LOOP_BUDGET": "7",
    }
    project.ok("loop:x", env=env)
    asked = project.json("envs", "session.json")["variables"]
    assert asked == {"agent": "./agent.sh", "model": "envm", "budget": 7.0}
    assert project.output("envs", "x") == "envm\n"


LAYERS: list[tuple[dict[str, Any], str]] = [
    ({"loop": "l"}, "l"),
    ({"loop": "l", "defaults": "d"}, "d"),
    ({"loop": "l", "defaults": "d", "stage": "s"}, "s"),
    ({"loop": "l", "defaults": "d", "stage": "s", "env": "e"}, "e"),
    ({"loop": "l", "stage": "s", "env": "e", "command": "c"}, "c"),
    ({"loop": "l", "command": "c"}, "c"),
    ({}, ""),
]


@pytest.mark.parametrize(("given", "wins"), LAYERS)
def test_the_command_line_wins_over_environment_pipeline_and_loop(
    project: Project, given: dict[str, str], wins: str
) -> None:
    project.loop("x", **({"model": given["loop"]} if "loop" in given else {}))
    defaults = {"model": given["defaults"]} if "defaults" in given else {}
    stage: dict[str, Any] = {"name": "a", "loop": "x", "runs": 1}
    if "stage" in given:
        stage["model"] = given["stage"]
    project.pipeline("p", stage, defaults=defaults)
    words = [f"model={given['command']}"] if "command" in given else []
    env = {"LOOP_MODEL": given["env"]} if "env" in given else {}
    project.ok("pipeline:p", "session=s", *words, env=env)
    assert project.state("s", "a", 1)["model"] == wins


def test_max_wins_over_every_declared_limit(project: Project) -> None:
    project.loop("x", max_iterations=5)
    project.pipeline("p", {"name": "a", "loop": "x", "runs": 4})
    project.ok("pipeline:p", "session=s", "max=2")
    assert project.runs() == ["x:1", "x:2"]


def test_an_agent_that_cannot_be_started_here_is_told_beforehand(
    project: Project,
) -> None:
    project.loop("x", agent="nosuch")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "`nosuch`" in ran.err
    assert not project.session("s").exists()
