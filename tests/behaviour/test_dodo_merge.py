"""Ordinary tasks of a `dodo.py` and loops in one graph."""

import pytest

from tests.support.project import Project

DODO = '''
def task_seed():
    """make what the loop reads"""
    return {"actions": ["echo seeded >> seed.log", "cp source.txt seed.txt"],
            "file_dep": ["source.txt"], "targets": ["seed.txt"]}

def task_report():
    """use what the loop made"""
    return {"actions": ["cat made.txt > report.txt", "echo reported >> report.log"],
            "file_dep": ["made.txt"], "targets": ["report.txt"]}

def task_sum():
    """use what the stage hands on"""
    return {"actions": ["cp .loop/s/x/output/output.md sum.txt"],
            "file_dep": [".loop/s/x/output/output.md"], "targets": ["sum.txt"]}

def task_after():
    """name the loop itself"""
    return {"actions": ["touch after.txt"], "task_dep": ["loop:x"]}

def task_plain():
    """have nothing to do with loops"""
    return {"actions": ["echo plain >> plain.log"]}
'''
MODES = [(), ("-n", "3"), ("-n", "3", "-P", "process")]


@pytest.fixture
def merged(project: Project) -> Project:
    """Return a project where a loop stands between two ordinary tasks."""
    project.write("dodo.py", DODO)
    project.write("source.txt", "one\n")
    project.loop("x", max_iterations=1, reads=["seed.txt"], writes=["made.txt"])
    project.step("x", "tr a-z A-Z < seed.txt | tee made.txt")
    return project


@pytest.mark.parametrize("mode", MODES, ids=" ".join)
def test_a_loop_stands_between_ordinary_tasks(
    merged: Project, mode: tuple[str, ...]
) -> None:
    merged.ok(*mode, "report", "session=s")
    assert merged.read("report.txt") == "ONE\n"
    assert merged.new_runs() == ["x:1"]
    merged.ok(*mode, "report", "session=s")
    assert merged.new_runs() == []
    assert merged.read("seed.log") == "seeded\n"
    assert merged.read("report.log") == "reported\n"


def test_a_change_goes_through_task_loop_and_task(merged: Project) -> None:
    merged.ok("report", "session=s")
    merged.write("source.txt", "two\n")
    merged.ok("report", "session=s")
    assert merged.runs() == ["x:1", "x:1"]
    assert merged.read("report.txt") == "TWO\n"
    assert merged.read("report.log") == "reported\nreported\n"


def test_a_loop_alone_makes_what_it_reads_first(merged: Project) -> None:
    merged.ok("loop:x", "session=s")
    assert merged.read("made.txt") == "ONE\n"
    assert not merged.path("report.txt").exists()


@pytest.mark.parametrize("task", ["sum", "after"])
def test_a_task_may_rest_on_a_stages_output_or_name(merged: Project, task: str) -> None:
    merged.ok(task, "session=s")
    assert merged.runs() == ["x:1"]
    assert merged.path(f"{task}.txt").exists()


def test_a_failed_loop_keeps_its_tasks_from_running(merged: Project) -> None:
    merged.loop(
        "x", max_iterations=1, attempts=1, reads=["seed.txt"], writes=["made.txt"]
    )
    merged.step("x", "exit 3")
    ran = merged.doit("report", "session=s")
    assert ran.code == 1
    assert not merged.path("report.txt").exists()


def test_a_failed_task_keeps_the_loop_from_running(merged: Project) -> None:
    merged.path("source.txt").unlink()
    for words in (["report"], ["-c", "report"], ["loop:x"]):
        assert merged.doit(*words, "session=s").code != 0
        assert merged.runs() == []


def test_an_ordinary_task_needs_no_session(merged: Project) -> None:
    merged.ok("plain")
    merged.ok("seed")
    assert merged.read("plain.log") == "plain\n"
    assert not merged.session("s").exists()
    assert merged.runs() == []


def test_bare_doit_starts_no_agent_for_an_ordinary_task(merged: Project) -> None:
    merged.ok(env={"LOOP_SESSION": "s"})
    assert merged.read("plain.log") == "plain\n"
    assert merged.path("seed.txt").exists()
    assert not merged.path("after.txt").exists()
    assert not merged.path("report.txt").exists()
    assert merged.runs() == []


def test_a_task_run_for_itself_takes_the_files_as_they_are(merged: Project) -> None:
    merged.write("made.txt", "by hand\n")
    merged.ok("report")
    assert merged.read("report.txt") == "by hand\n"
    assert merged.runs() == []


def test_a_file_that_two_entries_make_needs_one_of_them_named(
    merged: Project,
) -> None:
    merged.pipeline("p", {"name": "y", "loop": "x", "runs": 1})
    ran = merged.doit("report", "session=s")
    assert ran.code == 3
    assert "`made.txt` is made by each of `loop:x`, `pipeline:p`" in ran.err
    merged.ok("pipeline:p", "report", "session=s")
    assert merged.read("report.txt") == "ONE\n"
    merged.write("source.txt", "two\n")
    merged.ok("report", "session=s")
    assert merged.read("report.txt") == "TWO\n"


def test_list_shows_both_kinds(merged: Project) -> None:
    lines = merged.ok("list").out.splitlines()
    names = {line.split()[0] for line in lines if line.strip()}
    assert {"loop:x", "plain", "report", "seed"} <= names


def test_ordinary_tasks_are_forgotten_and_cleaned_as_ever(merged: Project) -> None:
    merged.ok("seed")
    merged.ok("seed")
    assert merged.read("seed.log") == "seeded\n"
    merged.ok("forget", "seed")
    merged.ok("seed")
    assert merged.read("seed.log") == "seeded\nseeded\n"


def test_a_variable_that_a_dodo_reads_is_no_mistake(project: Project) -> None:
    project.write(
        "dodo.py",
        "from doit import get_var\n"
        "def task_t():\n"
        "    return {'actions': [f\"echo {get_var('colour', 'none')} > colour\"]}\n",
    )
    project.ok("t", "colour=red")
    assert project.read("colour") == "red\n"
    assert project.doit("t", "color=red").code == 3


def test_a_dodo_that_cannot_be_loaded_says_why(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.write("dodo.py", "1 / 0\n")
    ran = project.doit("loop:x", "session=s")
    assert ran.code in (2, 3)
    assert "ZeroDivisionError" in ran.out + ran.err
    assert project.runs() == []


def test_a_task_may_make_a_loops_read_file_from_a_test(project: Project) -> None:
    project.write(
        "dodo.py",
        "def task_test():\n"
        "    return {'actions': ['echo 2 failed > test.log'],"
        " 'file_dep': ['code.py'], 'targets': ['test.log']}\n",
    )
    project.write("code.py", "x = 1\n")
    project.loop("mend", "Mend.", max_iterations=1, reads=["test.log"])
    project.step("mend", "cat test.log")
    project.ok("loop:mend", "session=s")
    assert project.output("s", "mend") == "2 failed\n"
