"""Flatness: whether an iteration costs the same however many came before it."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.bench import Bench
from bench.commands import doit, insist
from bench.projects import loop_project
from bench.samples import summary
from bench.table import Row

_WIDTH, _PART = 100, 20
_EARLY = 5


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the cost of late iterations against that of early ones in the same run."""
    number, rounds = (300, 5) if bench.quick else (1000, 9)
    late = number - _WIDTH // 2
    project = loop_project(bench.memory())
    pairs = []
    for turn in range(rounds):
        stamps = _stamps(bench, project, f"s{turn}", late + _WIDTH)
        pairs.append((_cost(stamps, late), _cost(stamps, _EARLY)))
    title = f"iteration {number} / iteration 10"
    note = "in one and the same run"
    yield bench.told(title, summary(pairs), "flatness", note)


def _stamps(bench: Bench, project: Path, name: str, count: int) -> list[int]:
    """Return when each agent of a run wrote its answer."""
    doit(project, bench.with_us, "loop:x", f"session={name}", f"max={count}")
    folder = project / f".loop/{name}/x/iterations"
    insist(len(list(folder.iterdir())), count, "iterations")
    answers = (
        folder / f"{number:04d}/attempts/1/stdout" for number in range(1, count + 1)
    )
    return [answer.stat().st_mtime_ns for answer in answers]


def _cost(stamps: list[int], first: int) -> float:
    """Return seconds per iteration; the median of parts, so that a hiccup is none."""
    starts = range(first - 1, first - 1 + _WIDTH, _PART)
    parts = [stamps[at + _PART] - stamps[at] for at in starts]
    return median(parts) / _PART / 1e9
