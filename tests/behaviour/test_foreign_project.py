"""A doit project that does not use looptasks, in an environment that has it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.doit_process import Ran, doit, environment, write_distribution

DODO = '''
"""Ordinary tasks, some of them called like commands of looptasks."""
from doit import create_after, get_var

DOIT_CONFIG = {"verbosity": 2}

def task_t():
    """copy a file"""
    return {
        "actions": ["cp in.txt out.txt", "echo copied %(name)s"],
        "params": [{"name": "name", "long": "name", "default": "x"}],
        "file_dep": ["in.txt"], "targets": ["out.txt"], "clean": True,
    }

def task_group():
    for name in ("one", "two"):
        yield {"name": name, "actions": [f"echo {name}"], "file_dep": ["in.txt"],
               "uptodate": [True], "doc": f"number {name}"}

@create_after(executed="t")
def task_later():
    yield {"name": "part", "actions": ["echo part of later"]}

def named(name):
    def create():
        return {"actions": [f"echo {name} for %(level)s"], "doc": f"their {name}",
                "params": [{"name": "level", "long": "level", "default": "1"}]}
    return create

task_lint, task_status, task_init = named("lint"), named("status"), named("init")
task_reset, task_explain, task_stop = named("reset"), named("explain"), named("stop")

def task_variable():
    return {"actions": [f"echo {get_var('x', 'unset')}"]}

def task_fails():
    return {"actions": ["echo no >&2; exit 1"]}
'''

PLAIN_DODO = '''
def task_t():
    """the only task"""
    return {"actions": ["echo t"]}
'''

COMMANDS = [
    "",
    "t",
    "t --name y",
    "-a t",
    # one task: the order of lines from several is nobody's promise
    "-n 2 -v 0 lint",
    "-n 2 -v 0 -P thread lint",
    "-c fails t",
    "fails",
    "run t",
    "run nosuch",
    "run --nosuch",
    "nosuch",
    "x=1 variable",
    "variable x=1",
    "list",
    "list --all --status",
    "list --all -q --deps",
    "list lint",
    "list nosuch",
    "info t",
    "info lint",
    "info",
    "clean",
    "clean -n t",
    "forget",
    "forget --all",
    "forget t",
    "ignore t",
    "ignore lint",
    "ignore",
    "reset-dep",
    "reset-dep t",
    "strace",
    "tabcompletion",
    "tabcompletion --hardcode-tasks -s zsh",
    "--version",
    "help task",
    "help t",
    "help lint",
    "help init",
    "help run",
    "help list",
    "help info",
    "help clean",
    "help forget",
    "help ignore",
    "help reset-dep",
    "help strace",
    "help tabcompletion",
    "help help",
    "help dumpdb",
    "lint",
    "lint t",
    "lint nosuch",
    "lint --level 3",
    "lint --nosuch",
    "x=1 lint",
    "-f dodo.py lint",
    "run lint",
    "status",
    "init",
    "init --level 2",
    "reset",
    "explain t",
    "stop",
    "--backend looptasks t",
    "--backend nosuch t",
    "-r looptasks t",
    "-r nosuch t",
    "-r json t",
]


class Worlds(NamedTuple):
    """The same project twice: where looptasks is registered, and where it is not."""

    folder: Path
    registered: Mapping[str, str]
    absent: Mapping[str, str]

    def both(self, *words: str) -> tuple[Ran, Ran]:
        """Return what a command comes to in each of the two, paths made equal."""
        return (
            self._ran("registered", words, self.registered),
            self._ran("absent", words, self.absent),
        )

    def files(self, world: str) -> dict[str, bytes]:
        """Return what is in a project's folder, doit's own database by name only."""
        root = self.folder / world
        return {
            str(path.relative_to(root)): b"" if "doit.db" in path.name else _read(path)
            for path in root.rglob("*")
        }

    def write(self, name: str, text: str) -> None:
        """Write a file into both projects."""
        for world in ("registered", "absent"):
            (self.folder / world).mkdir(exist_ok=True)
            (self.folder / world / name).write_text(text)

    def _ran(self, world: str, words: tuple[str, ...], env: Mapping[str, str]) -> Ran:
        code, out, err = doit(self.folder / world, *words, env=env)
        here = str(self.folder / world)
        return Ran(code, out.replace(here, "HERE"), err.replace(here, "HERE"))


def _read(path: Path) -> bytes:
    return b"" if path.is_dir() else path.read_bytes()


@pytest.fixture
def worlds(tmp_path: Path) -> Worlds:
    made = Worlds(
        tmp_path,
        environment(tmp_path / "environment-with", registered=True),
        environment(tmp_path / "environment-without", registered=False),
    )
    made.write("in.txt", "content\n")
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_and_does_what_it_does_without_us(
    worlds: Worlds, command: str
) -> None:
    worlds.write("dodo.py", DODO)
    worlds.both("-v0", "t")

    registered, absent = worlds.both(*command.split())

    assert registered == absent
    assert worlds.files("registered") == worlds.files("absent")


@pytest.mark.parametrize("command", ["lint", "status x", "reset", "stop", "list", ""])
def test_a_project_without_a_task_of_our_name_sees_what_doit_says(
    worlds: Worlds, command: str
) -> None:
    worlds.write("dodo.py", PLAIN_DODO)

    registered, absent = worlds.both(*command.split())

    assert registered == absent


@pytest.mark.parametrize("command", ["", "list", "run", "info t", "help run"])
def test_a_folder_without_tasks_sees_what_doit_says(
    worlds: Worlds, command: str
) -> None:
    registered, absent = worlds.both(*command.split())

    assert registered == absent


def test_help_has_one_line_more_and_that_is_init(worlds: Worlds) -> None:
    worlds.write("dodo.py", PLAIN_DODO)

    registered, absent = worlds.both("help")

    more = [line for line in registered.out.splitlines() if " init " in line]
    rest = [line for line in registered.out.splitlines() if line not in more]
    assert len(more) == 1
    assert rest == absent.out.splitlines()


@pytest.mark.parametrize("dodo", [PLAIN_DODO, None])
def test_help_on_init_is_there_when_no_task_has_that_name(
    worlds: Worlds, dodo: str | None
) -> None:
    if dodo:
        worlds.write("dodo.py", dodo)

    registered, _ = worlds.both("help", "init")

    assert registered.code == 0
    assert registered.out.startswith("PURPOSE")


def test_a_command_of_ours_where_there_is_nothing_says_how_to_begin(
    worlds: Worlds,
) -> None:
    ran, _ = worlds.both("lint")

    assert ran.code == 3
    assert ran.out == ""
    assert ran.err.startswith("`lint` is a command of looptasks")
    assert "\n  fix: run `doit init`" in ran.err


def test_init_is_ours_when_no_task_has_that_name(worlds: Worlds) -> None:
    worlds.write("dodo.py", PLAIN_DODO)

    ran, _ = worlds.both("init")

    assert (ran.code, ran.err) == (0, "")
    assert "loader = loops" in (worlds.folder / "registered/doit.cfg").read_text()


def test_a_command_of_the_project_itself_wins_over_ours(worlds: Worlds) -> None:
    worlds.write("dodo.py", PLAIN_DODO)
    worlds.write("theirs.py", THEIR_COMMANDS)
    worlds.write("doit.cfg", "[COMMAND]\nlint = theirs:Lint\nlist = theirs:Listing\n")

    for command in ("lint", "list", "help lint", "help list", "t"):
        registered, absent = worlds.both(*command.split())
        assert registered == absent
        assert absent.code == 0


def test_a_task_called_like_the_projects_own_command_is_still_refused(
    worlds: Worlds,
) -> None:
    worlds.write("dodo.py", DODO)
    worlds.write("theirs.py", THEIR_COMMANDS)
    worlds.write("doit.cfg", "[COMMAND]\nlint = theirs:Lint\n")

    registered, absent = worlds.both("list")

    assert registered == absent
    assert "Task can't be called 'lint'" in absent.err


@pytest.mark.parametrize("name", ["aaa", "zzz"])
def test_a_command_of_another_distribution_wins_over_ours(
    worlds: Worlds, name: str
) -> None:
    worlds.write("dodo.py", PLAIN_DODO)
    worlds.write("theirs.py", THEIR_COMMANDS)
    points = {"doit.COMMAND": {"lint": "theirs:Lint", "list": "theirs:Listing"}}
    for env in ("environment-with", "environment-without"):
        write_distribution(worlds.folder / env, name, points)

    for command in ("lint", "list", "help lint", "t"):
        registered, absent = worlds.both(*command.split())
        assert registered == absent
        assert absent.code == 0


@pytest.mark.parametrize("command", ["lint", "list", "t", "init"])
def test_a_project_with_a_loader_of_its_own_is_untouched(
    worlds: Worlds, command: str
) -> None:
    worlds.write("theirs.py", THEIR_LOADER)
    worlds.write("doit.cfg", "[GLOBAL]\nloader = own\n[LOADER]\nown = theirs:Own\n")

    registered, absent = worlds.both(command)

    assert registered == absent
    assert absent.code == 0


def test_a_program_built_on_doit_is_untouched(worlds: Worlds) -> None:
    worlds.write("dodo.py", API_PROGRAM)

    registered, absent = worlds.both()

    assert registered == absent
    assert "lint ran" in absent.out


def test_a_dodo_that_does_not_load_fails_the_same_way(worlds: Worlds) -> None:
    worlds.write("dodo.py", "raise RuntimeError('broken on purpose')\n")

    for command in ("", "list", "lint", "init"):
        registered, absent = worlds.both(*command.split())
        assert registered.code == absent.code == 3
        last = absent.err.splitlines()[-1]
        assert last == "RuntimeError: broken on purpose"
        assert registered.err.splitlines()[-1] == last


THEIR_COMMANDS = """
from doit.cmd_base import Command
from doit.cmd_list import List

class Lint(Command):
    name = "lint"
    doc_purpose = "their own lint"
    def execute(self, opt_values, pos_args):
        print("their lint", pos_args)

class Listing(List):
    name = "list"
    doc_purpose = "their own list"
    def _execute(self, pos_args):
        print("their list", [task.name for task in self.task_list])
        return 0
"""

THEIR_LOADER = """
from doit.cmd_base import NamespaceTaskLoader

def task_lint():
    return {"actions": ["echo lint"], "verbosity": 2}

def task_t():
    return {"actions": ["echo t"], "verbosity": 2}

def task_init():
    return {"actions": ["echo init"], "verbosity": 2}

class Own(NamespaceTaskLoader):
    def setup(self, opt_values):
        self.namespace = globals()
"""

API_PROGRAM = """
import sys
from doit.api import run_tasks
from doit.cmd_base import ModuleTaskLoader

def task_lint():
    return {"actions": ["echo lint ran"], "verbosity": 2}

if __name__ != "__main__":
    sys.stdout.flush()
    code = run_tasks(ModuleTaskLoader({"task_lint": task_lint}), {"lint": {}})
    sys.exit(code)
"""
