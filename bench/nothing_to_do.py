"""Nothing to do: a finished session against raw doit with as many tasks, by CPU."""

from collections.abc import Iterator

from bench.bench import Bench
from bench.commands import doit, insist, insist_that
from bench.samples import Contender
from bench.table import Row

_SMALL = 100


def rows(bench: Bench) -> Iterator[Row]:
    """Yield a no-op run and both kinds of `list`, for sessions of growing length."""
    counts = (10, 100, 1_000) if bench.quick else (10, 100, 1_000, 10_000)
    for count in counts:
        limit = "nothing-small" if count <= _SMALL else "nothing-large"
        for title, ours, floor, held in (
            ("run", _run(bench, count), raw_run(bench, count), limit),
            ("list", _list(bench, count), _raw_list(bench, count), limit),
            ("list --all", _list_all(bench, count), _raw_all(bench, count), None),
        ):
            name = f"{title} of {count:,} done / raw doit"
            effort = bench.effort(3 if held else 1, most=40)
            yield bench.row(name, ours, floor, effort, limit=held, note="CPU")


def _run(bench: Bench, count: int) -> Contender:
    def seconds() -> float:
        ran = doit(bench.finished(count), bench.with_us, "loop:x", "session=s")
        said = ran.out.splitlines()[-1]
        insist_that("nothing to do" in said and f" {count} iterations" in said, said)
        return ran.cpu

    return seconds


def raw_run(bench: Bench, count: int) -> Contender:
    """Return raw doit with so many tasks, none of which is to be done."""

    def seconds() -> float:
        ran = doit(bench.raw(count), bench.without)
        insist(ran.out.count("-- t:"), count, "tasks up to date")
        return ran.cpu

    return seconds


def _list(bench: Bench, count: int) -> Contender:
    def seconds() -> float:
        ran = doit(bench.finished(count), bench.with_us, "list", "session=s")
        insist_that(f"{count} iterations" in ran.out, ran.out)
        return ran.cpu

    return seconds


def _raw_list(bench: Bench, count: int) -> Contender:
    def seconds() -> float:
        ran = doit(bench.raw(count), bench.without, "list")
        insist(ran.out.split(), ["t"], "tasks listed")
        return ran.cpu

    return seconds


def _list_all(bench: Bench, count: int) -> Contender:
    def seconds() -> float:
        words = ("list", "--all", "session=s")
        ran = doit(bench.finished(count), bench.with_us, *words)
        insist(ran.out.count("loop:x:"), count, "iterations listed")
        return ran.cpu

    return seconds


def _raw_all(bench: Bench, count: int) -> Contender:
    def seconds() -> float:
        ran = doit(bench.raw(count), bench.without, "list", "--all")
        insist(ran.out.count("t:"), count, "tasks listed")
        return ran.cpu

    return seconds
