"""A named agent in a loop: its verdicts, its receipts, and what is kept of it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.doit_process import environment, write_distribution
from tests.support.project import Project
from tests.support.session_schemas import faults
from tests.support.stub_claude import StubClaude, limited, recorded

RESETS, RESET_TIME = 4102444800, "2100-01-01T00:00:00Z"
COMMAND = ("loop:tidy", "session=s")
CODEX = '[tool.looptasks.prices]\n"gpt-5" = {input = 10, output = 100}\n'


@pytest.fixture
def stub(project: Project) -> StubClaude:
    made = StubClaude(project)
    made.loop()
    return made


def attempt(project: Project, number: int = 1) -> Any:
    return project.json(
        "s", "tidy/iterations/0001/attempts", str(number), "result.json"
    )


def test_what_an_agent_tells_of_itself_is_kept_and_summed(
    stub: StubClaude, project: Project
) -> None:
    stub.loop(max_iterations=2)
    stub.answers(recorded("claude-ok"))

    project.ok(*COMMAND)

    tokens = {"input": 200, "output": 40, "cached": 0}
    state = project.state("s", "tidy", 2)
    assert (state["agent"], state["model"]) == ("claude", "claude-opus-5-5")
    assert (state["cost_usd"], state["tokens"]) == (0.0016, tokens)
    assert state["estimated"] is False
    assert (state["session_id"], state["turns"]) == (attempt(project)["session_id"], 2)
    status = project.ok("status", "session=s", "--json").json
    assert status["cost_usd"] == status["stages"][0]["cost_usd"] == 0.0032
    assert status["tokens"] == {"input": 400, "output": 80, "cached": 0}
    assert project.output("s", "tidy") == "All done."
    assert attempt(project)["session_id"]
    assert not [*faults(project.session("s"))]


def test_a_cost_by_the_price_table_is_marked_as_an_estimate(project: Project) -> None:
    stub = StubClaude(project, "codex", 'model = "gpt-5"\n' + CODEX)
    stub.loop(agent="codex")
    stub.answers(recorded("codex-ok"))

    project.ok(*COMMAND)

    state = project.state("s", "tidy", 1)
    assert (state["cost_usd"], state["estimated"]) == (0.006, True)
    assert attempt(project)["estimated"] is True


def test_a_price_is_found_by_the_model_that_the_loop_names(project: Project) -> None:
    stub = StubClaude(project, "codex", CODEX)
    stub.loop(agent="codex", model="gpt-5")
    stub.answers(recorded("codex-ok"))

    project.ok(*COMMAND)

    assert project.state("s", "tidy", 1)["cost_usd"] == 0.006
    assert not [*faults(project.session("s"))]


def test_a_cost_that_nobody_tells_is_unknown_and_not_zero(project: Project) -> None:
    stub = StubClaude(project, "codex")
    stub.loop(agent="codex")
    stub.answers(recorded("codex-ok"))

    project.ok(*COMMAND)

    assert project.state("s", "tidy", 1)["cost_usd"] is None
    assert project.ok("status", "session=s", "--json").json["cost_usd"] is None


def test_a_usage_limit_stops_with_the_time_when_it_ends(
    stub: StubClaude, project: Project
) -> None:
    stub.answers(limited(RESETS), recorded("claude-ok"))

    ran = project.doit(*COMMAND)

    assert ran.code == 4, ran
    assert f"until {RESET_TIME}" in ran.last
    assert ran.last.startswith("waiting: tidy: iteration 1 failed: limit: usage limit")
    assert attempt(project)["resets_at"] == RESET_TIME
    again = project.shell(ran.command)
    assert again.code == 0, again
    assert project.runs() == ["tidy:1", "tidy:1"]
    assert project.state("s", "tidy")["iteration_completed"] == 1


def test_a_usage_limit_that_is_over_is_waited_for(
    stub: StubClaude, project: Project
) -> None:
    stub.loop(on_limit="wait", attempts=1)
    stub.answers(limited(1_700_000_000), recorded("claude-ok"))

    ran = project.ok(*COMMAND)

    assert "usage limit: waiting until 2023-11-14T22:13:20Z (5.0 s)" in ran.out
    assert project.state("s", "tidy", 1)["attempts"] == 2


def test_an_agent_whose_tools_were_refused_has_failed(
    stub: StubClaude, project: Project
) -> None:
    stub.answers(recorded("claude-denied"))

    ran = project.doit(*COMMAND)

    assert ran.code == 1, ran
    assert "denied: tools were refused: `Write`" in ran.last
    assert "  fix: allow them" in ran.out
    assert project.runs() == ["tidy:1"]
    assert attempt(project)["verdict"] == "denied"


def test_a_refused_key_stops_at_once_with_the_fix(
    stub: StubClaude, project: Project
) -> None:
    stub.answers(recorded("claude-key"))

    ran = project.doit(*COMMAND)

    assert ran.code == 1, ran
    assert "  fix: log the agent in" in ran.out
    assert project.runs() == ["tidy:1"]


def test_a_failure_of_the_service_is_tried_again(
    stub: StubClaude, project: Project
) -> None:
    stub.answers(recorded("claude-server"), recorded("claude-ok"))

    project.ok(*COMMAND)

    assert [e["verdict"] for e in project.ledger("s", "attempt")] == ["transient"]
    assert project.state("s", "tidy")["iteration_completed"] == 1


def test_a_long_transcript_is_cut_in_its_middle(project: Project) -> None:
    stub = StubClaude(project)
    config = project.read("pyproject.toml")
    limit = '[tool.looptasks]\ntranscript_limit = "4kB"\n'
    project.write("pyproject.toml", limit + config)
    stub.loop()
    first, rest = recorded("claude-ok").split("\n", 1)
    noise = (json.dumps({"type": "user", "n": n}) + "\n" for n in range(1000))
    stub.answers(f"{first}\n{''.join(noise)}{rest}")

    project.ok(*COMMAND)

    folder = project.session("s", "tidy/iterations/0001/attempts/1")
    lines = (folder / "stdout").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert sum(map(len, lines)) < 4200
    assert [e["cut"] for e in events if e["type"] == "looptasks"]
    assert events[0]["subtype"] == "init"
    assert events[-1]["type"] == "result"
    assert (folder / "answer.md").read_text() == "All done."


def test_a_limit_that_is_no_size_is_told_before_an_agent_starts(
    project: Project,
) -> None:
    stub = StubClaude(project)
    config = project.read("pyproject.toml")
    project.write(
        "pyproject.toml", f"[tool.looptasks]\ntranscript_limit = -1\n{config}"
    )
    stub.loop()
    stub.answers(recorded("claude-ok"))

    ran = project.doit(*COMMAND)

    assert ran.code == 3, ran
    assert "pyproject.toml: tool.looptasks.transcript_limit: `-1` is no size" in (
        ran.out + ran.err
    )
    assert project.runs() == []


def test_a_large_transcript_is_packed_when_its_stage_is_complete(
    project: Project,
) -> None:
    project.loop("tidy", max_iterations=1)
    project.step("tidy", "yes '0123456789' | head -n 200000; echo the end")

    project.ok(*COMMAND)

    folder = project.session("s", "tidy/iterations/0001/attempts/1")
    assert not (folder / "stdout").exists()
    with gzip.open(folder / "stdout.gz") as file:
        assert len(file.read()) == 200000 * 11 + 8
    assert project.ok("tail", "session=s").out.endswith("tidy:0001  the end\n")
    assert "nothing to do" in project.ok(*COMMAND).last


# What a package brings: an agent that answers by itself, and reads its own files.
PACKAGE = """\
import json
from pathlib import Path
from looptasks.core.agent import Answer

class Polite:
    name = "polite"

    def call(self, call):
        said = Path(call.prompt).read_text().upper()
        Path(call.folder, "said").write_text(said)

    def read(self, folder):
        said = Path(folder, "said")
        if not said.exists():
            return None
        now = "2026-01-01T00:00:00Z"
        return Answer("ok", "it answered", str(said), 0, now, now, 0.5, cost_usd=0.25)

def polite(stage, processes):
    return Polite()
"""


def test_an_agent_of_a_package_does_the_work(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site"
    env = environment(site, registered=True)
    points = {"looptasks.agent": {"polite": "polite:polite"}}
    write_distribution(site, "polite_package", points)
    (site / "polite.py").write_text(PACKAGE)
    project.loop("tidy", "Be kind.", agent="polite", max_iterations=1)

    project.ok(*COMMAND, env=env)

    assert project.output("s", "tidy") == "BE KIND."
    state = project.state("s", "tidy", 1)
    assert (state["agent"], state["cost_usd"]) == ("polite", 0.25)


def test_costs_and_tokens_of_all_sessions_are_summed(
    stub: StubClaude, project: Project
) -> None:
    stub.answers(recorded("claude-ok"))
    for session in ("a", "b"):
        project.ok("loop:tidy", f"session={session}")

    status = project.ok("status", "--json").json

    assert status["cost_usd"] == 0.0032
    assert status["tokens"] == {"input": 400, "output": 80, "cached": 0}
    assert project.ok("status").last.split() == ["all", "sessions", "$0.00"]
