"""The shipped onion, as it is shipped: layers, the gate, and what is done again."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from looptasks.core.prompt import variables
from tests.support.doit_process import REPOSITORY
from tests.support.git_repository import Repository
from tests.support.project import Project, Ran
from tests.support.readme import Readme

LAYERS = ("plan", "spec", "phase", "code")
PASSES = 3
# Stands in for any agent. `wish.json` is {spec: text}; each layer hands its text on.
AGENT = '''\
#!/usr/bin/env python3
"""Writes the artifact of its layer from its entry; a coder writes a file."""
import json, os, re, sys

kind, item = os.environ["LOOP_TYPE"], os.environ.get("LOOP_ITEM", "")
prompt = sys.stdin.read()
if os.environ.get("LOOP_ROLE") == "judge":
    print("APPROVED" if '"name": "' in prompt else "REJECTED: of what?"); sys.exit()
block = re.search(r"```json\\n(.*?)\\n```", prompt, re.DOTALL)
entry = json.loads(block[1]) if block else {}
with open(os.path.join(os.environ["TOP"], "runs.log"), "a") as log:
    log.write(f"{kind}:{item}\\n" if item else f"{kind}\\n")
if kind == "plan":
    wish = json.load(open("wish.json"))
    made = {"title": "T", "overview": "O", "specs": [
        {"name": name, "title": name, "description": text}
        for name, text in wish.items()]}
elif kind == "spec":
    made = {"name": item, "title": item, "overview": "O", "phases": [
        {"name": f"{item}{n}", "title": "T",
         "description": f"{entry['description']} {n}"} for n in (1, 2, 3)]}
elif kind == "phase":
    made = {"name": item, "title": item, "objective": entry["description"],
            "tasks": [{"description": "write it"}],
            "validation_command": "touch %s/RUN-BY-US" % os.environ["TOP"]}
else:
    if os.path.exists(f"{os.environ['TOP']}/lazy.{item}"):
        print("Done!"); sys.exit()
    with open(f"{item}.txt", "w") as file:
        file.write(entry["objective"])
    print("written"); sys.exit()
with open(os.environ["LOOP_ARTIFACT"], "w") as file:
    json.dump(made, file)
print("done")
'''
CHECK = '#!/bin/sh\ntest -z "$LOOP_ITEM" || test -s "$LOOP_ITEM.txt"\n'
WISH = {"a": "make a", "b": "make b"}


class Onion(Project):
    """A project without loops of its own, and an agent for every layer."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("any-agent.py", AGENT).chmod(0o755)
        self.write("validate.sh", CHECK).chmod(0o755)
        self.write("wish.json", json.dumps(WISH))

    def onion(self, *words: str, workers: int = 1) -> Ran:
        """Run the shipped pipeline in session `s`."""
        command = ("pipeline:onion", "session=s", "agent=./any-agent.py", *words)
        options = ("-n", str(workers)) if workers > 1 else ()
        return self.doit(*options, *command, env={"TOP": str(self.root)})

    def calls(self) -> Counter[str]:
        """Return the agent calls since this was last asked."""
        return Counter(self.new_runs())


@pytest.fixture
def onion(tmp_path: Path) -> Onion:
    """Return a project in which nothing has been done."""
    return Onion(tmp_path / "project")


def subtree(spec: str) -> Counter[str]:
    phases = [f"{spec}{n}" for n in (1, 2, 3)]
    below = Counter(f"{kind}:{name}" for kind in ("phase", "code") for name in phases)
    return below + Counter({f"spec:{spec}": PASSES})


def everything() -> Counter[str]:
    return Counter({"plan": PASSES}) + subtree("a") + subtree("b")


def finished(onion: Onion) -> Onion:
    """Return it with everything done, as CI would."""
    ran = onion.onion("approve=yes", "goal=all of it")
    assert ran.code == 0, ran
    assert onion.calls() == everything()
    return onion


@pytest.mark.parametrize("layer", LAYERS[1:])
def test_an_inner_layer_rests_on_its_entry_and_on_nothing_else(layer: str) -> None:
    prompt = (REPOSITORY / "loops" / layer / "prompt.md").read_text()
    used = variables(prompt)
    assert "ITEM" in used
    assert not [name for name in used if name.startswith(("GOAL", "INPUTS"))]


def test_nothing_is_specified_before_the_plan_is_approved(onion: Onion) -> None:
    ran = onion.onion("goal=all of it")
    assert ran.code == 4, ran
    assert onion.calls() == {"plan": PASSES}
    assert "all of it" in onion.prompt("s", "plan", 1)
    onion.ok("approve", "plan", "session=s")
    assert onion.onion().code == 0
    assert onion.calls() == subtree("a") + subtree("b")
    assert onion.read("b3.txt") == "make b 3"


def test_each_pass_gets_the_plan_of_the_one_before(onion: Onion) -> None:
    onion.onion()
    first, second = (onion.prompt("s", "plan", n) for n in (1, 2))
    assert "Your part: draft" in first
    assert "Your part: feasibility" in second
    assert "The plan so far: ``" in first
    assert "iterations/0001/artifact.json`" in second


def test_a_finished_onion_does_nothing(onion: Onion) -> None:
    assert finished(onion).onion().last.startswith("nothing to do")
    assert not onion.calls()


def test_one_changed_entry_repeats_its_own_part_alone(onion: Onion) -> None:
    path = finished(onion).session("s", "plan", "output", "plan.json")
    path.write_text(path.read_text().replace("make b", "make b well"))
    assert onion.onion().code == 0
    assert onion.calls() == subtree("b")
    assert onion.read("b3.txt") == "make b well 3"
    assert not onion.onion().code
    assert not onion.calls()


def test_feedback_on_the_plan_is_asked_about_again(onion: Onion) -> None:
    finished(onion).write("wish.json", json.dumps({**WISH, "b": "make b better"}))
    onion.ok("iterate", "plan", "session=s", "feedback=b is too plain")
    assert onion.onion().code == 4
    assert onion.calls() == {"plan": 1}
    assert "b is too plain" in onion.prompt("s", "plan", PASSES + 1)
    onion.ok("approve", "plan", "session=s")
    assert onion.onion().code == 0
    assert onion.calls() == subtree("b")


def test_another_goal_that_comes_to_the_same_plan_repeats_the_plan_alone(
    onion: Onion,
) -> None:
    finished(onion)
    assert onion.onion("goal=all of it, please").code == 0
    assert onion.calls() == {"plan": PASSES}


def test_a_recorded_onion_is_replayed_without_an_agent(onion: Onion) -> None:
    assert onion.onion("approve=yes", "record=tape").code == 0
    assert onion.calls().total() == PASSES * 3 + 12
    onion.path("b3.txt").unlink()
    onion.ok(
        "pipeline:onion", "session=ci", "agent=replay", "replay=tape", "approve=yes"
    )
    agents = [event["agent"] for event in onion.ledger("ci", "iteration")]
    assert agents == ["replay"] * (PASSES * 3 + 12)
    assert onion.read("b3.txt") == "make b 3"


def test_the_command_of_a_phase_is_shown_to_the_coder_and_not_run(
    onion: Onion,
) -> None:
    finished(onion)
    command = f"touch {onion.root}/RUN-BY-US"
    assert command in onion.prompt("s", "code/a/a1", 1)
    assert not onion.path("RUN-BY-US").exists()


def test_a_coder_is_not_believed_and_the_phase_is_prepared_anew_once(
    onion: Onion,
) -> None:
    onion.write("lazy.a2", "")
    ran = onion.onion("approve=yes")
    assert ran.code == 1, ran
    calls = onion.calls()
    assert (calls["code:a2"], calls["phase:a2"], calls["code:a3"]) == (6, 2, 0)
    assert calls["code:b3"] == 1
    assert "stage:code:a:a2 failed for good" in onion.prompt("s", "phase/a/a2", 2)


def test_the_judge_of_specs_is_off_until_a_copy_asks_for_it(onion: Onion) -> None:
    loop = shutil.copytree(REPOSITORY / "loops" / "spec", onion.path("loops", "spec"))
    assert onion.onion("approve=yes").code == 0
    assert not [e for e in onion.ledger("s", "iteration") if e.get("judge")]
    with (loop / "loop.yaml").open("a") as file:
        file.write("judge: judge.md\n")
    assert onion.ok("lint").out == "0 errors, 0 warnings\n"
    onion.ok("iterate", "spec/a", "session=s", "feedback=once more")
    assert onion.onion().code == 0
    judged = [e for e in onion.ledger("s", "iteration") if e.get("judge")]
    assert [event["stage"] for event in judged] == ["spec/a"]


def test_the_pipeline_in_the_readme_is_the_shipped_one() -> None:
    told = yaml.safe_load(Readme(REPOSITORY / "README.md").block("onion"))
    shipped = yaml.safe_load((REPOSITORY / "pipelines" / "onion.yaml").read_text())
    assert told["stages"] == shipped["stages"]


def test_the_commands_in_the_readme_lead_from_a_goal_to_its_code(onion: Onion) -> None:
    commands = Readme(REPOSITORY / "README.md").block("onion", "commands")
    given = f"export TOP={onion.root} LOOP_AGENT=./any-agent.py"
    ran = onion.shell(f"set -e\n{given}\n{commands}")
    assert ran.code == 0, ran
    assert onion.calls() == everything() + Counter({"plan": 1})
    assert "Leave the mail server alone." in onion.prompt("login", "plan", PASSES + 1)
    assert onion.read("b3.txt") == "make b 3"


def test_phases_of_a_spec_are_built_in_their_order(onion: Onion) -> None:
    assert onion.onion("approve=yes", workers=4).code == 0
    for spec in WISH:
        codes = [run for run in onion.runs() if run.startswith(f"code:{spec}")]
        assert codes == [f"code:{spec}{n}" for n in (1, 2, 3)]


@pytest.mark.parametrize("workers", [1, 2])
def test_in_a_git_repository_the_result_lands_as_a_whole_however_it_is_resumed(
    onion: Onion, workers: int
) -> None:
    onion.write(".gitignore", "runs.log\n.loop/\nlazy.*\n")
    repo = Repository(onion.root)
    onion.write("lazy.b3", "")
    assert onion.onion("approve=yes", workers=2).code == 1
    assert not onion.path("a1.txt").exists()
    onion.path("lazy.b3").unlink()
    assert onion.onion("max=12", workers=workers).code == 0
    assert (repo.shown("a1.txt"), repo.shown("b3.txt")) == ("make a 1", "make b 3")
    assert repo.status == ""
