"""The reporter in pipes: its words, and other reporters with our tasks."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project, Ran

LAST = "complete: loop:tidy in session s, 2 iterations, cost unknown"
QUIET = ("zero", "error-only")
WORDY = ("console", "executed-only")
MODES = [(), ("-n", "2"), ("-n", "2", "-P", "process")]


@pytest.fixture
def tidy(project: Project) -> Project:
    """Return a project with a loop of two iterations."""
    project.loop("tidy", max_iterations=2)
    return project


def timeless(text: str) -> list[str]:
    """Return lines without how long things took."""
    return re.sub(r"\d+\.\d s", "T", text).splitlines()


@pytest.mark.parametrize("mode", MODES)
def test_a_pipe_gets_one_plain_line_per_event(
    tidy: Project, mode: tuple[str, ...]
) -> None:
    ran = tidy.ok(*mode, "loop:tidy", "session=s")

    assert timeless(ran.out)[:-1] == [
        "loop:tidy:0001 started, iteration 1: 0 of 2 iterations done",
        "loop:tidy:0001 done in T",
        "loop:tidy:0002 started, iteration 2: 1 of 2 iterations done",
        "loop:tidy:0002 done in T",
        "loop:tidy complete: ran 2 of 2 iterations",
    ]
    assert ran.last.startswith(LAST)
    assert ran.err == ""


def test_nothing_to_do_is_said(tidy: Project) -> None:
    tidy.ok("loop:tidy", "session=s")

    ran = tidy.ok("loop:tidy", "session=s")

    assert ran.out.startswith("loop:tidy is up to date, ")


def test_an_iteration_asked_for_by_name_is_reported_in_our_words(tidy: Project) -> None:
    tidy.ok("loop:tidy", "session=s")

    ran = tidy.doit("loop:tidy:0009", "session=s")

    assert ran.code == 1
    assert ran.out.startswith("loop:tidy:0009 failed: loop:tidy was complete before")
    assert "taskid" not in ran.out


def test_ordinary_tasks_are_reported_as_doit_does(tidy: Project) -> None:
    tidy.write(
        "dodo.py",
        "def task_a():\n"
        "    return {'actions': ['echo out of a'], 'file_dep': ['agent.sh'],"
        " 'verbosity': 2}\n"
        "def task_bad():\n"
        "    return {'actions': ['echo bad news; false']}\n",
    )

    first = tidy.doit("a", "bad")
    second = tidy.doit("a")

    assert first.code == 1
    assert first.out.splitlines()[:4] == [
        *(".  a", "out of a", ".  bad"),
        "TaskFailed - taskid:bad",
    ]
    assert "bad <stdout>:\nbad news\n" in first.out
    assert second.out == "-- a\n"


def failing(project: Project, step: str, **settings: Any) -> Ran:
    project.loop("bad", attempts=1, **settings)
    project.step("bad", step)
    ran = project.doit("loop:bad", "session=s")
    assert ran.code == 1, ran
    return ran


def test_a_failure_gives_its_reason_and_where_to_read_more(project: Project) -> None:
    ran = failing(project, "echo answer; echo no such module >&2; exit 3")

    lines = ran.out.splitlines()
    assert re.fullmatch(
        r"loop:bad:0001 failed: \w+: exit code 3: no such module", lines[1]
    )
    assert lines[2] == "  stderr: .loop/s/bad/iterations/0001/attempts/1/stderr"
    assert project.read(lines[2].split()[1]) == "no such module\n"
    assert len(lines) == 4
    assert "TaskFailed" not in ran.out
    assert "<stdout>" not in ran.out


def test_a_failure_without_error_output_points_nowhere(project: Project) -> None:
    assert "stderr:" not in failing(project, "exit 3").out


def test_an_agent_that_cannot_start_comes_with_its_fix(project: Project) -> None:
    ran = failing(project, "", agent={"command": "./missing.sh"})

    assert "cannot start `./missing.sh`" in ran.out
    assert "\n  fix: " in ran.out


def test_an_error_of_ours_is_told_whole(project: Project) -> None:
    project.write(".loop/s/bad/iterations", "in the way")

    ran = failing(project, "echo never")

    assert "loop:bad:0001 failed: " in ran.out
    assert ".loop/s/bad/iterations" in ran.out
    assert "\n  fix: " in ran.out
    assert "Traceback" not in ran.out + ran.err


def test_under_continue_what_could_not_go_on_is_said(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1, "attempts": 1},
        {"name": "b", "prompt": "B", "runs": 1},
    )
    project.step("a", "exit 1")

    ran = project.doit("--continue", "pipeline:p", "session=s")

    assert "stage:a not done: stage:a:0001 failed" in ran.out
    assert "pipeline:p not done: stage:a, stage:b failed" in ran.out
    assert "taskid" not in ran.out


SECRETS = {
    "ghp_0123456789abcdef": "pushing with ghp_0123456789abcdef",
    "hunter2hunter2": "it said hunter2hunter2",
    "abc123": "export API_KEY=abc123",
}


@pytest.mark.parametrize("reporter", ["looptasks", "console", "json"])
@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_and_no_escape_reaches_the_screen(
    project: Project, secret: str, reporter: str
) -> None:
    project.loop("bad", attempts=1)
    project.step("bad", f"printf '\\033[31m{SECRETS[secret]}\\007' >&2; exit 3")

    ran = project.doit(
        *("-r", reporter, "loop:bad", "session=s"), env={"MY_TOKEN": "hunter2hunter2"}
    )

    assert secret not in ran.out + ran.err
    assert "***" in ran.out
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out


def test_a_stream_without_unicode_gets_question_marks(project: Project) -> None:
    project.loop("tidy", max_iterations=1, output_parse="word:WORD")
    project.step("tidy", "echo 'WORD: caf\xe9'")

    ran = project.ok("loop:tidy", "session=s", env={"PYTHONIOENCODING": "ascii"})

    assert "word=caf?" in ran.out


@pytest.mark.parametrize("name", WORDY)
def test_console_reporters_have_the_last_word_on_stdout(
    tidy: Project, name: str
) -> None:
    ran = tidy.ok("-r", name, "loop:tidy", "session=s")

    assert ran.out.splitlines()[:2] == [".  loop:tidy:0001", ".  loop:tidy:0002"]
    assert ran.last.startswith(LAST)


@pytest.mark.parametrize("name", QUIET)
def test_silent_reporters_leave_stdout_empty(tidy: Project, name: str) -> None:
    ran = tidy.ok("-r", name, "loop:tidy", "session=s")

    assert ran.out == ""
    assert ran.err.startswith(LAST)


@pytest.mark.parametrize("mode", MODES)
def test_json_stays_json(tidy: Project, mode: tuple[str, ...]) -> None:
    ran = tidy.ok(*mode, "-r", "json", "loop:tidy", "session=s")

    assert [(t["name"], t["result"]) for t in ran.json["tasks"]] == [
        ("loop:tidy:0001", "success"),
        ("loop:tidy:0002", "success"),
        ("loop:tidy", "success"),
    ]
    assert ran.err.startswith(LAST)


def test_json_stays_json_when_a_session_is_resumed_and_fails(tidy: Project) -> None:
    tidy.ok("loop:tidy:0001", "session=s")
    tidy.step("tidy", "exit 1")

    ran = tidy.doit("-r", "json", "loop:tidy", "session=s")

    assert ran.code == 1
    assert [t["result"] for t in ran.json["tasks"]] == ["fail"]
    assert "resuming s" in ran.json["err"]
    assert ran.err.startswith("failed: ")


def test_json_goes_to_a_file_when_asked(tidy: Project) -> None:
    tidy.ok("-r", "json", "-o", "report.json", "loop:tidy", "session=s")

    assert len(json.loads(tidy.read("report.json"))["tasks"]) == 3


def test_a_reporter_of_the_project_is_used(tidy: Project) -> None:
    tidy.write(
        "dodo.py",
        "from doit.reporter import ConsoleReporter\n"
        "class Loud(ConsoleReporter):\n"
        "    def add_success(self, task):\n"
        "        self.write(f'HURRAY {task.name}\\n')\n"
        "DOIT_CONFIG = {'reporter': Loud}\n",
    )

    ran = tidy.ok("loop:tidy", "session=s")

    assert "HURRAY loop:tidy:0001" in ran.out
    assert ran.last.startswith(LAST)


def imported(project: Project, *words: str) -> Iterator[str]:
    """Yield the modules that a doit process imports."""
    ran = project.doit(*words, env={"PYTHONPROFILEIMPORTTIME": "1"})
    for line in ran.err.splitlines():
        if line.startswith("import time:"):
            yield line.rpartition("|")[2].strip()


def test_a_pipe_does_not_pay_for_the_live_view(tidy: Project) -> None:
    found = set(imported(tidy, "loop:tidy", "session=s"))

    assert "looptasks.plugin.wording" in found
    assert not {"rich", "looptasks.plugin.live_view", "looptasks.core.view"} & found


def test_a_project_of_others_pays_for_one_small_module(tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    other.path("doit.cfg").unlink()
    other.write("dodo.py", "def task_a():\n    return {'actions': []}\n")

    found = {name for name in imported(other, "a") if name.startswith("looptasks")}

    assert "looptasks.plugin.wording" not in found
    assert not any(name.startswith("looptasks.core") for name in found)
