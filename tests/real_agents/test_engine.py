"""Real agents in real loops: whole doit processes, from the declaration to the end."""

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from looptasks.effects import bubblewrap
from tests.support.agent_bench import AgentBench
from tests.support.agent_project import AgentProject
from tests.support.bead_project import SWARM
from tests.support.fake_protocols import Step
from tests.support.live_processes import within

ALL = ("claude", "codex", "gemini", "opencode")
HAS_COST = ("claude", "opencode")
KEY = "sk-ant-REDACTED"
TOKEN = "correct-horse-battery-staple"

pytestmark = pytest.mark.real_agents
every_agent = pytest.mark.parametrize("bench", ALL, indirect=True)


@every_agent
def test_the_same_loop_gives_the_same_files_and_fields_with_every_agent(
    bench: AgentBench,
) -> None:
    project = AgentProject(bench)
    declared = {"completion": "plateau", "consensus": 2, "min_iterations": 2}
    project.loop("x", output_parse="plateau:PLATEAU", max_iterations=5, **declared)

    def answer(_prompt: str, _turn: int) -> Step:
        return {"text": f"Round {len(bench.fake.asked) + 1}.\n\nPLATEAU: true"}

    bench.fake.asked.clear()
    bench.fake.script = answer
    ran = project.ok("loop:x", "session=s")
    print(ran.out)
    import pprint
    pprint.pprint(project.files("s"))
    pprint.pprint(project.state("s","x"))
    pprint.pprint(project.state("s","x",2))
    pprint.pprint(project.json("s", "x/iterations/0001/attempts/1/result.json"))
    assert 0
