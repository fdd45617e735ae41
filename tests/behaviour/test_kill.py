"""`kill -9` at any instant loses nothing, repeats nothing, and leaves nothing running.

`LOOPTASKS_KILL_SEED=N` repeats a run of the first test, `LOOPTASKS_KILL_ROUNDS=N`
makes it longer or shorter.
"""

import os
import random
import sys
from pathlib import Path

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

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SEED = int(os.environ.get("LOOPTASKS_KILL_SEED", "20"))
ROUNDS = int(os.environ.get("LOOPTASKS_KILL_ROUNDS", "200"))
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
STAGES = [
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
    chance = random.Random(f"{SEED} {words}")
    project = crash_project(tmp_path)
    kills = session = 0
    while kills < ROUNDS // 2:
        session += 1
        kills += kill_often(project, (*words, f"session=s{session}"), chance)
    print(f"{kills} kills in {session} sessions, LOOPTASKS_KILL_SEED={SEED}")


def kill_often(
    project: CrashProject, words: tuple[str, ...], chance: random.Random
) -> int:
    """Kill runs of a session, then let it finish; return how many were killed."""
    session = words[-1].partition("=")[2]
    seen: dict[str, str] = {}
    killed = 0
    while killed < KILLS_PER_SESSION and kill_once(project, words, chance):
        killed += 1
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
            lambda: (owner.exists() and owner.stat().st_ino != before)
            or process.poll() is not None,
        )
        nap(chance.uniform(0, 0.15))
    else:
        nap(chance.uniform(0, 0.3))
    alive = process.poll() is None
    kill(process)
    return alive


# Put in front of Python's own start-up: ends the process at its n-th change of a file,
# before it, or in the middle when it is a write.
SITE = """\
import os, sys
if "KILL_AT" in os.environ and "doit" in " ".join(sys.orig_argv):
    at, torn = int(os.environ["KILL_AT"]), os.environ.get("KILL_TORN")
    count = [0]
    def die():
        os.kill(os.getpid(), 9)
    def counted(name, act):
        def change(*args, **kwargs):
            count[0] += 1
            if count[0] == at:
                if name == "write" and torn:
                    act(args[0], bytes(args[1])[: len(args[1]) // 2])
                die()
            return act(*args, **kwargs)
        return change
    for name in ("write", "replace", "rename", "unlink", "mkdir", "symlink",
                 "fsync", "fdatasync", "posix_spawn", "sendfile", "ftruncate"):
        setattr(os, name, counted(name, getattr(os, name)))
    def watch(event, args):
        if event == "open" and isinstance(args[2], int) and args[2] & 3:
            if str(args[0]).startswith("/dev/"):
                return
            count[0] += 1
            if count[0] == at:
                die()
    sys.addaudithook(watch)
    import atexit
    def report():
        with open(os.environ["KILL_COUNT"], "w") as file:
            file.write(str(count[0]))
    atexit.register(report)
"""


def deterministic(folder: Path) -> tuple[CrashProject, dict[str, str]]:
    project = CrashProject(folder)
    project.loop(max_iterations=2, validate="true")
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE)
    path = f"{site}{os.pathsep}{project.env['PYTHONPATH']}"
    return project, {"PYTHONPATH": path, "KILL_COUNT": str(folder / "count")}


@pytest.mark.parametrize("torn", ["", "yes"])
def test_no_single_file_operation_is_a_bad_moment_to_be_killed(
    tmp_path: Path, torn: str
) -> None:
    project, env = deterministic(tmp_path)
    env["KILL_TORN"] = torn
    words = ("loop:work", "session=whole")
    ran = project.run(*words, env={**env, "KILL_AT": "0"})
    assert ran.code == 0, ran
    count = int((tmp_path / "count").read_text())
    assert count > 30
    for at in range(1, count + 1):
        killed_at(project, env, at)


def killed_at(project: CrashProject, env: dict[str, str], at: int) -> None:
    words = ("loop:work", f"session=s{at}")
    killed = project.run(*words, env={**env, "KILL_AT": str(at)})
    assert killed.code == -9, (at, killed)
    assert project.is_quiet(), at
    if not env["KILL_TORN"]:
        assert torn_files(project) == [], at
    seen = outputs(project, f"s{at}")
    ran = project.run(*words)
    assert ran.code == 0, (at, ran)
    assert len(project.events(f"s{at}", "iteration")) == 2, at
    assert faults(project, f"s{at}") == [], at
    assert {**outputs(project, f"s{at}"), **seen} == outputs(project, f"s{at}"), at


def test_a_keeper_that_is_killed_too_leaves_its_agents_to_the_next_run(
    tmp_path: Path,
) -> None:
    project = CrashProject(tmp_path, "#!/bin/sh\necho 1 >> calls.log\nsleep 60\n")
    project.loop(max_iterations=1)
    process = project.start("loop:work")
    until(project.called)
    left = project.processes()
    for pid in [p for p in left if "keeper" in command_of(p)]:
        os.kill(pid, 9)
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
