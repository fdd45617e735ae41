"""Foreign: what looptasks costs projects that do not use it, by being installed."""

from collections.abc import Iterator, Mapping

from bench.bench import Bench
from bench.commands import doit
from bench.samples import Contender
from bench.table import Row

_TASKS = 10


def rows(bench: Bench) -> Iterator[Row]:
    """Yield commands of a plain project, with looptasks installed and without."""
    for words in (("run",), ("list",)):
        yield bench.row(
            f"doit {words[0]}, installed / not installed",
            _plain(bench, bench.with_us, words),
            _plain(bench, bench.without, words),
            bench.effort(4, least=9),
            limit="foreign",
            note="CPU, a project without loops",
        )


def _plain(bench: Bench, env: Mapping[str, str], words: tuple[str, ...]) -> Contender:
    project = bench.raw(_TASKS)
    return lambda: doit(project, env, *words).cpu
