"""Projects: folders that are timed, ours with loops and raw ones with a `dodo.py`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.commands import doit, insist

STUB = "/bin/cat"
_DODO = """\
import pathlib

def write(target):
    pathlib.Path(target).write_text("done")

def task_t():
    for number in range({count}):
        target = f"made/{{number}}"
        yield {{
            "name": str(number),
            "actions": [(write, [target])],
            "file_dep": [f"given/{{number}}"],
            "targets": [target],
        }}
"""


def loop_project(folder: Path) -> Path:
    """Make a project with the loop `x`, whose agent is a program that ends at once."""
    _write(folder / "doit.cfg", "[GLOBAL]\nloader = loops\n")
    declared = {"name": "x", "agent": {"command": STUB}, "max_iterations": 1_000_000}
    _write(folder / "loops/x/loop.yaml", json.dumps(declared))
    _write(folder / "loops/x/prompt.md", "Work on ${ITERATION} of ${SESSION}.\n")
    return folder


def pipeline_project(folder: Path, stages: Sequence[Mapping[str, Any]]) -> Path:
    """Make a project with the pipeline `p` of stages of one iteration each."""
    _write(folder / "doit.cfg", "[GLOBAL]\nloader = loops\n")
    declared = {"name": "p", "defaults": {"max_iterations": 1}, "stages": stages}
    _write(folder / "pipelines/p.yaml", json.dumps(declared))
    return folder


def finished_session(folder: Path, env: Mapping[str, str], count: int) -> Path:
    """Make a project whose session `s` has so many iterations behind it."""
    loop_project(folder)
    doit(folder, env, "loop:x", "session=s", f"max={count}")
    state = json.loads(doit(folder, env, "status", "--json", "session=s").out)
    insist((state["iterations"], state["status"]), (count, "complete"), "the history")
    return folder


def raw_project(folder: Path, env: Mapping[str, str], count: int) -> Path:
    """Make a plain doit project with so many tasks, all of them up to date."""
    for number in range(count):
        _write(folder / f"given/{number}", str(number))
    (folder / "made").mkdir()
    _write(folder / "dodo.py", _DODO.format(count=count))
    ran = doit(folder, env)
    insist(ran.out.count("\n"), count, "tasks that ran at first")
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
