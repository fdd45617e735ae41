"""Resume: how soon the next agent starts when much is done already."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from bench.bench import Bench
from bench.commands import doit, insist
from bench.projects import loop_project
from bench.table import Row

_BEHIND = 1_000


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the time to the first new agent of a resumed and of a fresh session."""
    behind = loop_project(bench.fresh("resumed"))
    doit(behind, bench.with_us, f"loop:x:{_BEHIND}", "session=s")
    before = loop_project(bench.fresh("started"))
    numbers, names = itertools.count(_BEHIND + 1), itertools.count(1)
    yield bench.row(
        f"resume after {_BEHIND:,} / fresh start",
        lambda: _first_agent(bench, behind, "s", next(numbers)),
        lambda: _first_agent(bench, before, f"s{next(names)}", 1),
        bench.effort(5),
        limit="resume",
        note="until the first agent answers",
    )


def _first_agent(bench: Bench, project: Path, session: str, number: int) -> float:
    start = time.time_ns()
    words = (f"loop:x:{number:04d}", f"session={session}")
    said = doit(project, bench.with_us, *words).out
    insist(said.count(" started, "), 1, "agents that were started")
    folder = project / f".loop/{session}/x/iterations/{number:04d}"
    answered = (folder / "attempts/1/stdout").stat().st_mtime_ns
    return (answered - start) / 1e9
