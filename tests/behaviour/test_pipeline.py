"""A pipeline in a real doit process: order, hand-over, selection, side by side."""

import json
from typing import Any

import pytest

from tests.support.project import Project

MODES = [(), ("-n", "3"), ("-n", "3", "-P", "process"), ("-n", "3", "-P", "thread")]
# Waits until another stage has started, too, or gives up and fails.
MEET = """\
touch started.$LOOP_TYPE
for i in $(seq 100); do
    if [ -f started.left ] && [ -f started.right ]; then echo met; exit; fi
    sleep 0.1
done
exit 9
"""


def stage(name: str, *inputs: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "prompt": "${INPUTS}",
        "runs": 1,
        "inputs": list(inputs),
        **more,
    }


def echoing(project: Project, *names: str) -> None:
    for name in names:
        project.step(name, f"echo {name}; grep -v ^---; true")


@pytest.fixture
def three(project: Project) -> Project:
    """Return a project with a pipeline `p` of stages a, b and c."""
    project.pipeline("p", stage("a", runs=2), stage("b", "a"), stage("c", "b"))
    echoing(project, "a", "b", "c")
    return project


def test_each_stage_gets_what_the_one_before_handed_on(three: Project) -> None:
    three.ok("pipeline:p", "session=s")
    assert three.runs() == ["a:1", "a:2", "b:1", "c:1"]
    assert three.output("s", "c").split() == ["c", "b", "a"]
    inputs = three.json("s", "c", "iterations", "0001", "inputs.json")["files"]
    assert list(inputs) == [".loop/s/b/output/output.md"]


def test_a_stage_without_inputs_rests_on_the_one_before(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "got ${INPUTS}", "runs": 1},
    )
    project.ok("pipeline:p", "session=s")
    assert "a says 1" in project.prompt("s", "b", 1)


def test_stages_are_of_loops_too_with_their_own_settings(project: Project) -> None:
    project.loop("x", "Work.", max_iterations=5, model="loops")
    project.pipeline(
        "p",
        {"name": "first", "loop": "x", "runs": 2, "model": "stages"},
        {"name": "second", "loop": "x", "runs": 1},
    )
    project.ok("pipeline:p", "session=s")
    assert project.runs() == ["x:1", "x:2", "x:1"]
    assert project.state("s", "first", 1)["model"] == "stages"
    assert project.state("s", "second", 1)["model"] == "loops"
    assert project.state("s", "second")["loop"] == "x"


def test_a_finished_pipeline_does_nothing(three: Project) -> None:
    three.ok("pipeline:p", "session=s")
    three.new_runs()
    ran = three.ok("pipeline:p", "session=s")
    assert three.runs() == []
    assert ran.last.startswith("nothing to do, complete: pipeline:p in session s")


def test_a_stage_by_name_runs_up_to_it_and_no_further(three: Project) -> None:
    ran = three.doit("stage:b", "session=s")
    assert ran.code == 3, "nobody knows yet whose stage it is"
    three.ok("stage:a", "pipeline:p", "session=other")
    three.new_runs()
    three.step("b", "exit 2")
    assert three.doit("pipeline:p", "session=s").code == 1
    three.new_runs()
    echoing(three, "b")
    ran = three.ok("stage:b", "session=s")
    assert three.new_runs() == ["b:1"]
    assert "done so far" in ran.last
    assert three.shell(ran.command).code == 0
    assert three.runs() == ["c:1"]


def test_an_iteration_by_name_runs_up_to_it_and_no_further(project: Project) -> None:
    project.loop("x", max_iterations=5)
    project.ok("loop:x:0003", "session=s")
    assert project.new_runs() == ["x:1", "x:2", "x:3"]
    ran = project.ok("loop:x:0003", "session=s")
    assert project.new_runs() == []
    assert project.shell(ran.command).code == 0
    assert project.runs() == ["x:4", "x:5"]


def test_an_iteration_of_a_stage_by_name_waits_for_its_inputs(three: Project) -> None:
    three.step("b", "exit 2")
    assert three.doit("pipeline:p", "session=s").code == 1
    echoing(three, "b")
    three.ok("forget", "stage:a", "session=s")
    three.step("a", "echo new")
    three.new_runs()
    three.ok("stage:b:0001", "session=s")
    assert three.runs() == ["a:1", "a:2", "b:1"]
    assert "new" in three.prompt("s", "b", 1)


def test_an_iteration_that_the_loop_never_reaches_is_a_failure(
    project: Project,
) -> None:
    project.loop("x", max_iterations=2)
    ran = project.doit("loop:x:0005", "session=s")
    assert ran.code == 1
    assert project.runs() == ["x:1", "x:2"]


def test_an_unknown_stage_is_an_error_that_names_the_known(three: Project) -> None:
    three.ok("pipeline:p", "session=s")
    ran = three.doit("stage:d", "session=s")
    assert ran.code == 3
    assert "`stage:d`" in ran.err
    assert "`stage:a`" in ran.err


def test_a_list_of_perspectives_in_a_stage(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "look", "prompt": "as ${PERSPECTIVE}", "perspectives": ["x", "y"]},
        {"name": "sum", "prompt": "${INPUTS}", "runs": 1},
    )
    project.ok("pipeline:p", "session=s")
    assert project.runs() == ["look:1", "look:2", "sum:1"]
    prompt = project.prompt("s", "sum", 1)
    assert prompt.index("look says 1") < prompt.index("look says 2")


@pytest.mark.parametrize("mode", MODES[1:], ids=" ".join)
def test_parallel_stages_run_at_the_same_time(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.pipeline(
        "p",
        stage("first"),
        {"name": "both", "parallel": [stage("left", "first"), stage("right", "first")]},
        stage("last", "both"),
    )
    project.step("left", MEET)
    project.step("right", MEET)
    project.ok(*mode, "pipeline:p", "session=s")
    assert project.runs()[0] == "first:1"
    assert project.runs()[-1] == "last:1"
    assert project.output("s", "left") == project.output("s", "right") == "met\n"


def test_without_n_parallel_stages_run_one_after_the_other(project: Project) -> None:
    project.pipeline("p", {"name": "both", "parallel": [stage("a"), stage("b")]})
    for name in "ab":
        project.step(name, "mkdir busy || exit 9; sleep 0.1; rmdir busy")
    project.ok("pipeline:p", "session=s")
    assert sorted(project.runs()) == ["a:1", "b:1"]


def contents(project: Project) -> dict[str, Any]:
    """Return a session's files with what differs from run to run taken out."""
    found: dict[str, Any] = {}
    for name in project.files("s", but=["doit.db", "ledger.jsonl", "session.json"]):
        path = project.session("s", name)
        text: Any = str(path.readlink()) if path.is_symlink() else path.read_text()
        if name.endswith(".json"):
            text = json.loads(text, object_hook=_timeless)
        elif name.lower().endswith("progress.md"):
            text = text.partition("###")[0].partition("- agent time")[0]
        found[name] = text
    return found


def _timeless(value: dict[str, Any]) -> dict[str, Any]:
    volatile = ("started_at", "finished_at", "updated_at", "seconds")
    return {k: v for k, v in value.items() if k not in (*volatile, "iteration_started")}


def test_serial_threads_and_processes_leave_the_same_files(project: Project) -> None:
    project.write("docs/plan.md", "plan")
    project.pipeline(
        "p",
        stage("a", runs=2, reads=["docs/plan.md"]),
        {"name": "both", "parallel": [stage("b", "a"), stage("c", "a", runs=2)]},
        stage("d", "both", validate="true", output_parse="word:WORD"),
    )
    echoing(project, "a", "b", "c")
    project.step("d", "echo WORD: $LOOP_ITERATION")
    seen = []
    for mode in MODES:
        project.ok(*mode, "pipeline:p", "session=s")
        assert sorted(project.new_runs()) == ["a:1", "a:2", "b:1", "c:1", "c:2", "d:1"]
        seen.append(contents(project))
        rest = project.ok(*mode, "pipeline:p", "session=s")
        assert rest.last.startswith("nothing to do")
        assert project.new_runs() == []
        project.ok("reset", "session=s")
    for other in seen[1:]:
        assert other == seen[0]


@pytest.mark.parametrize("mode", MODES[1:], ids=" ".join)
def test_a_failure_beside_others_is_told_by_its_stage(
    project: Project, mode: tuple[str, ...]
) -> None:
    project.pipeline(
        "p",
        {"name": "both", "parallel": [stage("bad", attempts=1), stage("good")]},
        stage("last", "both"),
    )
    project.step("bad", "echo broken >&2; exit 3")
    ran = project.doit(*mode, "pipeline:p", "session=s")
    assert ran.code == 1
    assert "bad" in ran.last
    assert "broken" in ran.last
    assert "last:1" not in project.runs()
    project.step("bad", "echo mended")
    project.new_runs()
    assert project.shell(ran.command).code == 0
    assert "last:1" in project.runs()


def test_one_session_may_hold_several_entries(project: Project) -> None:
    project.loop("x", max_iterations=1)
    project.loop("y", max_iterations=1)
    project.ok("loop:x", "session=s")
    project.ok("loop:y", "session=s")
    assert project.runs() == ["x:1", "y:1"]
    entries = [e["entry"] for e in project.json("s", "session.json")["entries"]]
    assert entries == ["loop:x", "loop:y"]
    status = project.ok("status", "session=s", "--json").json
    assert [stage["stage"] for stage in status["stages"]] == ["x", "y"]
    assert project.ok("loop:x", "loop:y", "session=s").last.startswith("nothing to do")


def test_a_stage_name_of_another_entry_is_refused(project: Project) -> None:
    project.loop("a", max_iterations=1)
    project.pipeline("p", stage("a"))
    project.pipeline("q", stage("b"))
    project.ok("loop:a", "session=s")
    ran = project.doit("pipeline:p", "session=s")
    assert ran.code == 3
    assert "already has a stage `a`" in ran.err
    project.ok("pipeline:q", "session=s")
    project.ok("pipeline:p", "pipeline:q", "session=new")
    project.pipeline("q", stage("a"))
    ran = project.doit("pipeline:p", "pipeline:q", "session=newer")
    assert ran.code == 3
    assert "already has a stage `a`" in ran.err


def test_a_pipeline_that_changed_goes_on_with_its_new_stages(three: Project) -> None:
    three.ok("pipeline:p", "session=s")
    three.new_runs()
    three.pipeline(
        "p", stage("a", runs=2), stage("b", "a"), stage("c", "b"), stage("d", "c")
    )
    three.ok("pipeline:p", "session=s")
    assert three.runs() == ["d:1"]


def test_more_runs_of_a_stage_reach_its_descendants(three: Project) -> None:
    three.step("a", "echo a $LOOP_ITERATION")
    three.ok("pipeline:p", "session=s")
    three.new_runs()
    three.pipeline("p", stage("a", runs=3), stage("b", "a"), stage("c", "b"))
    three.ok("pipeline:p", "session=s")
    assert three.runs() == ["a:3", "b:1", "c:1"]
