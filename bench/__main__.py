"""The command: measures, prints one table, and fails when a limit is broken."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench import (
    beads,
    flatness,
    foreign,
    imports,
    instances,
    iterations,
    nothing_to_do,
    parallel,
    resume,
    where,
)
from bench.bench import Bench
from bench.table import Row, markdown

MEASURES: Mapping[str, Callable[[Bench], Iterator[Row]]] = {
    "imports": imports.rows,
    "iterations": iterations.rows,
    "flatness": flatness.rows,
    "nothing": nothing_to_do.rows,
    "resume": resume.rows,
    "parallel": parallel.rows,
    "beads": beads.rows,
    "instances": instances.rows,
    "foreign": foreign.rows,
}


def main(argv: list[str]) -> int:
    """Run the measures that were asked for."""
    options = _parser().parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=options.folder))
    bench = Bench(folder, quick=options.quick)
    try:
        if options.where:
            print("\n".join(where.lines(bench)))
            return 0
        found = list(_measured(bench, options.only or list(MEASURES)))
    finally:
        bench.close()
    table = markdown(found)
    print(table)
    if options.out:
        options.out.write_text(table)
    broken = [row.name for row in found if row.verdict == "BROKEN"]
    if broken:
        print(f"broken: {', '.join(broken)}; the limits are in bench/thresholds.toml")
    return 1 if broken else 0


def _measured(bench: Bench, names: list[str]) -> Iterator[Row]:
    for name in names:
        for row in MEASURES[name](bench):
            sys.stderr.write(f"{row.name}: {row.ratio.value:.2f} {row.verdict}\n")
            yield row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about a minute, for CI")
    parser.add_argument(
        "--only",
        action="append",
        choices=MEASURES,
        help="one measure (may be repeated)",
    )
    parser.add_argument(
        "--where", action="store_true", help="only show where an iteration's time goes"
    )
    parser.add_argument("--out", type=Path, help="write the table to a file, too")
    parser.add_argument(
        "--folder", type=Path, help="where to work; decides which disk is measured"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
