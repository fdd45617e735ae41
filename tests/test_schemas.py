"""Every JSON file that we write satisfies its schema, and the schemas are strict."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from looptasks.core.iteration import Iteration, history_entry, state_of
from looptasks.core.owner import Owner
from tests.support.live_processes import within
from tests.support.project import Project
from tests.support.session_schemas import (
    event_faults,
    faults,
    names,
    schema,
    validator,
)

COSTS = (
    'echo \'{"cost_usd": 0.5, "tokens": {"input": 1, "output": 2}}\' > "$LOOP_USAGE"'
)
DIGEST = "0" * 64
TIME = "2026-03-01T10:05:00.000Z"
WRITTEN = ("session", "run", "stage-state", "iteration-state", "inputs", "ledger")


@pytest.mark.parametrize("kind", names())
def test_every_schema_is_valid_itself(kind: str) -> None:
    Draft202012Validator.check_schema(schema(kind))
    assert schema(kind)["title"]
    assert schema(kind)["description"]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if k == "$ref")
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


@pytest.mark.parametrize("kind", names())
def test_every_reference_leads_somewhere(kind: str) -> None:
    resolver = validator(kind)._resolver  # type: ignore[attr-defined]
    for reference in references(schema(kind)):
        base = f"{kind}.schema.json" if reference.startswith("#") else ""
        assert resolver.lookup(f"{base}{reference}").contents


def objects(value: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        if value.get("type") == "object" and "properties" in value:
            yield path, value
        for key, inner in value.items():
            yield from objects(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from objects(inner, f"{path}[{number}]")


@pytest.mark.parametrize("kind", [*WRITTEN, "terms", "wave-state"])
def test_files_of_ours_carry_no_unknown_keys(kind: str) -> None:
    for path, found in objects(schema(kind)):
        assert found["additionalProperties"] is False, f"{kind}: {path}"


def iteration(**more: Any) -> Iteration:
    return Iteration(
        number=1,
        started_at=TIME,
        finished_at=TIME,
        attempts=1,
        agent="command",
        model="",
        exit_code=0,
        parsed={"plateau": "yes"},
        validation={"command": "true", "exit_code": 0},
        cost_usd=None,
        tokens={"input": 1, "output": 2, "cached": 0},
        seconds=0.5,
        inputs=DIGEST,
        previous="",
        result=DIGEST,
        output=DIGEST,
        left={"plan.md": DIGEST},
        reads=["plan.md"],
        changed={"plan.md": "missing"},
        decision={"action": "stop", "reason": "done"},
        **more,
    )


def test_an_iteration_has_exactly_the_fields_of_its_schemas() -> None:
    fields = set(Iteration._fields) - {"number"}
    state = set(schema("iteration-state")["properties"])
    assert state == fields | {"schema", "iteration"}
    event = set(schema("ledger")["$defs"]["iteration"]["properties"])
    assert event == fields | {"event", "at", "stage", "iteration"}
    entries = schema("stage-state")["properties"]["history"]["items"]["properties"]
    assert set(entries) == set(history_entry(iteration()))


def test_a_run_file_has_exactly_the_fields_of_an_owner() -> None:
    assert set(schema("run")["properties"]) == set(Owner._fields)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("cost_usd", -1),
        ("finished_at", "yesterday"),
        ("finished_at", "2026-03-01T10:05:00+01:00"),
        ("iteration", 0),
        ("inputs", "abc"),
        ("decision", {"action": "rest", "reason": ""}),
        ("tokens", {"input": 1}),
        ("mood", "good"),
        ("schema", 2),
    ],
)
def test_a_wrong_iteration_is_refused(key: str, value: Any) -> None:
    check = validator("iteration-state")
    good = json.loads(json.dumps(state_of(iteration(item="a", progress=True))))
    assert list(check.iter_errors(good)) == []
    assert list(check.iter_errors({**good, key: value})) != []


def test_an_event_of_no_kind_is_refused() -> None:
    known = {"event": "end", "at": TIME, "run": "r", "exit": 0, "reason": ""}
    assert list(event_faults("here", known)) == []
    for wrong in ({"event": "dance"}, {"exit": None}, {"more": 1}, {"at": "noon"}):
        assert list(event_faults("here", {**known, **wrong})) != []
        assert not validator("ledger").is_valid({**known, **wrong})
    assert validator("ledger").is_valid(known)


def test_a_result_may_carry_more_than_we_know() -> None:
    check = validator("result")
    result = {
        "schema": 1,
        "how": "exit",
        "exit_code": 0,
        "signal": None,
        "started_at": TIME,
        "finished_at": TIME,
        "seconds": 0.1,
        "detail": "",
    }
    assert check.is_valid({**result, "an agent's own": [1, 2]})
    assert not check.is_valid({**result, "how": "somehow"})


def checked(project: Project, *sessions: str) -> None:
    """Assert that everything in the sessions, and in the archive, is as declared."""
    for session in sessions:
        assert list(faults(project.session(session))) == []
    for path in project.path(".loop", "archive").rglob("*.json"):
        text = json.loads(path.read_text())
        kind = archived_kind(path)
        assert list(validator(kind).iter_errors(text)) == [], path


def archived_kind(path: Path) -> str:
    plain = {"inputs.json": "inputs", "result.json": "result", "usage.json": "usage"}
    if path.name in plain:
        return plain[path.name]
    numbered = re.search(r"(/iterations/\d{4}|-\d{4}-[^/]*)$", str(path.parent))
    return "iteration-state" if numbered else "stage-state"


def test_runs_that_end_well_or_badly_leave_valid_files(project: Project) -> None:
    project.write("plan.md", "one")
    project.loop(
        "good",
        "${GOAL}",
        max_iterations=2,
        reads=["plan.md"],
        output_parse="sum:SUM",
        validate="true",
    )
    project.step("good", f"{COSTS}; echo SUM: 1; echo more >> plan.md")
    project.ok("loop:good", "session=good", "goal=be good", "budget=9", "model=m")
    project.loop("bad", max_iterations=2, completion="validated", validate="false")
    assert project.doit("loop:bad", "session=bad").code == 1
    project.loop("ill", max_iterations=1, attempts=2, backoff=0, timeout=0.2)
    project.step("ill", "sleep 5")
    assert project.doit("loop:ill", "session=ill").code == 1
    project.step("ill", f"{COSTS}; echo well")
    project.ok("loop:ill", "session=ill")
    checked(project, "good", "bad", "ill")
    kinds = {e["event"] for s in ("good", "ill") for e in project.ledger(s)}
    assert kinds == {"run", "entry", "stage", "iteration", "attempt", "stop", "end"}


def test_checks_items_and_perspectives_leave_valid_files(project: Project) -> None:
    project.loop(
        "before",
        completion="validated",
        validate="true",
        check_before=True,
        reads=["plan.md"],
    )
    project.ok("loop:before", "session=before")
    project.loop("each", completion="all-items", items=["a b", "c"])
    project.ok("loop:each", "session=each")
    project.pipeline(
        "p",
        {"name": "look", "prompt": "${PERSPECTIVE}", "perspectives": ["x", "y"]},
        {"name": "sum", "prompt": "${INPUTS}", "runs": 1},
    )
    project.ok("-n", "2", "pipeline:p", "session=p")
    checked(project, "before", "each", "p")


def test_what_is_forgotten_or_restarted_stays_valid(project: Project) -> None:
    project.write("plan.md", "one")
    project.loop("x", max_iterations=3, reads=["plan.md"])
    project.ok("loop:x", "session=s")
    project.ok("forget", "loop:x:0002", "session=s")
    project.write("steps/x.2", "echo else\n")
    project.ok("loop:x", "session=s")
    project.write("plan.md", "two")
    project.ok("loop:x", "session=s")
    project.ok("clean", "loop:x:0003", "session=s")
    project.ok("forget", "loop:x", "session=s")
    project.ok("pause", "session=s", "reason=lunch")
    assert project.doit("loop:x", "session=s").code == 4
    project.ok("resume", "session=s")
    project.ok("loop:x", "session=s")
    checked(project, "s")
    kinds = {event["event"] for event in project.ledger("s")}
    assert kinds >= {"restart", "forget", "signal"}
    assert project.archived("s", "state.json")


def test_an_interrupted_run_leaves_valid_files(project: Project) -> None:
    project.loop("x", max_iterations=2)
    project.step("x", "touch started; sleep 60")
    running = project.start("loop:x", "session=s")
    assert within(20, project.path("started").exists)
    assert list(faults(project.session("s"))) == []
    assert project.session("s", "run.json").exists()
    assert project.state("s", "x")["status"] == "running"
    running.terminate()
    out, _ = running.communicate(timeout=30)
    assert running.returncode == 130, out
    checked(project, "s")
    (attempt,) = project.ledger("s", "attempt")
    assert attempt["verdict"] == "interrupted"


def test_a_killed_run_leaves_valid_files(project: Project) -> None:
    project.loop("x", max_iterations=2)
    project.step("x", "echo one", "touch started; sleep 60")
    running = project.start("loop:x", "session=s")
    assert within(20, project.path("started").exists)
    running.kill()
    running.communicate(timeout=30)
    checked(project, "s")
    project.write("steps/x.2", "echo two\n")
    project.ok("loop:x", "session=s")
    checked(project, "s")


def test_a_recording_is_valid(project: Project) -> None:
    project.write("old.md", "")
    project.loop("x", max_iterations=1)
    project.step("x", f"{COSTS}; rm old.md; echo new > new.md")
    project.ok("loop:x", "session=s", "record=tape")
    for kind in ("usage", "deleted"):
        (path,) = project.path("tape").rglob(f"{kind}.json")
        assert list(validator(kind).iter_errors(json.loads(path.read_text()))) == []
    checked(project, "s")
