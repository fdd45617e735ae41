"""Instances: an onion with nothing to do, against raw doit with as many tasks."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.bench import Bench
from bench.commands import doit, insist_that
from bench.nothing_to_do import raw_run
from bench.projects import pipeline_project
from bench.samples import Contender
from bench.table import Row

_WIDTH = 10
_SCHEMA = {
    "type": "object",
    "required": ["parts"],
    "properties": {
        "parts": {
            "type": "array",
            "items": {"type": "object", "required": ["name"]},
        }
    },
}


def rows(bench: Bench) -> Iterator[Row]:
    """Yield a no-op of 1,000 leaves in three layers, by instances and by tasks."""
    project = _finished(bench)
    shown = doit(project, bench.with_us, "list", "--all", "session=s").out
    tasks = shown.count("stage:")
    instances = tasks - shown.count(":0001")
    for count, limit, of in (
        (tasks, "nothing-large", "tasks"),
        (instances, "instances", "instances"),
    ):
        name = f"run of {count:,} {of} of an onion done / raw doit"
        ours, floor = _run(bench, project), raw_run(bench, count)
        yield bench.row(name, ours, floor, bench.effort(4), limit=limit, note="CPU")


def _run(bench: Bench, project: Path) -> Contender:
    def seconds() -> float:
        ran = doit(project, bench.with_us, "pipeline:p", "session=s")
        said = ran.out.splitlines()[-1]
        insist_that("nothing to do" in said and f"{_WIDTH**3} instances" in said, said)
        return ran.cpu

    return seconds


def _finished(bench: Bench) -> Path:
    """Make a project whose session has 10 x 10 x 10 instances behind it."""
    project = pipeline_project(bench.fresh("onion"), list(_stages()))
    (project / "schemas").mkdir()
    (project / "schemas/tree.schema.json").write_text(json.dumps(_SCHEMA))
    ran = doit(project, bench.with_us, "pipeline:p", "session=s")
    insist_that(f"all {_WIDTH**3} instances are complete" in ran.out, ran.out[-500:])
    return project


def _stages() -> Iterator[dict[str, Any]]:
    """Yield stages whose agent repeats its prompt: a list of parts, all the same."""
    parts = json.dumps({"parts": [{"name": f"p{n}"} for n in range(_WIDTH)]})
    layer = {"artifact": "tree", "prompt": f"```json\n{parts}\n```\n"}
    agent = {"agent": {"command": "/bin/cat"}}
    yield {"name": "top", **layer, **agent}
    yield {"name": "mid", "each": "top.parts", **layer, **agent}
    yield {"name": "low", "each": "mid.parts", **layer, **agent}
    yield {"name": "leaf", "each": "low.parts", "prompt": "Work.\n", **agent}
