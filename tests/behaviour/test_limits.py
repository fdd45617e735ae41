"""Limits: iterations, money, time and attempts; they hold across restarts."""

from datetime import datetime
from typing import Any

import pytest

from tests.support.project import Project

ENDLESS = {"completion": "validated", "validate": "false"}
COSTS = (
    'echo \'{"cost_usd": 0.5, "tokens": {"input": 10, "output": 5}}\' > "$LOOP_USAGE"'
)


def gap(first: Any, second: Any) -> float:
    """Return the seconds between one attempt's end and another's start."""
    times = first["finished_at"], second["started_at"]
    end, start = (datetime.fromisoformat(time) for time in times)
    return (start - end).total_seconds()


def go_on(project: Project, command: str) -> int:
    """Run a command that a last line offered, literally."""
    assert command.startswith("doit "), command
    return project.shell(command).code


def test_the_iteration_limit_is_a_failure_that_says_so(project: Project) -> None:
    project.loop("x", max_iterations=2, **ENDLESS)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert ran.last.startswith("failed: x: reached the limit of 2 iterations: ")
    assert ran.command == "doit loop:x session=s max=4"
    assert project.state("s", "x")["completion_reason"].startswith("reached the limit")


def test_the_iteration_limit_holds_across_restarts(project: Project) -> None:
    project.loop("x", max_iterations=2, **ENDLESS)
    for _ in range(2):
        assert project.doit("loop:x", "session=s").code == 1
    assert project.runs() == ["x:1", "x:2"]


def test_a_raised_limit_goes_on_where_it_stopped(project: Project) -> None:
    project.loop("x", max_iterations=2, **ENDLESS)
    ran = project.doit("loop:x", "session=s")
    assert go_on(project, ran.command) == 1
    assert project.runs() == ["x:1", "x:2", "x:3", "x:4"]
    assert project.doit("loop:x", "session=s").code == 1
    assert len(project.runs()) == 4


def test_a_raised_limit_is_remembered_and_finishes(project: Project) -> None:
    project.loop("x", max_iterations=1, completion="validated", validate="test -f ok")
    project.step("x", "true", "true", "touch ok")
    assert project.doit("loop:x", "session=s").code == 1
    project.ok("loop:x", "session=s", "max=3")
    assert project.runs() == ["x:1", "x:2", "x:3"]
    project.ok("loop:x", "session=s")


def test_no_limit_is_written_as_zero(project: Project) -> None:
    project.loop("x", max_iterations=1, completion="validated", validate="test -f ok")
    project.step("x", *["true"] * 29, "touch ok")
    project.ok("loop:x", "session=s", "max=0")
    assert len(project.runs()) == 30


def test_a_used_up_budget_waits_for_money(project: Project) -> None:
    project.loop("x", max_iterations=5)
    project.step("x", COSTS)
    ran = project.doit("loop:x", "session=s", "budget=1")
    assert ran.code == 4
    assert project.runs() == ["x:1", "x:2"]
    assert "the budget of $1.00 is used up ($1.00)" in ran.last
    assert ran.command == "doit loop:x session=s budget=2"
    state = project.state("s", "x")
    assert (state["status"], state["cost_usd"]) == ("waiting", 1.0)
    assert state["tokens"] == {"input": 20, "output": 10, "cached": 0}


def test_a_budget_holds_across_restarts_and_can_be_raised(project: Project) -> None:
    project.loop("x", max_iterations=5)
    project.step("x", COSTS)
    first = project.doit("loop:x", "session=s", "budget=1")
    assert project.doit("loop:x", "session=s").code == 4
    assert len(project.runs()) == 2
    assert go_on(project, first.command) == 4
    assert len(project.runs()) == 4
    project.ok("loop:x", "session=s", "budget=100")
    assert len(project.runs()) == 5


def test_a_loops_own_budget_holds(project: Project) -> None:
    project.loop("x", max_iterations=5, budget_usd=0.5)
    project.step("x", COSTS)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 4
    assert project.runs() == ["x:1"]
    assert project.doit("loop:x", "session=s").code == 4
    assert project.runs() == ["x:1"]


def test_the_command_after_a_loops_own_budget_goes_on(project: Project) -> None:
    project.loop("x", max_iterations=2, budget_usd=0.5)
    project.step("x", COSTS)
    ran = project.doit("loop:x", "session=s")
    assert go_on(project, ran.command) == 0
    assert project.runs() == ["x:1", "x:2"]


def test_a_budget_is_for_all_stages_together(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "B", "runs": 1},
        {"name": "c", "prompt": "C", "runs": 1},
    )
    for name in "abc":
        project.step(name, COSTS)
    ran = project.doit("pipeline:p", "session=s", "budget=0.9")
    assert ran.code == 4
    assert project.runs() == ["a:1", "b:1"]


def test_an_unknown_cost_is_said_and_not_taken_for_nothing(project: Project) -> None:
    project.loop("x", max_iterations=2)
    ran = project.ok("loop:x", "session=s", "budget=1")
    assert "the cost of 2 agent calls is unknown and not counted" in ran.out
    assert "cost unknown" in ran.last
    state = project.state("s", "x")
    assert state["cost_usd"] is None
    assert state["history"][0]["cost_usd"] is None
    status = project.ok("status", "session=s", "--json").json
    assert status["cost_usd"] is None
    assert status["unknown_costs"] == 2


def test_partly_known_costs_are_told_apart(project: Project) -> None:
    project.loop("x", max_iterations=2)
    project.step("x", COSTS, "true")
    ran = project.ok("loop:x", "session=s")
    assert "$0.50 + 1 unknown" in ran.last
    assert project.state("s", "x")["cost_usd"] is None


@pytest.mark.parametrize(
    "usage",
    ["not json", "[]", '{"cost_usd": "1"}', '{"cost_usd": -1}', '{"cost_usd": NaN}'],
)
def test_a_cost_that_makes_no_sense_is_unknown(project: Project, usage: str) -> None:
    project.loop("x", max_iterations=1)
    project.step("x", f"echo '{usage}' > \"$LOOP_USAGE\"")
    project.ok("loop:x", "session=s")
    assert project.state("s", "x", 1)["cost_usd"] is None


def test_failed_attempts_cost_money_too(project: Project) -> None:
    project.loop("x", max_iterations=1, attempts=1)
    project.step("x", f"{COSTS}; exit 1")
    assert project.doit("loop:x", "session=s", "budget=1").code == 1
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 4
    assert "the budget is used up after: exit code 1" in ran.last
    assert project.doit("loop:x", "session=s").code == 4
    assert len(project.runs()) == 2
    project.step("x", "echo fine")
    assert go_on(project, ran.command) == 0


def test_the_time_limit_holds_across_restarts(project: Project) -> None:
    project.loop("x", max_iterations=50, time_limit=0.3)
    project.step("x", "sleep 0.11")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "time limit" in ran.last
    count = len(project.runs())
    assert 1 <= count <= 4
    assert project.doit("loop:x", "session=s").code == 1
    assert len(project.runs()) == count


def test_the_command_after_a_time_limit_says_how_to_raise_it(project: Project) -> None:
    project.loop("x", max_iterations=50, time_limit=0.1)
    project.step("x", "sleep 0.11")
    ran = project.doit("loop:x", "session=s")
    assert "time_limit" in ran.last


def test_a_transient_end_is_tried_again_with_its_transcript_kept(
    project: Project,
) -> None:
    project.loop(
        "x", "${FEEDBACK}", max_iterations=1, attempts=3, backoff=0, timeout=0.3
    )
    project.step(
        "x", "echo try >> tries; test $(wc -l < tries) = 3 || sleep 9; echo ok"
    )
    project.ok("loop:x", "session=s")
    assert project.read("tries").count("try") == 3
    state = project.state("s", "x", 1)
    assert state["attempts"] == 3
    folder = project.session("s", "x", "iterations", "0001", "attempts")
    assert sorted(p.name for p in folder.iterdir()) == ["1", "2", "3"]
    verdicts = [
        project.json("s", f"x/iterations/0001/attempts/{n}/result.json")["verdict"]
        for n in (1, 2, 3)
    ]
    assert verdicts == ["timeout", "timeout", "ok"]
    assert project.prompt("s", "x", 1).count("An attempt failed: timeout") == 2
    assert [e["attempt"] for e in project.ledger("s", "attempt")] == [1, 2]


def test_exhausted_attempts_fail_and_the_next_run_numbers_on(project: Project) -> None:
    project.loop("x", max_iterations=1, attempts=2, backoff=0, timeout=0.2)
    project.step("x", "test -f ok || sleep 9; echo fine")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "iteration 1 failed: timeout" in ran.last
    assert len(project.runs()) == 2
    project.write("ok", "")
    assert go_on(project, ran.command) == 0
    folder = project.session("s", "x", "iterations", "0001", "attempts")
    assert sorted(p.name for p in folder.iterdir()) == ["1", "2", "3"]
    assert project.state("s", "x", 1)["attempts"] == 3


def test_silence_is_told_from_slowness(project: Project) -> None:
    project.loop("x", max_iterations=1, attempts=1, idle_timeout=0.5, timeout=30)
    project.step("x", "sleep 20")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "hung" in ran.last
    project.step("x", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done")
    project.ok("loop:x", "session=s")


def test_an_agent_that_fails_is_not_good_whatever_it_says(project: Project) -> None:
    project.loop("x", max_iterations=1, attempts=1)
    project.step("x", "echo all done; echo no key >&2; exit 3")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "exit code 3: no key" in ran.last
    assert not project.session("s", "x", "output").exists()
    assert project.ledger("s", "iteration") == []
    assert project.state("s", "x")["status"] == "failed"


def test_a_program_that_is_not_there_is_told_in_the_last_line(project: Project) -> None:
    project.loop("x", max_iterations=1, agent={"command": "./nobody"})
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 1
    assert "nobody" in ran.last
    assert ran.command == "doit loop:x session=s"


def test_a_delay_is_kept_between_iterations(project: Project) -> None:
    project.loop("x", max_iterations=2, delay=0.3)
    project.ok("loop:x", "session=s")
    first, second = (
        project.json("s", f"x/iterations/000{n}/attempts/1/result.json") for n in (1, 2)
    )
    assert gap(first, second) >= 0.29


def test_the_wait_between_attempts_doubles(project: Project) -> None:
    project.loop("x", max_iterations=1, attempts=3, backoff=0.2, timeout=0.1)
    project.step("x", "sleep 9")
    assert project.doit("loop:x", "session=s").code == 1
    tries = [
        project.json("s", f"x/iterations/0001/attempts/{n}/result.json")
        for n in (1, 2, 3)
    ]
    assert gap(tries[0], tries[1]) >= 0.19
    assert gap(tries[1], tries[2]) >= 0.39


def test_a_failed_stage_keeps_later_ones_from_starting(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1, "attempts": 1},
        {"name": "b", "prompt": "B", "runs": 1},
        {"name": "free", "prompt": "F", "runs": 1, "inputs": []},
    )
    project.step("a", "exit 1")
    ran = project.doit("-c", "pipeline:p", "session=s")
    assert ran.code == 1
    assert project.new_runs() == ["a:1", "free:1"]
    assert ran.last.startswith("failed: a: ")
    project.step("a", "echo ok")
    assert go_on(project, ran.command) == 0
    assert project.runs() == ["a:1", "b:1"]


def test_a_used_up_budget_keeps_finished_work_from_being_taken_down(
    project: Project,
) -> None:
    project.write("plan.md", "one")
    project.loop("x", max_iterations=1, reads=["plan.md"])
    project.step("x", COSTS)
    project.ok("loop:x", "session=s", "budget=0.5")
    project.write("plan.md", "two")
    assert project.doit("loop:x", "session=s").code == 4
    assert project.archived("s", "prompt.md") == []
    project.ok("forget", "loop:x:0001", "session=s")
    project.write("plan.md", "one")
    assert project.doit("loop:x", "session=s").code == 4
    assert len(project.runs()) == 1
    project.ok("loop:x", "session=s", "budget=9")
    assert len(project.runs()) == 2
