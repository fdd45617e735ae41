"""A loop in a real doit process: when it stops, and what it leaves."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.doit_process import write_distribution
from tests.support.project import Project

PLATEAU: dict[str, Any] = {
    "completion": "plateau",
    "min_iterations": 2,
    "output_parse": "plateau:PLATEAU reasoning:REASONING",
}
ITERATION = [
    "attempts/1/result.json",
    "attempts/1/stderr",
    "attempts/1/stdout",
    "inputs.json",
    "output.md",
    "progress.md",
    "prompt.md",
    "state.json",
]


def plateau(project: Project, *answers: str, **settings: Any) -> None:
    project.loop("x", **{**PLATEAU, **settings})
    project.step("x", *(f"echo PLATEAU: {answer}" for answer in answers))


def test_a_loop_leaves_exactly_the_files_of_the_contract(project: Project) -> None:
    project.loop("x", max_iterations=3)
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:1", "x:2", "x:3"]
    numbered = [f"x/iterations/000{n}/{f}" for n in (1, 2, 3) for f in ITERATION]
    session = ["PROGRESS.md", "doit.db", "ledger.jsonl", "run.lock", "session.json"]
    stage = ["x/current", "x/output/output.md", "x/progress.md", "x/state.json"]
    assert project.files("s") == sorted([*numbered, *session, *stage])
    assert project.session("s", "x", "current").readlink() == Path("iterations/0003")


def test_a_check_leaves_its_log(project: Project) -> None:
    project.loop("x", max_iterations=1, validate="echo looks good")
    project.ok("loop:x", "session=s")
    log = project.session("s", "x", "iterations", "0001", "validation.log")
    assert log.read_text() == "looks good\n"


def test_a_finished_session_does_nothing(project: Project) -> None:
    project.loop("x", max_iterations=2)
    project.ok("loop:x", "session=s")
    project.new_runs()
    before = {name: project.session("s", name) for name in project.files("s")}
    times = {name: path.lstat().st_mtime_ns for name, path in before.items()}
    ran = project.ok("loop:x", "session=s")
    assert project.runs() == []
    assert ran.last.startswith("nothing to do, complete: loop:x in session s")
    changed = [n for n, p in before.items() if p.lstat().st_mtime_ns != times[n]]
    assert set(changed) <= {"doit.db"}
    assert project.files("s") == sorted(before)


def test_the_stage_hands_on_its_last_answer(project: Project) -> None:
    project.loop("x", max_iterations=2)
    project.ok("loop:x", "session=s")
    assert project.output("s", "x") == "x says 2\n"


def test_an_agent_may_write_its_output_itself(project: Project) -> None:
    project.loop("x", "Write to ${OUTPUT}.", max_iterations=1)
    project.step("x", "echo chatter; sed -n 's/.* \\(.*\\)\\./\\1/p' | xargs touch")
    project.ok("loop:x", "session=s")
    assert project.output("s", "x") == ""


@pytest.mark.parametrize(
    ("answers", "count"),
    [
        (("false", "true", "true"), 3),
        (("true", "false", "true", "true"), 4),
        (("Yes", "TRUE"), 2),
        (("**true**", "no", "yes", "true"), 4),
    ],
)
def test_a_plateau_takes_two_agreements_in_a_row(
    project: Project, answers: tuple[str, ...], count: int
) -> None:
    plateau(project, *answers)
    ran = project.ok("loop:x", "session=s")
    assert len(project.runs()) == count
    assert "2 iterations in a row agree on a plateau" in ran.last
    parsed = [entry["parsed"] for entry in project.state("s", "x")["history"]]
    assert len(parsed) == count
    assert "plateau" in parsed[0]


def test_one_agent_never_agrees_with_itself(project: Project) -> None:
    plateau(project, "true; echo PLATEAU: true; echo PLATEAU: true", max_iterations=2)
    project.write("steps/x.2", "echo PLATEAU: false\n")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert project.runs() == ["x:1", "x:2"]
    assert "reached the limit of 2 iterations" in ran.last


def test_answers_that_never_agree_fail_at_the_limit(project: Project) -> None:
    plateau(project, "true", "no", "true", "no", "true", max_iterations=5)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert len(project.runs()) == 5
    assert project.state("s", "x")["status"] == "failed"
    assert len(project.state("s", "x")["history"]) == 5


def test_min_iterations_holds_back_an_early_plateau(project: Project) -> None:
    plateau(project, "true", min_iterations=4)
    project.ok("loop:x", "session=s")
    assert len(project.runs()) == 4


def test_consensus_says_how_many_must_agree(project: Project) -> None:
    plateau(project, "true", consensus=3)
    project.ok("loop:x", "session=s")
    assert len(project.runs()) == 3


@pytest.mark.parametrize(
    "items", [["a", "b", "a", "c"], "printf 'a\\nb\\nc\\n'", "things/*"]
)
def test_each_item_gets_one_iteration(project: Project, items: object) -> None:
    for name in "abc":
        project.write(f"things/{name}", "")
    project.loop("x", "Do ${ITEM}.", completion="all-items", items=items)
    project.step("x", 'echo "did $LOOP_ITEM"')
    project.ok("loop:x", "session=s")
    done = [project.state("s", "x", n)["item"] for n in (1, 2, 3)]
    assert [item.rpartition("/")[2] for item in done] == ["a", "b", "c"]
    assert project.runs() == ["x:1", "x:2", "x:3"]
    assert project.prompt("s", "x", 2) == f"Do {done[1]}."
    names = sorted(p.name for p in project.session("s", "x", "output").iterdir())
    assert names == ["0001.md", "0002.md", "0003.md"]


def test_an_item_that_appears_later_gets_its_iteration(project: Project) -> None:
    project.write("things/a", "")
    project.loop("x", completion="all-items", items="things/*")
    project.ok("loop:x", "session=s")
    project.write("things/b", "")
    project.new_runs()
    project.ok("loop:x", "session=s")
    assert project.runs() == ["x:2"]
    assert project.state("s", "x", 2)["item"] == "things/b"


def test_an_item_command_is_asked_once_per_session(project: Project) -> None:
    project.loop("x", completion="all-items", items="echo once >> asked; echo a")
    project.ok("loop:x", "session=s")
    project.ok("loop:x", "session=s")
    project.ok("list", "session=s")
    assert project.read("asked") == "once\n"


def test_a_failing_item_command_is_told_in_words(project: Project) -> None:
    project.loop("x", completion="all-items", items="echo broken >&2; exit 7")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "exit code 7: broken" in ran.last
    assert "Traceback" not in ran.out + ran.err
    assert project.runs() == []


def test_a_validated_loop_goes_on_until_its_check_passes(project: Project) -> None:
    check = "echo found $(cat n); test $(cat n) = 3"
    project.loop("x", "Before: ${FEEDBACK}|", completion="validated", validate=check)
    project.step("x", 'echo "$LOOP_ITERATION" > n')
    ran = project.ok("loop:x", "session=s")
    assert len(project.runs()) == 3
    assert "passed" in ran.last
    assert project.prompt("s", "x", 1) == "Before: |"
    assert "found 1" in project.prompt("s", "x", 2)
    assert "found 2" in project.prompt("s", "x", 3)
    assert "found 1" not in project.prompt("s", "x", 3)
    codes = [e["validation"]["exit_code"] for e in project.state("s", "x")["history"]]
    assert codes == [1, 1, 0]


def test_a_failed_check_keeps_any_rule_from_completing(project: Project) -> None:
    project.loop("x", max_iterations=2, validate="false")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "`false` fails" in ran.last


def test_a_stage_is_not_done_before_its_files_exist(project: Project) -> None:
    project.loop("x", "${FEEDBACK}", max_iterations=3, writes=["made.txt"])
    project.loop(
        "y", "${FEEDBACK}", completion="validated", validate="true", writes=["made.txt"]
    )
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "not written: `made.txt`" in ran.last
    assert "Still missing: made.txt" in project.prompt("s", "x", 2)
    project.step("y", "true", "touch made.txt")
    project.ok("loop:y", "session=t")
    assert project.state("t", "y")["iteration"] == 2


def test_a_check_before_spares_the_agent(project: Project) -> None:
    project.write("made.txt", "")
    project.loop(
        "x", completion="validated", validate="test -f made.txt", check_before=True
    )
    ran = project.ok("loop:x", "session=s")
    assert project.runs() == []
    assert project.state("s", "x")["status"] == "complete"
    assert "passed" in ran.out
    project.ok("loop:x", "session=s")
    assert project.runs() == []
    project.path("made.txt").unlink()
    project.step("x", "touch made.txt")
    project.ok("loop:x", "session=t")
    assert project.runs() == ["x:1"]


def test_each_perspective_gets_one_iteration(project: Project) -> None:
    views = ["safety", "speed", "style"]
    project.loop("x", "Look for ${PERSPECTIVE}.", perspectives=views)
    project.ok("loop:x", "session=s")
    prompts = [project.prompt("s", "x", n) for n in (1, 2, 3)]
    assert prompts == [f"Look for {view}." for view in views]
    assert len(project.runs()) == 3
    assert len(list(project.session("s", "x", "output").iterdir())) == 3


def test_a_package_can_bring_a_completion_rule(
    project: Project, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "moon.py").write_text(
        "from looptasks.core.completion import Done, NotYet\n"
        "def full(loop, history, evidence):\n"
        "    n = len(history)\n"
        "    return Done('it is full') if n == 4 else NotYet(f'quarter {n}')\n"
    )
    points = {"looptasks.completion": {"full-moon": "moon:full"}}
    write_distribution(package, "moon", points)
    project.loop("x", completion="full-moon")
    env = {"PYTHONPATH": str(package)}
    ran = project.ok("loop:x", "session=s", env=env)
    assert len(project.runs()) == 4
    assert "it is full" in ran.last
    assert project.ok("loop:x", "session=s", env=env).last.startswith("nothing to do")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "`full-moon`" in ran.err


def test_fields_are_the_last_ones_said(project: Project) -> None:
    project.loop("x", max_iterations=1, output_parse="verdict:VERDICT why:WHY")
    project.step("x", "echo 'VERDICT: bad'; echo '**VERDICT:** good'; echo WHY: a:b")
    project.ok("loop:x", "session=s")
    assert project.state("s", "x", 1)["parsed"] == {"verdict": "good", "why": "a:b"}


def test_progress_tells_what_every_iteration_came_to(project: Project) -> None:
    project.loop("x", max_iterations=2, validate="true", output_parse="sum:SUM")
    project.step("x", "echo SUM: $LOOP_ITERATION")
    project.ok("loop:x", "session=s")
    text = project.read(".loop/s/x/progress.md")
    assert "Verify: `true`" in text
    assert "## Codebase Patterns" in text
    assert text.index("- sum: 1") < text.index("- sum: 2")
    assert "- sum: 1" in project.read(".loop/s/x/iterations/0001/progress.md")


def test_what_an_agent_adds_to_progress_stays(project: Project) -> None:
    project.loop("x", "${PROGRESS}", max_iterations=2)
    project.step("x", 'echo "- learnt $LOOP_ITERATION" >> "$(cat)"')
    project.ok("loop:x", "session=s")
    text = project.read(".loop/s/x/progress.md")
    assert text.count("- learnt 1\n") == text.count("- learnt 2\n") == 1
    assert "- learnt 2" in project.read(".loop/s/x/iterations/0002/progress.md")


def test_the_board_tells_people_how_it_stands(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.ok("loop:x", "session=s")
    board = project.read(".loop/s/PROGRESS.md")
    assert "# s" in board
    assert "- [x] x (complete, 1 iteration)" in board


def test_the_session_remembers_what_was_asked(project: Project) -> None:
    project.loop("x", "${GOAL}", max_iterations=1)
    project.ok("loop:x", "session=s", "goal=tidy up", "max=2", "model=small")
    asked = project.json("s", "session.json")
    assert asked["entry"] == "loop:x"
    assert asked["goal"] == "tidy up"
    assert asked["variables"] == {"goal": "tidy up", "max": 2, "model": "small"}
    project.new_runs()
    ran = project.ok("loop:x", "session=s")
    assert ran.last.startswith("nothing to do")
    assert project.runs() == []
