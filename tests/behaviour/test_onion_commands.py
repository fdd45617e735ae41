"""Commands on an onion: what they say of instances, and what they do to them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.doit_nursery import Nursery
from tests.support.onion_agent import NAME, onion_environment
from tests.support.onion_model import Shape
from tests.support.quick_onion import QuickOnion
from tests.support.session_schemas import faults

WISH = {"a": {"x": "red"}, "b": {"x": "red", "y": "blue"}}
BELOW_B = {"phase/b/x", "phase/b/y", "code/b/x", "code/b/y"}
ALL = {"plan", "spec/a", "spec/b", "phase/a/x", "code/a/x", *BELOW_B}
COPY = """\
def task_style():
    return {
        "actions": ["cp source.txt style.txt"],
        "file_dep": ["source.txt"],
        "targets": ["style.txt"],
    }
"""
GROUPS = {"spec", "phase", "code"}


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Return a warm doit that knows the agent."""
    with Nursery(onion_environment(tmp_path_factory.mktemp("known"))) as made:
        yield made


@pytest.fixture
def onion(tmp_path: Path, nursery: Nursery) -> QuickOnion:
    """Return an onion that is done."""
    made = QuickOnion(tmp_path / "onion", nursery)
    made.wish(WISH)
    assert made.again() == sorted(ALL)
    return made


def moving(onion: QuickOnion, *words: str) -> tuple[set[str], set[str]]:
    """Return what `explain` says runs, and what it says may run."""
    fates = onion.fates(*words)
    found = {f: {n for n, fate in fates.items() if fate == f} for f in fates.values()}
    assert found.keys() <= {"run", "maybe", "rest"}
    return found.get("run", set()), found.get("maybe", set())


def test_explaining_a_file_of_an_entry_names_what_rests_on_it(
    onion: QuickOnion,
) -> None:
    entry = ".loop/s/plan/entries/specs/b.json"
    run, maybe = moving(onion, "--if-changed", entry)
    assert run == {"spec/b", "spec"}
    assert maybe == {*BELOW_B, "phase", "code"}
    assert onion.again() == []


def test_explaining_an_artifact_names_what_is_made_from_it(onion: QuickOnion) -> None:
    run, maybe = moving(onion, "--if-changed", ".loop/s/phase/b/x/output/phase.json")
    assert run == {"code/b/x", "code"}
    assert maybe == set()
    run, maybe = moving(onion, "--if-changed", ".loop/s/spec/b/output/spec.json")
    assert run == {"phase/b/x", "phase/b/y", "phase"}
    assert maybe == {"code/b/x", "code/b/y", "code"}


def test_explaining_a_file_that_the_plan_reads_leaves_all_else_open(
    onion: QuickOnion,
) -> None:
    run, maybe = moving(onion, "--if-changed", "wish.json")
    assert run == {"plan"}
    assert maybe == ALL - {"plan"} | GROUPS


def test_explaining_a_file_that_nobody_reads_names_nothing(onion: QuickOnion) -> None:
    onion.write("other.txt", "")
    assert moving(onion, "--if-changed", "other.txt") == (set(), set())


def test_explaining_one_instance_shows_it_and_what_descends_from_it(
    onion: QuickOnion,
) -> None:
    assert set(onion.fates("stage:spec:b")) == {"spec/b", *BELOW_B}
    assert set(onion.fates("stage:phase:b")) == BELOW_B
    assert set(onion.fates("stage:code:a:x")) == {"code/a/x"}
    ran = onion.doit("explain", "stage:spec:zzz")
    assert ran.code == 3
    assert "stage:spec:b" in ran.out + ran.err


def test_a_forgotten_instance_runs_again_and_nothing_else_if_it_comes_out_the_same(
    onion: QuickOnion,
) -> None:
    onion.ok("forget", "stage:spec:b")
    assert onion.ok("status", "--json").json["status"] == "invalidated"
    run, maybe = moving(onion)
    assert run == {"spec/b", "spec"}
    assert maybe == {*BELOW_B, "phase", "code"}
    assert onion.again() == ["spec/b"]
    assert onion.ok("status", "--json").json["status"] == "complete"


def test_a_forgotten_stage_runs_again_with_all_its_instances(onion: QuickOnion) -> None:
    onion.ok("forget", "stage:spec")
    assert onion.again() == ["spec/a", "spec/b"]


def test_a_cleaned_instance_is_archived_and_made_again(onion: QuickOnion) -> None:
    onion.ok("clean", "stage:code:b:x")
    assert not onion.session("s", "code/b/x").exists()
    assert onion.archived("s")
    assert onion.again() == ["code/b/x"]
    assert onion.session("s", "code/b/x").exists()


def test_info_tells_of_an_instance_and_whether_it_stands(onion: QuickOnion) -> None:
    assert "up-to-date" in onion.ok("info", "stage:code:b:x").out
    onion.edit("phase/b/x", {"objective": "otherwise"})
    ran = onion.doit("info", "stage:code:b:x")
    assert "`entry` changed" in ran.out, ran


def test_all_instances_are_listed_but_those_whose_entries_are_gone(
    onion: QuickOnion,
) -> None:
    assert "stage:code:b:y:0001" in onion.ok("list", "--all").out
    listed = [line.split() for line in onion.ok("list").out.splitlines()]
    assert ["stage:code", "complete", "3", "iterations"] in listed
    onion.wish({"a": WISH["a"]})
    assert onion.again() == ["plan"]
    assert "stage:code:a:x:0001" in onion.ok("list", "--all").out
    assert ":b" not in onion.ok("list", "--all").out
    assert ":b" not in onion.ok("list").out


def test_a_session_is_complete_when_all_is_done_that_is_still_asked_for(
    onion: QuickOnion,
) -> None:
    onion.wish({"a": WISH["a"]})
    onion.again()
    state = onion.ok("status", "--json").json
    assert state["status"] == "complete"
    stands = {stage["stage"]: stage["status"] for stage in state["stages"]}
    assert {name for name, how in stands.items() if how == "archived"} == {
        "spec/b",
        *BELOW_B,
    }
    assert "all stages are complete" in onion.ok("status").out
    onion.wish(WISH)
    assert onion.again() == sorted({"plan", "spec/b", *BELOW_B})
    statuses = {s["status"] for s in onion.ok("status", "--json").json["stages"]}
    assert statuses == {"complete"}


def test_a_stage_that_got_another_entry_is_not_called_complete(
    onion: QuickOnion,
) -> None:
    onion.wish({**WISH, "c": {"x": "red"}})
    onion.ok("stage:plan")
    state = onion.ok("status", "--json").json
    stands = {stage["stage"]: stage["status"] for stage in state["stages"]}
    assert (state["status"], stands["spec"]) == ("invalidated", "invalidated")
    onion.new_runs()
    assert onion.again() == ["code/c/x", "phase/c/x", "spec/c"]


def test_a_failed_child_that_its_parent_gives_up_fails_no_run(
    onion: QuickOnion,
) -> None:
    told = [
        {**stage, "on_child_failure": "iterate"} if stage["name"] == "spec" else stage
        for stage in Shape().stages()
    ]
    onion.pipeline("p", *told, defaults={"agent": NAME})
    onion.wish({**WISH, "b": {"x": "green", "y": "blue"}})
    onion.write("fail.phase.b.x", "")
    runs = onion.again()
    assert runs.count("spec/b") == 2, runs
    assert not onion.session("s", "phase/b/x").exists()
    assert onion.ok("status", "--json").json["status"] == "complete"
    assert onion.again() == []


def test_always_does_everything_again(onion: QuickOnion) -> None:
    assert onion.again("-a") == sorted(ALL)
    assert onion.again() == []


def handed_on(onion: QuickOnion) -> dict[str, str]:
    """Return the files of the session that hold no times."""
    top = onion.session("s")
    return {
        str(path.relative_to(top)): path.read_text()
        for path in top.rglob("*")
        if path.is_file() and {"output", "entries"} & set(path.relative_to(top).parts)
    }


@pytest.mark.parametrize(
    "mode", [("-n", "4", "-P", "thread"), ("-n", "4", "-P", "process")]
)
def test_threads_and_processes_leave_the_files_that_a_serial_run_leaves(
    onion: QuickOnion, tmp_path: Path, mode: tuple[str, ...]
) -> None:
    other = QuickOnion(tmp_path / "other", onion.nursery)
    other.wish(WISH)
    assert other.again(*mode) == sorted(ALL)
    assert handed_on(other) == handed_on(onion)
    changed = {"a": {"x": "blue"}, "c": {"z": "red"}}
    for one, words in ((onion, ()), (other, mode)):
        one.wish(changed)
        expected = {f"{kind}/c/z" for kind in ("phase", "code")} | {"plan", "spec/c"}
        expected |= {"spec/a", "phase/a/x", "code/a/x"}
        assert set(one.again(*words)) == expected
    assert handed_on(other) == handed_on(onion)
    assert other.files("s", ["doit.db"]) == onion.files("s", ["doit.db"])
    assert other.again(*mode) == []


def test_all_that_an_onion_writes_is_as_declared(onion: QuickOnion) -> None:
    onion.wish({"a": {"x": "blue"}, "c": {"z": "red"}})
    onion.write("fail.phase.c.z", "")
    assert onion.doit("pipeline:p").code == 1
    onion.path("fail.phase.c.z").unlink()
    onion.ok("pipeline:p")
    kinds = {event["event"] for event in onion.ledger("s")}
    assert kinds >= {"invalidate", "restart", "attempt", "stop", "iteration"}
    assert [f for f in faults(onion.session("s")) if "artifact" not in f] == []


def test_a_stage_after_all_instances_sees_which_there_are(
    tmp_path: Path, nursery: Nursery
) -> None:
    onion = QuickOnion(tmp_path / "onion", nursery, Shape(total=True))
    onion.wish(WISH)
    onion.again()
    onion.edit("plan", {"specs": list(reversed(plan(onion)["specs"]))})
    assert onion.again() == []
    onion.edit("plan", {"specs": plan(onion)["specs"][:1]})
    assert onion.again() == ["sum"]


def plan(onion: QuickOnion) -> Any:
    """Return the plan that is handed on."""
    return json.loads(onion.read(".loop/s/plan/output/plan.json"))


@pytest.mark.parametrize("mode", [(), ("-n2",)])
def test_instances_see_what_another_stage_makes_in_the_same_run(
    tmp_path: Path, nursery: Nursery, mode: tuple[str, ...]
) -> None:
    onion = QuickOnion(tmp_path / "onion", nursery)
    stages = [
        {**stage, "inputs": ["guide"]} if stage["name"] == "code" else stage
        for stage in Shape().stages()
    ]
    guide = {"name": "guide", "runs": 1, "prompt": "Guide.", "inputs": []}
    onion.pipeline("p", *stages[:3], guide, stages[3], defaults={"agent": NAME})
    onion.wish(WISH)
    onion.again(*mode)
    onion.write(".loop/s/guide/output/output.md", "edited by hand")
    codes = ["code/a/x", "code/b/x", "code/b/y"]
    assert onion.again(*mode) == codes
    onion.ok("forget", "stage:guide")
    assert onion.again(*mode) == [*codes, "guide"]
    assert onion.again(*mode) == []


@pytest.mark.parametrize("mode", [(), ("-n2",)])
def test_instances_see_what_an_ordinary_task_makes_in_the_same_run(
    tmp_path: Path, nursery: Nursery, mode: tuple[str, ...]
) -> None:
    onion = QuickOnion(tmp_path / "onion", nursery, Shape(style_for="code"))
    onion.write("source.txt", "plain")
    onion.write("dodo.py", COPY)
    onion.wish(WISH)
    onion.again(*mode)
    onion.write("source.txt", "fancy")
    assert onion.again(*mode) == ["code/a/x", "code/b/x", "code/b/y"]
    assert onion.again(*mode) == []
