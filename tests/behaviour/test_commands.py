"""Commands that show or change a session without running an agent."""

from typing import Any

import pytest

from tests.support.project import Project

COSTS = 'echo \'{"cost_usd": 0.25}\' > "$LOOP_USAGE"; echo $LOOP_TYPE'


def stages(project: Project, *words: str) -> dict[str, dict[str, Any]]:
    """Return what a command says of each stage of session `s`, as JSON."""
    found = project.ok(*words, "session=s", "--json").json
    return {s["stage"]: s for entry in found["entries"] for s in entry["stages"]}


@pytest.fixture
def piped(project: Project) -> Project:
    """Return a project whose pipeline `p` of a, b and c has run in session `s`."""
    project.write("plan.md", "one")
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 2, "reads": ["plan.md"]},
        {"name": "b", "prompt": "${INPUTS}", "runs": 1},
        {"name": "c", "prompt": "C", "runs": 1, "inputs": []},
        description="Three stages",
    )
    for name in "abc":
        project.step(name, COSTS)
    project.ok("pipeline:p", "session=s")
    project.new_runs()
    return project


def test_bare_doit_starts_no_agent(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.pipeline("p", {"name": "a", "prompt": "A", "runs": 1})
    ran = project.ok()
    assert project.runs() == []
    assert not project.path(".loop", "x").exists()
    assert "Traceback" not in ran.err
    project.write(
        "dodo.py",
        "def task_plain(): return {'actions': ['touch plain']}\n"
        "def task_after(): return {'actions': ['touch after'],"
        " 'task_dep': ['loop:x']}\n",
    )
    project.ok()
    assert project.path("plain").exists()
    assert not project.path("after").exists()
    assert project.runs() == []


def test_a_misspelt_task_is_told_what_is_near(project: Project) -> None:
    project.loop("improve", max_iterations=1)
    for word in ("loop:improv", "lop:improve"):
        ran = project.doit(word, "session=s")
        assert ran.code == 3
        assert "`loop:improve`" in ran.err
        assert "Traceback" not in ran.err
    assert project.doit("pipeline:improve").code == 3


def test_list_says_what_can_be_run_and_what_is_unfinished(project: Project) -> None:
    project.loop(
        "x",
        description="Do things",
        completion="validated",
        validate="false",
        max_iterations=1,
    )
    project.pipeline("p", {"name": "a", "prompt": "A", "runs": 1}, description="Once")
    assert project.doit("loop:x", "session=open").code == 1
    project.ok("pipeline:p", "session=closed")
    ran = project.ok("list")
    lines = ran.out.splitlines()
    assert any(line.split() == ["loop:x", "Do", "things"] for line in lines)
    assert any(line.split() == ["pipeline:p", "Once"] for line in lines)
    assert "open" in ran.out
    assert "closed" not in ran.out
    found = project.ok("list", "--json").json
    mine = {"loop:x": "Do things", "pipeline:p": "Once"}
    assert (
        mine.items() <= {e["task"]: e["description"] for e in found["can_run"]}.items()
    )
    assert [s["session"] for s in found["unfinished"]] == ["open"]


def test_list_of_a_session_tells_its_stages_and_what_is_next(piped: Project) -> None:
    ran = piped.ok("list", "session=s")
    assert "stage:a" in ran.out
    assert "stage:a:0001" not in ran.out
    piped.ok("forget", "stage:a:0002", "session=s")
    ran = piped.ok("list", "session=s", "--status")
    lines = [line.split() for line in ran.out.splitlines()]
    marks = {words[1]: words[0] for words in lines if words[0] in ("R", "?", "U", "B")}
    assert marks == {"stage:a": "R", "stage:b": "?", "stage:c": "U"}
    assert "stage:a:0002" in ran.out
    everything = piped.ok("list", "session=s", "--all")
    assert "stage:a:0001" in everything.out
    assert piped.runs() == []


def test_list_all_status_marks_each_iteration(piped: Project) -> None:
    piped.ok("forget", "stage:a:0002", "session=s")
    ran = piped.ok("list", "session=s", "--all", "--status")
    lines = [line.split() for line in ran.out.splitlines()]
    marks = {words[1]: words[0] for words in lines if len(words) > 1}
    assert marks["stage:a:0001"] == "U"
    assert marks["stage:a:0002"] == "R"
    assert marks["stage:c"] == "U"


def test_status_tells_state_cost_reason_and_next_step(piped: Project) -> None:
    state = piped.ok("status", "session=s", "--json").json
    assert state["status"] == "complete"
    assert state["cost_usd"] == 1.0
    assert state["iterations"] == 4
    assert {s["stage"]: s["iterations"] for s in state["stages"]} == {
        "a": 2,
        "b": 1,
        "c": 1,
    }
    text = piped.ok("status", "session=s").out
    for word in ("complete", "$1.00", "pipeline:p", "ran 2 of 2 iterations"):
        assert word in text
    every = piped.ok("status", "--json").json["sessions"]
    assert [s["session"] for s in every] == ["s"]
    assert "s " in piped.ok("status").out


def test_the_next_step_of_a_status_goes_on(project: Project) -> None:
    project.loop("x", max_iterations=1, attempts=1)
    project.step("x", "exit 3")
    assert project.doit("loop:x", "session=s").code == 1
    state = project.ok("status", "session=s", "--json").json
    assert state["status"] == "failed"
    assert "exit code 3" in state["reason"]
    project.step("x", "echo fine")
    assert project.shell(state["next"]).code == 0


def test_a_forgotten_session_is_not_complete(piped: Project) -> None:
    piped.ok("forget", "stage:a:0002", "session=s")
    state = piped.ok("status", "session=s", "--json").json
    assert state["status"] == "invalidated"
    assert [s["session"] for s in piped.ok("list", "--json").json["unfinished"]] == [
        "s"
    ]
    piped.ok("pipeline:p", "session=s")
    assert piped.ok("status", "session=s", "--json").json["status"] == "complete"


def test_explain_says_why_through_all_descendants(piped: Project) -> None:
    calm = stages(piped, "explain")
    assert {name: s["fate"] for name, s in calm.items()} == dict.fromkeys("abc", "rest")
    piped.write("plan.md", "two")
    seen = stages(piped, "explain")
    assert {name: s["fate"] for name, s in seen.items()} == {
        "a": "run",
        "b": "maybe",
        "c": "rest",
    }
    assert seen["a"]["reason"] == "file `plan.md` changed"
    assert seen["a"]["next_task"] == "stage:a:0001"
    assert seen["a"]["superseded"] == 2
    assert seen["a"]["estimate_usd"] == 0.5
    assert "stage:a" in seen["b"]["reason"]
    text = piped.ok("explain", "pipeline:p", "session=s").out
    assert "file `plan.md` changed" in text
    assert "about $0.50" in text
    assert piped.runs() == []


def test_explain_of_a_new_entry_needs_no_session(project: Project) -> None:
    project.loop("x", max_iterations=2)
    found = project.ok("explain", "loop:x", "--json").json
    assert found["entries"][0]["stages"][0]["fate"] == "run"
    assert found["entries"][0]["stages"][0]["next_task"] == "loop:x:0001"
    assert not project.path(".loop", "x").exists()
    assert project.runs() == []


def test_explain_of_a_stage_is_about_it_and_what_rests_on_it(piped: Project) -> None:
    assert list(stages(piped, "explain", "stage:b")) == ["b"]
    assert list(stages(piped, "explain", "stage:a")) == ["a", "b"]
    ran = piped.doit("explain", "stage:z", "session=s")
    assert ran.code == 3
    assert "`stage:z`" in ran.err or "`z`" in ran.err


def test_explain_tells_what_holds_a_stage_back(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1, "validate": "false"},
        {"name": "b", "prompt": "B", "runs": 1},
    )
    assert project.doit("pipeline:p", "session=s").code == 1
    seen = stages(project, "explain")
    assert {name: s["fate"] for name, s in seen.items()} == {
        "a": "blocked",
        "b": "blocked",
    }
    assert "reached the limit" in seen["a"]["reason"]


def test_a_word_that_a_command_cannot_mean_is_refused(piped: Project) -> None:
    for words in (["status", "s"], ["explain", "pipeline:p", "s"], ["pause", "s"]):
        ran = piped.doit(*words)
        assert ran.code == 3, words
        assert "takes no `s`" in ran.err
        assert "session=" in ran.err
    assert piped.doit("status", "--nosuch").code == 3
    assert piped.doit("explain", "pipeline:p", "--nosuch").code == 3


def test_reading_commands_change_nothing(piped: Project) -> None:
    piped.write("plan.md", "two")
    before = {n: piped.session("s", n).lstat().st_mtime_ns for n in piped.files("s")}
    for words in (
        ["list"],
        ["list", "--all"],
        ["list", "--json"],
        ["status"],
        ["explain"],
        ["info", "stage:a"],
        ["info", "stage:a:0001"],
        ["clean", "-n", "stage:a"],
    ):
        piped.doit(*words, "session=s")
    after = {n: piped.session("s", n).lstat().st_mtime_ns for n in piped.files("s")}
    assert after == before


@pytest.mark.parametrize(
    ("task", "again"),
    [
        ("stage:a:0002", ["a:2"]),
        ("stage:a", ["a:1", "a:2"]),
        ("pipeline:p", ["a:1", "a:2", "b:1", "c:1"]),
    ],
)
def test_forget_and_clean_work_at_every_level(
    piped: Project, task: str, again: list[str]
) -> None:
    piped.ok("forget", task, "session=s")
    piped.ok("pipeline:p", "session=s")
    assert sorted(piped.new_runs()) == again
    piped.ok("clean", task, "session=s")
    piped.ok("pipeline:p", "session=s")
    assert sorted(piped.new_runs()) == again
    piped.ok("pipeline:p", "session=s")
    assert piped.new_runs() == []


def test_forget_all_forgets_every_stage(piped: Project) -> None:
    piped.ok("forget", "--all", "session=s")
    piped.ok("pipeline:p", "session=s")
    assert sorted(piped.new_runs()) == ["a:1", "a:2", "b:1", "c:1"]


def test_forgetting_what_is_not_there_is_an_error(piped: Project) -> None:
    for task in ("stage:a:0009", "stage:z"):
        ran = piped.doit("forget", task, "session=s")
        assert ran.code == 3, ran
        assert "Traceback" not in ran.err


def test_info_says_whether_a_task_would_run_and_why(piped: Project) -> None:
    assert "up-to-date" in piped.ok("info", "stage:a:0002", "session=s").out
    assert "up-to-date" in piped.ok("info", "stage:a", "session=s").out
    assert "all stages are complete" in piped.ok("info", "pipeline:p", "session=s").out
    piped.write("plan.md", "two")
    for task in ("stage:a", "stage:a:0001", "pipeline:p"):
        ran = piped.doit("info", task, "session=s")
        assert ran.code == 1
        assert "file `plan.md` changed" in ran.out
    assert piped.doit("info", "stage:z", "session=s").code == 3


def test_lint_passes_what_is_right_and_fails_what_is_wrong(project: Project) -> None:
    project.loop("x", max_iterations=1)
    ran = project.ok("lint")
    assert ran.out.splitlines()[-1] == "0 errors, 0 warnings"
    project.loop("y", completion="platau")
    ran = project.doit("lint")
    assert ran.code == 3
    assert "loops/y/loop.yaml: `completion` is `platau`" in ran.out
    assert "fix: " in ran.out
    project.ok("lint", "x")
    (finding,) = project.doit("lint", "y", "--json").json["findings"]
    assert finding["severity"] == "error"
    assert finding["code"].startswith("L")
    assert project.doit("lint", "nosuch").code == 3


def test_a_warning_alone_does_not_fail(project: Project) -> None:
    project.loop("x", completion="plateau", output_parse="plateau:PLATEAU")
    ran = project.ok("lint")
    assert ran.out.splitlines()[-1] == "0 errors, 1 warning"


def test_broken_yaml_is_an_error_and_never_defaults(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.write("loops/x/loop.yaml", "name: x\n  bad: [")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "loops/x/loop.yaml" in ran.err
    assert "Traceback" not in ran.err
    assert project.doit("lint").code == 3
    assert "loop:x" in project.ok("list").out


def test_an_unknown_key_names_file_key_and_fix(project: Project) -> None:
    project.loop("x", max_iteration=1)
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 3
    assert "loops/x/loop.yaml" in ran.err
    assert "`max_iteration`" in ran.err
    assert "did you mean `max_iterations`?" in ran.err
    assert project.runs() == []


def test_a_reader_that_has_read_enough_is_no_mistake(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.ok("loop:x", "session=s")
    many = " ".join(["doit explain session=s;"] * 3)
    ran = project.shell(f"({many}) | head -1")
    assert ran.code == 0
    assert "Traceback" not in ran.err
