"""After a usage limit nobody starts an agent until it is over."""

import time
from typing import Any

import pytest

from looptasks.core.instant import instant
from tests.support.project import Project
from tests.support.stub_claude import StubClaude, limited, recorded

IN_2100, THEN = 4102444800, "2100-01-01T00:00:00Z"
RUNNERS = {"threads": ("-n", "2"), "processes": ("-n", "2", "-P", "process")}
RUN = ("pipeline:p", "session=s")
# Ends when the other stage has hit the limit.
SLOW = """\
until grep -q '"verdict":"limit"' .loop/s/ledger.jsonl; do sleep 0.02; done
"""

each_runner = pytest.mark.parametrize("how", RUNNERS)


def sides(project: Project, **claude: Any) -> None:
    """Declare `a`, which hits the limit, `b` beside it, `c` for whoever is free."""
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "agent": "claude", "inputs": [], **claude},
        {"name": "b", "prompt": "B", "runs": 2, "inputs": []},
        {"name": "c", "prompt": "C", "runs": 1, "inputs": []},
    )
    project.step("b", SLOW, "echo fine")


@each_runner
def test_a_limit_that_stops_lets_no_other_stage_begin(
    project: Project, how: str
) -> None:
    StubClaude(project).answers(limited(IN_2100))
    sides(project, runs=1)

    ran = project.doit(*RUNNERS[how], "-c", *RUN)

    assert ran.code == 4, ran
    assert sorted(project.runs()) == ["a:1", "b:1"]
    for stage in ("b", "c"):
        stops = [e for e in project.ledger("s", "stop") if e["stage"] == stage]
        assert [stop["status"] for stop in stops] == ["waiting"]
        assert THEN in stops[0]["reason"]
    assert ran.last.endswith("; to go on: doit pipeline:p session=s")


def test_another_run_asks_the_agent_again(project: Project) -> None:
    StubClaude(project).answers(limited(IN_2100))
    sides(project, runs=1)
    project.doit("-n", "2", "-c", *RUN)
    project.new_runs()

    assert project.doit("-n", "2", "-c", *RUN).code == 4
    assert "a:1" in project.runs()


def test_a_limit_that_is_waited_for_holds_the_others_too(project: Project) -> None:
    end = int(time.time()) + 4
    # The runs of `b` are counted too: the first call is number 1 or 2.
    stub = StubClaude(project)
    stub.answers(limited(end), limited(end), recorded("claude-ok"))
    sides(project, runs=1, on_limit="wait", attempts=1)

    ran = project.ok("-n", "2", *RUN)

    assert ran.out.count("usage limit: waiting until") == 1
    for stage, number in (("b", 2), ("c", 1)):
        path = f"{stage}/iterations/{number:04d}/attempts/1/result.json"
        began = instant(project.json("s", path)["started_at"])
        assert began is not None
        assert began / 10**9 >= end
    assert [e["verdict"] for e in project.ledger("s", "attempt")] == ["limit"]
