"""`kill -9` at any instant loses nothing, repeats nothing, and leaves nothing running.

`LOOPTASKS_KILL_SEED=N` repeats a run of the first test, `LOOPTASKS_KILL_ROUNDS=N`
makes it longer or shorter.
"""

import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.crash import (
    CrashProject,
    faults,
    finished,
    kill,
    nap,
    outputs,
    torn_files,
    until,
)
from tests.support.live_processes import within
from tests.support.thorough import THOROUGH, instants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SEED = int(os.environ.get("LOOPTASKS_KILL_SEED", "20"))
ROUNDS = int(os.environ.get("LOOPTASKS_KILL_ROUNDS", "200" if THOROUGH else "60"))
KILLS_PER_SESSION = 10

# Takes a moment, writes in parts, and now and then leaves a child of a child behind
# in a session of its own.
AGENT = """\
#!/bin/sh
echo "$LOOP_SESSION $LOOP_TYPE $LOOP_ITERATION" >> calls.log
case $(($$ % 5)) in
  0) setsid sh -c 'sleep 60 & wait' > /dev/null 2>&1 & ;;
  1) sleep 0.02 ;;
  2) sleep 0.01 ;;
esac
for part in 1 2 3; do echo "part $part of iteration $LOOP_ITERATION by $$"; done
"""
STAGES: list[dict[str, Any]] = [
    {"name": "first", "prompt": "Begin.", "runs": 3},
    {
        "name": "sides",
        "parallel": [
            {"name": side, "prompt": "Go on from ${INPUTS}.", "runs": 20}
            for side in ("left", "middle", "right")
        ],
    },
    {"name": "last", "prompt": "Sum up ${INPUTS}.", "runs": 3},
]


def crash_project(folder: Path) -> CrashProject:
    project = CrashProject(folder, AGENT)
    project.loop(max_iterations=60)
    project.pipeline("all", STAGES)
    return project


@pytest.mark.parametrize("words", [("loop:work",), ("-n", "3", "pipeline:all")])
def test_no_kill_loses_or_repeats_a_finished_iteration(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    print(f"to repeat this: LOOPTASKS_KILL_SEED={SEED}")
    chance = random.Random(f"{SEED} {words}")
    project = crash_project(tmp_path)
    kills = session = 0
    while kills < ROUNDS // 2:
        session += 1
        kills += kill_often(project, (*words, f"session=s{session}"), chance)


def kill_often(
    project: CrashProject, words: tuple[str, ...], chance: random.Random
) -> int:
    """Kill runs of a session, then let it finish; return how many were killed."""
    session = words[-1].partition("=")[2]
    seen: dict[str, str] = {}
    killed = 0
    while killed < KILLS_PER_SESSION and kill_once(project, words, chance):
        killed += 1
        if chance.random() < 0.5:  # else the next run comes while the keeper clears up
            assert project.is_quiet(), project.processes()
        assert torn_files(project) == []
        seen = outputs(project, session) | seen
    ran = project.run(*words)
    assert ran.code == 0, ran
    assert torn_files(project) == []
    assert faults(project, session) == []
    now = outputs(project, session)
    assert {name: now[name] for name in seen} == seen
    return killed


def kill_once(
    project: CrashProject, words: tuple[str, ...], chance: random.Random
) -> bool:
    """Kill one run at a random moment; False when it was done before."""
    owner = project.path(words[-1].partition("=")[2], "run.json")
    before = owner.stat().st_ino if owner.exists() else 0
    process = project.start(*words)
    if chance.random() < 0.8:
        # Most kills come while it works, the others anywhere from its start on.
        within(
            5.0,
            lambda: (
                (owner.exists() and owner.stat().st_ino != before)
                or process.poll() is not None
            ),
        )
        nap(chance.uniform(0, 0.15))
    else:
        nap(chance.uniform(0, 0.3))
    alive = process.poll() is None
    kill(process)
    return alive


# Put in front of Python's own start-up: ends the process at its n-th change of a file,
# just before it, or in the middle of it when it is a write.
SITE = """\
import os, sys
if "KILL_AT" in os.environ and "doit" in sys.orig_argv:
    from tests.support.dying import die_as_told
    die_as_told()
"""


@pytest.mark.parametrize("torn", ["", "yes"])
def test_no_single_change_of_a_file_is_a_bad_moment_to_be_killed(
    tmp_path: Path, torn: str
) -> None:
    project = CrashProject(tmp_path)
    project.loop(max_iterations=2, validate="true")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(SITE)
    project.env |= {
        "PYTHONPATH": f"{tmp_path}/site{os.pathsep}{project.env['PYTHONPATH']}",
        "KILL_REPORT": str(tmp_path / "changes"),
        "KILL_TORN": torn,
    }
    for session in ("cold", "warm"):
        ran = project.run("loop:work", f"session={session}", env={"KILL_AT": "0"})
        assert ran.code == 0, ran
    changes = (tmp_path / "changes").read_text().split()
    assert changes.count("write") > 10
    for at in instants(len(changes), 3, first=bool(torn)):
        change = changes[at - 1]
        if change == "write" or not torn:
            check_killed_at(project, at, f"{at}: {change}")


def check_killed_at(project: CrashProject, at: int, why: str) -> None:
    session = f"s{at}"
    words = ("loop:work", f"session={session}")
    killed = project.run(*words, env={"KILL_AT": str(at)})
    assert killed.code == -9, (why, killed)
    assert project.is_quiet(), why
    if not project.env["KILL_TORN"]:
        assert torn_files(project) == [], why
        seen = outputs(project, session)
    ran = project.run(*words)
    assert ran.code == 0, (why, ran)
    assert len(project.events(session, "iteration")) == 2, why
    assert faults(project, session) == [], why
    if not project.env["KILL_TORN"]:
        progress = project.path(session, "work/progress.md").read_text()
        assert [progress.count(f"### Iteration {n} ") for n in (1, 2)] == [1, 1], why
        now = outputs(project, session)
        assert {name: now[name] for name in seen} == seen, why


def test_a_keeper_that_is_killed_too_leaves_its_agents_to_the_next_run(
    tmp_path: Path,
) -> None:
    project = CrashProject(tmp_path, "#!/bin/sh\necho 1 >> calls.log\nsleep 60\n")
    project.loop(max_iterations=1)
    process = project.start("loop:work")
    until(project.called)
    process.send_signal(signal.SIGSTOP)  # or it would notice, and end them itself
    for pid in [p for p in project.processes() if "keeper" in command_of(p)]:
        os.kill(pid, signal.SIGKILL)
    kill(process)
    assert project.processes()
    project.script("agent.sh", "#!/bin/sh\necho done\n")
    assert finished(project.start("loop:work")).code == 0
    assert project.is_quiet()


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
