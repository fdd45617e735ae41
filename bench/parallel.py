"""Parallel: how near agents side by side come to what their number allows."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.bench import Bench
from bench.commands import doit, insist, insist_that
from bench.projects import pipeline_project
from bench.samples import Contender
from bench.table import Row

_AGENTS, _SIDE_BY_SIDE, _SECONDS = 64, 8, 0.2
_PROMPT = "Rest a little."
# Stage: seconds, and what it waits for. The longest way is a, c, f, h: 2.1 s.
UNEVEN: Mapping[str, tuple[float, tuple[str, ...]]] = {
    "a": (0.3, ()),
    "b": (0.2, ("a",)),
    "c": (0.9, ("a",)),
    "d": (0.5, ("a",)),
    "e": (0.4, ("b",)),
    "f": (0.6, ("c", "d")),
    "g": (0.5, ("d", "e")),
    "h": (0.3, ("f", "g")),
}
LONGEST = 2.1


def rows(bench: Bench) -> Iterator[Row]:
    """Yield full waves of equal agents, and an uneven graph, against the ideal."""
    waves = _AGENTS / _SIDE_BY_SIDE * _SECONDS
    members = [_stage(f"s{n:02d}", _SECONDS) for n in range(_AGENTS)]
    even = [{"name": "all", "parallel": members}]
    uneven = [
        {**_stage(name, seconds), "inputs": list(inputs)}
        for name, (seconds, inputs) in UNEVEN.items()
    ]
    for title, stages, seconds, limit in (
        (f"{_AGENTS} agents on {_SIDE_BY_SIDE} / ideal", even, waves, "parallel-even"),
        ("uneven graph / its longest way", uneven, LONGEST, "parallel-uneven"),
    ):
        project = pipeline_project(bench.memory(), stages)
        count = _AGENTS if stages is even else len(UNEVEN)
        yield bench.row(
            title,
            _ours(bench, project, count),
            ideal(bench, seconds),
            bench.effort(8, least=3, most=12),
            limit=limit,
            note=f"{seconds:g} s and raw doit's start-up",
        )


def _stage(name: str, seconds: float) -> dict[str, Any]:
    agent = {"command": f"/bin/sleep {seconds}"}
    return {"name": name, "prompt": _PROMPT, "agent": agent}


def _ours(bench: Bench, project: Path, count: int) -> Contender:
    names = iter(range(10**9))

    def seconds() -> float:
        session = f"s{next(names)}"
        words = ("-n", str(_SIDE_BY_SIDE), "pipeline:p", f"session={session}")
        ran = doit(project, bench.with_us, *words)
        insist(ran.out.count(" started, "), count, "agents that were started")
        said = ran.out.splitlines()[-1]
        insist_that(f" {count} iterations" in said, said)
        return ran.seconds

    return seconds


def ideal(bench: Bench, agents: float) -> Contender:
    """Return the time that the agents need, and raw doit to find nothing to do."""
    return lambda: agents + doit(bench.raw(10), bench.without).seconds
