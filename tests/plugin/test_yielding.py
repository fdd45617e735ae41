"""Commands of ours in a project of ours."""

from pathlib import Path

import pytest

from tests.support.doit_process import Ran, doit, environment

CONFIG = """
[GLOBAL]
loader = own
[LOADER]
own = project:Own
[COMMAND]
echo = project:Echo
"""

PROJECT = """
from doit.cmd_base import DodoTaskLoader
from looptasks.errors import UsageError
from looptasks.plugin.commands.yielding import LoopCommand

class Own(DodoTaskLoader):
    is_looptasks = True

class Echo(LoopCommand):
    name = "echo"
    doc_purpose = "say it again"

    def answer(self, params, words):
        if words == ["wrong"]:
            raise UsageError("`wrong` is wrong", where="here", fix="say `right`")
        print(words, self.real_arguments(), params["dodoFile"])
        return 4
"""


class Project:
    """A folder that selects a loader of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.env = environment(folder / "environment", registered=True)
        self.write("doit.cfg", CONFIG)
        self.write("project.py", PROJECT)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def doit(self, *words: str) -> Ran:
        return doit(self.folder, *words, env=self.env)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    "before",
    [[], ["session=auth"], ["-f", "echo"], ["--file=x.py", "a=1", "b=2"], ["-k"]],
)
def test_free_text_is_what_was_typed_after_the_command(
    project: Project, before: list[str]
) -> None:
    ran = project.doit(*before, "echo", "stage", "reason=it has a=b in it", "x = 1")

    assert "['stage', 'reason=it has a=b in it', 'x = 1']" in ran.out
    assert ran.out.startswith("['stage'] [")


def test_a_command_gets_the_loaders_options_and_says_its_exit_code(
    project: Project,
) -> None:
    ran = project.doit("-f", "other.py", "echo")

    assert ran == Ran(4, "[] [] other.py\n", "")


def test_a_persons_mistake_is_told_in_words(project: Project) -> None:
    ran = project.doit("echo", "wrong")

    assert ran == Ran(3, "", "here: `wrong` is wrong\n  fix: say `right`\n")


def test_our_command_names_are_taken_in_our_projects(project: Project) -> None:
    project.write("dodo.py", "def task_lint(): return {'actions': []}\n")

    ran = project.doit("list")

    assert ran.code == 3
    assert "Task can't be called 'lint'" in ran.err


def test_help_in_our_projects_has_all_our_commands(project: Project) -> None:
    ran = project.doit("help")

    listed = {line.split()[1] for line in ran.out.splitlines() if line[:2] == "  "}
    assert {"init", "status", "explain", "lint", "pause", "reset"} <= listed


@pytest.mark.parametrize("command", ["ignore", "reset-dep", "strace", "tabcompletion"])
def test_doits_own_commands_are_there_in_our_projects(
    project: Project, command: str
) -> None:
    ran = project.doit("help", command)

    assert ran.code == 0
    assert ran.out.startswith("PURPOSE")
