"""What we rely on in doit: a new doit that changes one of these is noticed here."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from doit.dependency import Dependency
from doit.task import Task

from tests.support.doit_process import Ran, doit, environment

MODES = [(), ("-n", "2"), ("-n", "2", "-P", "thread")]

UNROLL = """
import json, os, sys, time
from doit.task import Task
from looptasks.plugin.late import late

DOIT_CONFIG = {"verbosity": 0}
LENGTH, FAILS_AT = int(os.environ.get("LENGTH", 3)), int(os.environ.get("FAILS_AT", 0))

def trace(word):
    with open("trace", "a") as file:
        file.write(word + "\\n")

def iterate(number):
    trace(f"run {number}")
    if number == FAILS_AT:
        return False
    with open(f"state{number}", "w") as file:
        file.write(str(number))

def unroll(done):
    trace(f"created after {done}")
    if done and not os.path.exists(f"state{done}"):
        trace("saw the failure")
    if done < LENGTH and done != FAILS_AT or not done:
        number = done + 1
        yield Task(f"loop:a:{number}", [(iterate, [number])],
                   targets=[f"state{number}"],
                   file_dep=[f"state{done}"] if done else ["in.txt"])
        yield late("loop:a", unroll, number, after=[f"loop:a:{number}"])
    else:
        yield Task("loop:a", [(trace, ["published"])], file_dep=[f"state{done}"],
                   task_dep=[f"loop:a:{done}"])

def task_loop():
    yield late("loop:a", unroll, 0)

def task_after():
    return {"actions": [(trace, ["downstream"])], "task_dep": ["loop:a"]}
"""


class Project:
    """A folder with a `dodo.py`, where doit knows nothing of looptasks."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self.folder = folder
        self.env = env

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def doit(self, *words: str, **variables: str) -> Ran:
        return doit(self.folder, *words, env={**self.env, **variables})

    def trace(self) -> list[str]:
        """Return what the tasks did since this was last asked."""
        lines = self.read("trace").splitlines()
        self.write("trace", "")
        return lines


@pytest.fixture
def project(tmp_path: Path) -> Project:
    env = environment(tmp_path / "environment", registered=False)
    made = Project(tmp_path / "project", env)
    made.folder.mkdir()
    made.write("in.txt", "input")
    return made


# late tasks


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_of_unknown_length_unrolls_in_one_run(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("dodo.py", UNROLL)

    ran = project.doit(*mode, "after")

    assert (ran.code, ran.err) == (0, "")
    assert project.trace() == [
        "created after 0",
        "run 1",
        "created after 1",
        "run 2",
        "created after 2",
        "run 3",
        "created after 3",
        "published",
        "downstream",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_a_rerun_replays_without_running_anything(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("dodo.py", UNROLL)
    project.doit("loop:a")
    project.trace()

    project.doit(*mode, "loop:a")

    assert project.trace() == [f"created after {number}" for number in range(4)]


def test_a_longer_loop_goes_on_where_it_stopped(project: Project) -> None:
    project.write("dodo.py", UNROLL)
    project.doit("loop:a")
    project.trace()

    project.doit("loop:a", LENGTH="4")

    assert [line for line in project.trace() if "run" in line] == ["run 4"]


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_unrolls_hundreds_of_times(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("dodo.py", UNROLL)

    ran = project.doit(*mode, "loop:a", LENGTH="400")

    assert (ran.code, ran.err) == (0, "")
    assert sum(line.startswith("run") for line in project.trace()) == 400


@pytest.mark.parametrize("mode", MODES)
def test_a_failure_stops_the_loop(project: Project, mode: tuple[str, ...]) -> None:
    project.write("dodo.py", UNROLL)

    ran = project.doit(*mode, "loop:a", FAILS_AT="2")

    assert ran.code == 1
    assert project.trace()[-1] == "run 2"


@pytest.mark.parametrize("mode", MODES)
def test_a_creator_is_called_after_a_failure_under_continue(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("dodo.py", UNROLL)

    project.doit(*mode, "--continue", "after", FAILS_AT="2")

    trace = project.trace()
    assert "saw the failure" in trace
    assert "published" not in trace
    assert "downstream" not in trace


def test_a_placeholder_with_targets_would_clash_with_its_own_task(
    project: Project,
) -> None:
    project.write(
        "dodo.py",
        UNROLL.replace(
            'yield late("loop:a", unroll, 0)',
            'task = late("loop:a", made, 0); task.targets = ["out"]; yield task',
        )
        + '\ndef made(_): yield Task("loop:a", None, targets=["out"])\n',
    )

    ran = project.doit("loop:a")

    assert ran.code == 2
    assert "Two different tasks can't have a common target" in ran.out


@pytest.mark.parametrize("mode", MODES)
def test_an_invalid_task_in_a_creator_is_told_without_a_traceback(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("dodo.py", REFUSING)

    ran = project.doit(*mode, "loop:a")

    assert (ran.code, ran.err) == (2, "")
    assert "bead blockers form a cycle: a -> b -> a" in ran.out


def test_a_task_dep_that_no_creator_has_made_is_a_key_error(project: Project) -> None:
    project.write("dodo.py", UNKNOWN_NAME)

    ran = project.doit("bead:a")

    assert ran.code == 3
    assert "KeyError: 'bead:nosuch'" in ran.err


def test_a_cycle_of_late_tasks_is_not_told_in_words(project: Project) -> None:
    # With `-n` it is worse: doit waits for ever.
    project.write("dodo.py", CYCLE)

    ran = project.doit("all")

    assert ran.code == 3
    assert "AttributeError" in ran.err.splitlines()[-1]


# what doit remembers


@pytest.mark.parametrize("backend", ["dbm", "json", "sqlite3"])
def test_a_killed_run_forgets_everything_with_doits_own_backends(
    project: Project, backend: str
) -> None:
    assert statuses_after_kill(project, backend) == {"R": 5}


def test_a_killed_run_keeps_its_finished_tasks_with_our_backend(
    project: Project,
) -> None:
    project.write("doit.cfg", OUR_BACKEND)

    assert statuses_after_kill(project, "journal") == {"U": 4, "R": 1}


@pytest.mark.parametrize("mode", MODES)
def test_our_backend_remembers_what_it_ran(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.write("doit.cfg", OUR_BACKEND)
    project.write("dodo.py", SEVERAL)
    chosen = ("--backend", "journal", "--db-file", ".loop/doit.db")

    project.doit(*chosen, *mode, "work")
    ran = project.doit("list", *chosen, "--all", "--status", "-q")

    assert {line[0] for line in ran.out.splitlines() if "work:" in line} == {"U"}
    project.doit("forget", *chosen, "work:0")
    project.doit("ignore", *chosen, "work:1")
    ran = project.doit("list", *chosen, "--all", "--status", "-q")
    assert status_of("work:0", ran) == "R"
    assert status_of("work:1", ran) == "I"
    assert status_of("work:2", ran) == "U"


def test_a_failed_task_is_forgotten_by_our_backend(project: Project) -> None:
    project.write("doit.cfg", OUR_BACKEND)
    project.write("dodo.py", SOMETIMES)
    chosen = ("--backend", "journal")

    project.doit(*chosen)
    project.write("fail", "")
    assert project.doit(*chosen, "-a").code == 1
    (project.folder / "fail").unlink()

    assert status_of("t", project.doit("list", *chosen, "--status", "-q")) == "R"


def test_a_task_is_saved_with_its_deps_last(tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_text("x")
    manager = Dependency(Recording, "name")
    manager.save_success(Task("t", None, file_dep=[str(file)]))
    manager.ignore(Task("u", None))

    assert manager.backend.seen[-2:] == [("t", "deps:"), ("u", "ignore:")]
    assert {task for task, _ in manager.backend.seen[:-1]} == {"t"}


def test_the_database_is_there_before_the_tasks_are_loaded(project: Project) -> None:
    project.write("doit.cfg", LOADER_CONFIG)
    project.write("theirs.py", LOADER)

    assert (
        project.doit("t").out.splitlines()[0] == "run executes=True db=True vars=None"
    )
    ran = project.doit("list", "session=auth")
    assert ran.out.splitlines()[0] == "list executes=False db=True vars=auth"


# files


def test_file_states_are_taken_after_the_action(project: Project) -> None:
    project.write(
        "dodo.py",
        'def task_t(): return {"actions": ["echo more >> in.txt"], '
        '"file_dep": ["in.txt"]}\n',
    )
    project.doit()

    assert status_of("t", project.doit("list", "--status", "-q")) == "U"


def test_a_task_dep_that_ran_does_not_make_a_task_stale(project: Project) -> None:
    project.write(
        "dodo.py",
        'def task_a(): return {"actions": ["true"]}\n'
        'def task_b(): return {"actions": ["true"], "file_dep": ["in.txt"], '
        '"task_dep": ["a"]}\n',
    )
    project.doit()

    assert project.doit().out.splitlines() == [".  a", "-- b"]


@pytest.mark.parametrize(("checker", "seen"), [("'md5'", "U"), ("ContentChecker", "R")])
def test_a_rewrite_within_one_tick_is_missed_by_md5_and_seen_by_ours(
    project: Project, checker: str, seen: str
) -> None:
    project.write(
        "dodo.py",
        "from looptasks.plugin.checker import ContentChecker\n"
        f'DOIT_CONFIG = {{"check_file_uptodate": {checker}}}\n'
        'def task_t(): return {"actions": ["true"], "file_dep": ["in.txt"]}\n',
    )
    file = project.folder / "in.txt"
    project.doit()
    status = file.stat()

    file.write_text("INPUT")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert status_of("t", project.doit("list", "--status", "-q")) == seen


# commands


def test_words_with_an_equal_sign_are_variables_wherever_they_stand(
    project: Project,
) -> None:
    project.write(
        "dodo.py",
        "from doit import get_var\n"
        "def task_t(): return {'actions': [], 'doc': get_var('reason', 'none')}\n",
    )

    assert "a=b" in project.doit("list", "reason=a=b").out
    assert "a=b" in project.doit("reason=a=b", "list").out


def test_a_mistake_while_loading_is_told_without_a_traceback(project: Project) -> None:
    project.write(
        "dodo.py",
        "from doit.exceptions import InvalidDodoFile\n"
        "raise InvalidDodoFile('loops/a/loop.yaml: mend it')\n",
    )

    assert project.doit("list") == Ran(3, "", "ERROR: loops/a/loop.yaml: mend it\n")


def test_a_missing_dodo_is_told_in_the_words_we_look_for(project: Project) -> None:
    ran = project.doit("t")

    assert ran.code == 3
    assert ran.err.startswith("ERROR: Could not find dodo file")


def test_clean_cannot_follow_a_chain_of_a_thousand_tasks(project: Project) -> None:
    project.write(
        "dodo.py",
        "def task_c():\n"
        "    for n in range(1200):\n"
        "        yield {'name': str(n), 'actions': None,\n"
        "               'task_dep': [f'c:{n - 1}'] if n else []}\n",
    )

    assert "RecursionError" in project.doit("clean").err


def test_an_action_in_python_swaps_stdout_for_everyone(project: Project) -> None:
    project.write("dodo.py", SWAPPED)

    project.doit("t")

    assert project.trace() == ["False"]


def test_a_task_called_like_a_command_is_refused(project: Project) -> None:
    project.write("dodo.py", "def task_list(): return {'actions': []}\n")

    ran = project.doit("run")

    assert ran.code == 3
    assert "because this is a command name" in ran.err


# pieces of the above


def statuses_after_kill(project: Project, backend: str) -> dict[str, int]:
    """Kill doit in its last task; return how many tasks are in which status then."""
    project.write("dodo.py", SEVERAL)
    chosen = ("--backend", backend, "--db-file", "memory.db")
    running = subprocess.Popen(
        [sys.executable, "-m", "doit", *chosen, "work", "sleepy"],
        cwd=project.folder,
        env={**project.env, "SLEEP": "60"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (project.folder / "asleep").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    ran = project.doit("list", *chosen, "--all", "--status", "-q")
    found = [line[0] for line in ran.out.splitlines() if "work:" in line]
    found.append(status_of("sleepy", ran))
    return {status: found.count(status) for status in found}


def status_of(task: str, ran: Ran) -> str:
    """Return the letter that `doit list --status` gives a task."""
    lines = (line.split() for line in ran.out.splitlines())
    return next(words[0] for words in lines if words[1:] == [task])


class Recording:
    """A backend that notes what is set, in order."""

    def __init__(self, name: str, **_: object) -> None:
        self.name = name
        self.seen: list[tuple[str, str]] = []

    def set(self, task_id: str, dependency: str, _: object) -> None:
        self.seen.append((task_id, dependency))

    def get(self, *_: str) -> None:
        return None

    def in_(self, _: str) -> bool:
        return False

    def remove(self, _: str) -> None: ...

    def remove_all(self) -> None: ...


OUR_BACKEND = "[BACKEND]\njournal = looptasks.plugin.backend:SessionJournal\n"

SEVERAL = """
import os, time
DOIT_CONFIG = {"verbosity": 0}

def sleepy():
    open("asleep", "w").close()
    time.sleep(float(os.environ.get("SLEEP", 0)))

def task_work():
    for number in range(4):
        yield {"name": str(number), "actions": [f"echo {number} > out{number}"],
               "file_dep": ["in.txt"], "targets": [f"out{number}"]}

def task_sleepy():
    return {"actions": [sleepy], "file_dep": ["in.txt"], "task_dep": ["work"]}
"""

SOMETIMES = """
def task_t():
    return {"actions": ["test ! -e fail"], "file_dep": ["in.txt"]}
"""

REFUSING = """
from doit.exceptions import InvalidTask
from looptasks.plugin.late import late

def refuse():
    raise InvalidTask("bead blockers form a cycle: a -> b -> a")
    yield

def task_loop():
    yield late("loop:a", refuse)
"""

UNKNOWN_NAME = """
from looptasks.plugin.late import late

def create():
    yield late("bead:a", create, after=["bead:nosuch"])

def task_bead():
    yield late("bead:a", create)
"""

CYCLE = """
from doit.task import Task
from looptasks.plugin.late import late

def needs(name, other):
    yield Task(name, None, task_dep=[other])

def task_bead():
    yield late("bead:a", needs, "bead:a", "bead:b")
    yield late("bead:b", needs, "bead:b", "bead:a")

def task_all():
    return {"actions": None, "task_dep": ["bead:a", "bead:b"]}
"""

LOADER_CONFIG = "[GLOBAL]\nloader = own\n[LOADER]\nown = theirs:Own\n"

LOADER = """
from doit import get_var
from doit.cmd_base import NamespaceTaskLoader
from doit.task import Task

class Own(NamespaceTaskLoader):
    def setup(self, opt_values):
        self.namespace = {"task_t": lambda: {"actions": []}}

    def load_doit_config(self):
        return {}

    def load_tasks(self, cmd, pos_args):
        print(f"{cmd.name} executes={cmd.execute_tasks}",
              f"db={cmd.dep_manager is not None}",
              f"vars={get_var('session')}", flush=True)
        return [Task("t", None)]
"""

SWAPPED = """
import sys
ORIGINAL = sys.stdout

def look():
    with open("trace", "a") as file:
        file.write(f"{sys.stdout is ORIGINAL}\\n")

def task_t():
    return {"actions": [look]}
"""
