"""Real agents in real loops: whole doit processes, from the declaration to the end."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from looptasks.effects import bubblewrap
from tests.support.agent_bench import MODELS, AgentBench
from tests.support.agent_project import AgentProject
from tests.support.bead_project import SESSION, SWARM
from tests.support.fake_protocols import Step
from tests.support.live_processes import within

ALL = ("claude", "codex", "gemini", "opencode")
HAS_COST = ("claude", "opencode")
KEY = "sk-ant-REDACTED"
# Known by its name in the environment only; streams of JSON write it in other ways.
TOKEN = 'correct "horse" \\ bättery-staple'

SESSION_FILES = "PROGRESS.md doit.db ledger.jsonl run.lock session.json"
STAGE_FILES = "current output/output.md progress.md state.json"
ITERATION_FILES = (
    "inputs.json output.md progress.md prompt.md state.json attempts/1/answer.md "
    "attempts/1/result.json attempts/1/stderr attempts/1/stdout attempts/1/stream.json"
)
STAGE_FIELDS = (
    "completion_reason cost_usd history iteration iteration_completed "
    "iteration_started loop schema session stage started_at status tokens updated_at"
)
ITERATION_FIELDS = (
    "agent attempts base_commit changed cost_usd decision estimated exit_code "
    "finished_at head_commit inputs item iteration left model output parsed previous "
    "progress reads result schema seconds session_id started_at tokens turns "
    "validation heard artifact judge"
)

pytestmark = pytest.mark.real_agents
every_agent = pytest.mark.parametrize("bench", ALL, indirect=True)


def expected_files() -> set[str]:
    """Return the files of a session `s` after two iterations of the loop `x`."""
    iterations = ("x/iterations/0001/", "x/iterations/0002/")
    return {
        *SESSION_FILES.split(),
        *(f"x/{name}" for name in STAGE_FILES.split()),
        *(top + name for top in iterations for name in ITERATION_FILES.split()),
    }


@every_agent
def test_the_same_loop_gives_the_same_files_and_fields_with_every_agent(
    bench: AgentBench,
) -> None:
    project = AgentProject(bench)
    project.loop("x", completion="plateau", output_parse="plateau:PLATEAU")
    bench.fake.asked.clear()
    bench.fake.script = lambda _prompt, _turn: {
        "text": f"Answer {len(bench.fake.asked) + 1}.\n\nPLATEAU: true"
    }

    ran = project.ok("loop:x", SESSION)

    assert ran.last.startswith("complete: loop:x in session s, 2 iterations"), ran
    assert len(bench.fake.asked) == 2
    assert project.output("s", "x").startswith("Answer 2.")
    assert set(project.files("s")) == expected_files()
    stage = project.state("s", "x")
    assert stage.keys() == set(STAGE_FIELDS.split())
    assert stage["tokens"] == {"input": 200, "output": 40, "cached": 0}
    assert (stage["cost_usd"] is not None) == (bench.name in HAS_COST)
    for number in (1, 2):
        state = project.state("s", "x", number)
        assert state.keys() == set(ITERATION_FIELDS.split())
        assert (state["agent"], state["estimated"]) == (bench.name, False)
        assert state["tokens"] == {"input": 100, "output": 20, "cached": 0}
        assert (state["cost_usd"] is not None) == (bench.name in HAS_COST)
    assert bench.is_quiet()


@every_agent
def test_beads_are_done_at_the_same_time_in_worktrees(bench: AgentBench) -> None:
    project = AgentProject(bench)
    project.swarm("Do the bead ${BEAD_ID} now.", isolation="worktree")
    project.bead("one")
    project.bead("two")
    repository = project.repository()
    at_work: set[str] = set()

    def script(prompt: str, turn: int) -> Step:
        found = re.search(r"Do the bead (\w+) now", prompt)
        assert found
        at_work.add(found[1])
        # Neither goes on before the other has begun.
        assert within(90, lambda: len(at_work) == 2)
        work = bench.shell(f"echo {found[1]} > {found[1]}.txt")
        return {"text": "Done."} if turn else work

    bench.fake.script = script
    ran = project.ok("-n", "2", SWARM, SESSION)

    assert project.statuses() == {"one": "closed", "two": "closed"}, ran
    for name in ("one", "two"):
        assert project.read(f"{name}.txt") == f"{name}\n", ran
    assert repository.status == ""
    assert bench.is_quiet()


@every_agent
def test_nothing_outlives_a_doit_that_is_killed(
    more_benches: list[AgentBench],
) -> None:
    why_not = bubblewrap.why_not()
    boxes = ["none"] if why_not else ["none", "bwrap"]
    with ThreadPoolExecutor() as pool:
        found = pool.map(kill_doit, more_benches, boxes)
    assert [wrong for wrong in found if wrong] == []
    if why_not:
        pytest.skip(f"without bubblewrap nothing is left; with it: {why_not}")


def kill_doit(bench: AgentBench, sandbox: str) -> str:
    """Return what is wrong after doit was killed while an agent's shell slept."""
    project = AgentProject(bench)
    project.agent(sandbox=sandbox)
    project.loop("x", max_iterations=1)
    nap = f"300.{int.from_bytes(os.urandom(6))}"
    command = f"echo yes > started.txt; sleep {nap}"
    bench.fake.script = [bench.shell(command), {"text": "Done."}]

    with project.start("loop:x", SESSION) as doit:
        started = within(60, project.path("started.txt").exists)
        before = project.left(nap)
        doit.kill()
    if not started or len(before) < len(("doit", "keeper", "agent", "shell")):
        return f"{sandbox}: only {before} have started"
    gone = within(2, lambda: not project.left(nap))
    return "" if gone else f"{sandbox}: {project.left(nap)} are left"


@every_agent
def test_a_key_that_an_agent_sees_and_says_is_kept_nowhere(bench: AgentBench) -> None:
    project = AgentProject(bench)
    project.agent(env=["SHOP_TOKEN"])
    project.loop("x", f"Say {KEY}.", output_parse="said:SAID", max_iterations=1)
    said = f"The key is {KEY}.\n{TOKEN}\nSAID: {KEY} {TOKEN}"
    echo = 'echo "$SHOP_TOKEN" | tee seen.txt'
    bench.fake.script = [bench.shell(echo), {"text": said}]
    secret = {"SHOP_TOKEN": TOKEN}

    ran = project.ok("loop:x", SESSION, env=secret)

    assert project.read("seen.txt") == f"{TOKEN}\n"
    assert project.output("s", "x").startswith("The key is sk-ant-***")
    tail, status = (project.ok(w, SESSION, "--json").out for w in ("tail", "status"))
    screen = "".join([ran.out, ran.err, tail, status, project.ok("tail", SESSION).out])
    files = [path for path in project.path(".loop").rglob("*") if path.is_file()]
    assert len(files) > len(SESSION_FILES.split())
    for key in (KEY, TOKEN, json.dumps(TOKEN)[1:-1], TOKEN.replace('"', '\\"')):
        assert key not in screen
        assert [f for f in files if key.encode() in f.read_bytes()] == []
    for key in ("horse", "bättery", "-staple"):
        assert [f for f in files if key.encode() in f.read_bytes()] == []


@pytest.mark.parametrize("bench", ["claude"], indirect=True)
@pytest.mark.parametrize("pending", [True, False])
def test_claude_goes_on_by_our_stop_hook_only_while_beads_are_pending(
    bench: AgentBench,
    pending: bool,
) -> None:
    project = AgentProject(bench)
    project.swarm(agent={"command": "./agent.sh"}, attempts=1)
    project.does("any", "exit 1" if pending else "echo done")
    project.bead("b-1", title="Paint the shed")
    project.doit(SWARM, SESSION)
    project.ok("hooks", "install")
    bench.fake.asked.clear()
    bench.fake.script = [{"text": "I stop here."}, {"text": "I went on."}]

    settings = bench.settings()
    words = [f"{settings.variables['PATH'].partition(':')[0]}/claude", "-p"]
    words += ["--setting-sources", "project,user", "--model", MODELS["claude"]]
    done = subprocess.run(
        words,
        cwd=project.root,
        env={**settings.variables, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        input="Work.",
        capture_output=True,
        text=True,
        timeout=project.patience,
        check=False,
    )

    assert done.returncode == 0, done
    assert len(bench.fake.asked) == (2 if pending else 1)
    assert done.stdout.strip() == ("I went on." if pending else "I stop here.")
