"""Crashes of a fan: `kill -9` while beads are worked on and merged."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject
from tests.support.crash import nap, until
from tests.support.live_processes import carrying, within

# Half of the work is committed by the agent, the other half is left lying around.
WORK = """\
echo x > $LOOP_BEAD.one; git add -A; git commit -qm one
sleep 0.1
echo x > $LOOP_BEAD.two"""
WHOLE = "for one in *.one; do test ! -f $one || test -f ${one%.one}.two || exit 1; done"
BEADS = {"a": (), "b": (), "c": ("a",), "d": ("a", "b")}
ROUNDS, KILLS = 5, 3


class Crashing:
    """A project with worktrees whose runs are killed, and what they leave."""

    def __init__(self, fan: BeadProject) -> None:
        self.fan = fan
        self.mark = f"FAN_CRASH={os.urandom(8).hex()}"
        fan.swarm(
            completion="validated", validate=f"{WHOLE}; sleep 0.1", max_iterations=3
        )
        for bead, blockers in BEADS.items():
            fan.bead(bead, *blockers)
        self.repo = fan.repository()

    def start(self) -> "subprocess.Popen[bytes]":
        """Start a run in the background, every process of it marked."""
        name, _, value = self.mark.partition("=")
        return subprocess.Popen(
            [sys.executable, "-m", "doit", "-n", "2", SWARM, SESSION],
            cwd=self.fan.root,
            env=self.fan.environment(**{name: value}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        """Kill doit, and only doit; all that it started must go with it."""
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert within(5, lambda: not carrying(self.mark)), "something is left running"

    def merged(self, commit: str = "main") -> set[str]:
        """Return the beads whose work a commit has; it must have all of it."""
        files = self.repo.git("ls-tree", "--name-only", commit).split()
        one = {name[0] for name in files if name.endswith(".one")}
        assert one == {name[0] for name in files if name.endswith(".two")}, commit
        return one

    def finished_calls(self, bead: str) -> int:
        """Return how many agents of a bead came to their end."""
        folder = self.fan.session("s", "beads", bead)
        ends = [json.loads(p.read_text())["how"] for p in folder.rglob("result.json")]
        return ends.count("exit")


@pytest.fixture
def crashing(fan: BeadProject) -> Crashing:
    """Return a project that is ready to crash."""
    return Crashing(fan)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_a_kill_at_any_moment_leaves_the_branch_before_or_after_a_merge(
    crashing: Crashing, seed: int
) -> None:
    moments = random.Random(seed)
    for _ in range(KILLS):
        process = crashing.start()
        nap(moments.uniform(0.3, 2.0))
        crashing.kill(process)
        crashing.merged()
    ran = crashing.fan.ok("-n", "2", SWARM, SESSION)
    assert crashing.merged() == set(BEADS), ran
    assert crashing.repo.status == ""
    assert len(crashing.repo.git("worktree", "list").splitlines()) == 1
    assert crashing.repo.git("branch", "--list", "loop/*") == ""
    for commit in crashing.repo.git("rev-list", "--first-parent", "main").split():
        crashing.merged(commit)
    assert {bead: crashing.finished_calls(bead) for bead in BEADS} == dict.fromkeys(
        BEADS, 1
    )
    assert set(crashing.fan.statuses().values()) == {"closed"}


def test_a_dead_runs_claims_are_released_and_its_work_goes_on(
    crashing: Crashing,
) -> None:
    fan = crashing.fan
    fan.does("any", "sleep 60")
    process = crashing.start()
    until(lambda: len(fan.runs()) == 2)
    assert fan.statuses()["a"] == "in_progress"
    crashing.kill(process)
    fan.does("any", WORK)
    fan.ok("-n", "2", SWARM, SESSION)
    assert crashing.merged() == set(BEADS)


def test_a_bead_that_a_killed_agent_had_closed_is_checked_nevertheless(
    fan: BeadProject,
) -> None:
    fan.swarm(completion="validated", validate="test -f made", max_iterations=2)
    fan.bead("a")
    fan.does("a", "bd close a -r 'believe me'; sleep 60")
    process = fan.start(SWARM, SESSION)
    until(lambda: fan.runs() and fan.statuses()["a"] == "closed")
    process.kill()
    process.communicate()
    fan.does("a", "touch made")
    fan.ok(SWARM, SESSION)
    assert Path(fan.root, "made").exists()
    assert fan.state("s", "beads/a")["status"] == "complete"


@pytest.fixture(autouse=True)
def _work(fan: BeadProject) -> None:
    fan.does("any", WORK)
