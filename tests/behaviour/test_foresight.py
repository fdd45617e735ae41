"""Foresight: what `explain` and `list` say beforehand is what a run then does.

A small model in Python computes from contents alone which agents must run; doit, its
predictions and the model have to agree after any series of edits.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.doit_nursery import Nursery
from tests.support.project import Project

FILES = ("one.txt", "two.txt")
TEXTS = ("red", "green")


class Spec(NamedTuple):
    """A stage as declared: constant ones always print the same."""

    name: str
    inputs: tuple[str, ...]
    runs: int
    constant: bool
    reads: str | None


class Edit(NamedTuple):
    """Something that a person does between two runs."""

    kind: str
    stage: int = 0
    file: str = FILES[0]
    text: str = ""


class Done:
    """What the model knows of a stage: outputs, and what they were made from."""

    def __init__(self) -> None:
        self.outputs: list[Any] = []
        self.previous: list[Any] = []
        self.source: Any = None
        self.forgotten: set[int] = set()

    def stands(self, number: int) -> bool:
        """Whether an iteration counts: it is there, and so is what came before it."""
        before = self.outputs[number - 2] if number > 1 else None
        known = number not in self.forgotten
        return known and self.previous[number - 1] == before

    def put(self, number: int, output: Any) -> None:
        """Take in an iteration, new or repeated."""
        before = self.outputs[number - 2] if number > 1 else None
        self.outputs[number - 1 : number] = [output]
        self.previous[number - 1 : number] = [before]
        self.forgotten.discard(number)

    def cut(self, keep: int) -> None:
        """Let go of what came after."""
        del self.outputs[keep:], self.previous[keep:]
        self.forgotten = {n for n in self.forgotten if n <= keep}


class Model:
    """The project and its session, brute force."""

    def __init__(self, specs: list[Spec]) -> None:
        self.specs = specs
        self.files = dict.fromkeys(FILES, "blue")
        self.done = {spec.name: Done() for spec in specs}

    def run(self) -> list[str]:
        """Return which agents run, bringing everything up to date."""
        return [ran for spec in self.specs for ran in self._run_stage(spec)]

    def _run_stage(self, spec: Spec) -> Iterator[str]:
        done = self.done[spec.name]
        given = tuple(self.done[name].outputs[-1] for name in spec.inputs)
        source = (given, self.files[spec.reads] if spec.reads else None)
        if source != done.source:
            done.cut(0)
        done.source = source
        number = 1
        while number <= max(spec.runs, len(done.outputs)):
            if number <= len(done.outputs) and done.stands(number):
                number += 1
            elif number <= len(done.outputs) and number not in done.forgotten:
                done.cut(number - 1)
            else:
                output = spec.name if spec.constant else (spec.name, number, source)
                done.put(number, output)
                yield f"{spec.name}:{number}"


@st.composite
def pipelines(draw: st.DrawFn) -> list[Spec]:
    """Draw up to four stages, each resting on any of those before it."""
    specs: list[Spec] = []
    for number in range(draw(st.integers(1, 4))):
        before = [spec.name for spec in specs]
        inputs = draw(st.lists(st.sampled_from(before), unique=True)) if before else []
        specs.append(
            Spec(
                name=f"s{number}",
                inputs=tuple(sorted(inputs)),
                runs=draw(st.integers(1, 2)),
                constant=draw(st.booleans()),
                reads=draw(st.sampled_from([None, *FILES])),
            )
        )
    return specs


edits = st.builds(
    Edit,
    kind=st.sampled_from(
        ["write", "write", "touch", "forget", "forget", "lose db", "runs", "nothing"]
    ),
    stage=st.integers(0, 3),
    file=st.sampled_from(FILES),
    text=st.sampled_from(TEXTS),
)
rounds = st.lists(
    st.tuples(st.lists(edits, min_size=1, max_size=3), st.sampled_from([(), ("-n2",)])),
    min_size=1,
    max_size=3,
)


def declare(project: Project, specs: list[Spec]) -> None:
    project.pipeline(
        "p",
        *(
            {
                "name": spec.name,
                "prompt": "${INPUTS}",
                "runs": spec.runs,
                "inputs": list(spec.inputs),
                "reads": [spec.reads] if spec.reads else [],
            }
            for spec in specs
        ),
    )
    for spec in specs:
        read = f"cat {spec.reads};" if spec.reads else ""
        echo = f"echo {spec.name} $LOOP_ITERATION; {read} cat"
        project.step(spec.name, f"echo {spec.name}" if spec.constant else echo)


def perform(edit: Edit, project: Project, model: Model, nursery: Nursery) -> None:
    spec = model.specs[edit.stage % len(model.specs)]
    done = model.done[spec.name]
    if edit.kind == "write":
        project.write(edit.file, edit.text)
        model.files[edit.file] = edit.text
    elif edit.kind == "touch":
        os.utime(project.path(edit.file), (1, 1))
    elif edit.kind == "lose db":
        project.session("s", "doit.db").unlink(missing_ok=True)
    elif edit.kind == "forget":
        number = len(done.outputs)
        task = f"stage:{spec.name}:{number:04d}"
        assert nursery.doit(project.root, "forget", task, "session=s").code == 0
        done.forgotten.add(number)
    elif edit.kind == "runs":
        changed = spec._replace(runs=3 - spec.runs)
        model.specs[model.specs.index(spec)] = changed
        declare(project, model.specs)


def told(nursery: Nursery, project: Project, command: str) -> dict[str, dict[str, Any]]:
    """Return what a command foretells of each stage."""
    ran = nursery.doit(project.root, command, "session=s", "--json")
    assert ran.code == 0, ran
    (entry,) = ran.json["entries"]
    return {stage["stage"]: stage for stage in entry["stages"]}


def compare(foretold: dict[str, dict[str, Any]], runs: list[str]) -> None:
    """Assert that a prophecy has come true."""
    for name, stage in foretold.items():
        mine = sorted(
            int(run.partition(":")[2]) for run in runs if run.startswith(name)
        )
        match stage["fate"]:
            case "run":
                assert mine, f"{name} was to run: {stage['reason']}"
                # With a parent on the move, it may have to start from the first.
                moving = "; after " in stage["reason"]
                assert mine[0] == stage["next"] or (moving and mine[0] == 1)
            case "rest":
                assert not mine, f"{name} was to rest: {stage['reason']}"
            case fate:
                assert fate == "maybe"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    with Nursery(env) as made:
        yield made


# Without shrinking: that takes minutes, and the examples are small anyway.
@settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(specs=pipelines(), series=rounds)
def test_what_is_foretold_is_what_happens(
    nursery: Nursery,
    specs: list[Spec],
    series: list[tuple[list[Edit], tuple[str, ...]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project, model = Project(Path(folder) / "project"), Model(list(specs))
        for name in FILES:
            project.write(name, "blue")
        declare(project, specs)
        first = nursery.doit(project.root, "pipeline:p", "session=s")
        assert first.code == 0, first
        assert sorted(project.new_runs()) == sorted(model.run())
        for batch, mode in series:
            for edit in batch:
                perform(edit, project, model, nursery)
            explained = told(nursery, project, "explain")
            listed = told(nursery, project, "list")
            assert listed == explained
            ran = nursery.doit(project.root, *mode, "pipeline:p", "session=s")
            assert ran.code == 0, ran
            runs = project.new_runs()
            assert sorted(runs) == sorted(model.run())
            compare(explained, runs)
            fates = {s["fate"] for s in told(nursery, project, "explain").values()}
            assert fates == {"rest"}
