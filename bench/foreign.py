"""Foreign: what looptasks costs projects that do not use it, by being installed."""

from collections.abc import Iterator

from bench.bench import Bench
from bench.commands import doit
from bench.table import Row

_TASKS = 10


def rows(bench: Bench) -> Iterator[Row]:
    """Yield commands of a plain project, with looptasks installed and without."""
    project = bench.raw(_TASKS)
    for words in ((), ("list",)):
        yield bench.row(
            f"doit {' '.join(words)}".strip() + ", installed / not installed",
            lambda words=words: doit(project, bench.with_us, *words).seconds,
            lambda words=words: doit(project, bench.without, *words).seconds,
            bench.effort(4, least=9),
            limit="foreign",
            note="a project without loops",
        )
