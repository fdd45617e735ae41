"""Iterations: what our loop costs beside a bare loop that starts the same program.

Our code is measured in memory, where a sync costs nothing, against the barest loop. On
the disk the floor syncs as much as we promise to, and the row only informs: what a file
costs there depends on who else makes and removes files.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.bench import Bench
from bench.commands import doit, insist, python
from bench.projects import STUB, loop_project
from bench.samples import Contender
from bench.table import Row

# What nobody can leave out: the prompt on stdin, the answer in a file of its own.
_BARE = f"""\
import subprocess, sys
for number in range(int(sys.argv[1])):
    name = f"{{sys.argv[2]}}-{{number}}"
    with open("prompt", "rb") as prompt, open(name, "wb") as out:
        subprocess.run(["{STUB}"], stdin=prompt, stdout=out, check=True)
"""
# The same, keeping what we promise to keep: the answer and one line, both synced.
_DURABLE = f"""\
import os, subprocess, sys
with open(f"{{sys.argv[2]}}-ledger", "ab", buffering=0) as ledger:
    for number in range(int(sys.argv[1])):
        name = f"{{sys.argv[2]}}-{{number}}"
        with open("prompt", "rb") as prompt, open(name, "wb") as out:
            subprocess.run(["{STUB}"], stdin=prompt, stdout=out, check=True)
            os.fsync(out.fileno())
        ledger.write(b"x" * 700 + b"\\n")
        os.fsync(ledger.fileno())
"""
_SHORT = 20


def rows(bench: Bench) -> Iterator[Row]:
    """Yield what an iteration costs, start-up and end aside."""
    yield _row(bench, "in memory", bench.memory(), _BARE, "iteration")
    yield _row(bench, "on disk, synced", bench.fresh("disk"), _DURABLE, None)


def _row(
    bench: Bench, where: str, folder: Path, program: str, limit: str | None
) -> Row:
    long = 120 if bench.quick else 520
    project = loop_project(folder / "ours")
    ours = _slope(lambda count, name: _looped(bench, project, count, name), long)
    bare = _bare(bench, folder / "bare", program, long)
    title = f"iteration {where} / bare loop"
    note = f"iterations {_SHORT} to {long}"
    effort = bench.effort(12 if limit else 4, least=7, most=25)
    return bench.row(title, ours, bare, effort, limit=limit, note=note)


def _slope(run: Callable[[int, str], float], long: int) -> Contender:
    names = iter(range(10**9))

    def seconds() -> float:
        name = str(next(names))
        short_run = run(_SHORT, f"short{name}")
        return (run(long, f"long{name}") - short_run) / (long - _SHORT)

    return seconds


def _looped(bench: Bench, project: Path, count: int, name: str) -> float:
    words = ("loop:x", f"session={name}", f"max={count}")
    ran = doit(project, bench.with_us, *words)
    ledger = (project / ".loop" / name / "ledger.jsonl").read_bytes()
    insist(ledger.count(b'"event":"iteration"'), count, "iterations in the ledger")
    last = project / f".loop/{name}/x/iterations/{count:04d}/output.md"
    insist(last.read_text(), f"Work on {count} of {name}.\n", "the last answer")
    return ran.seconds


def _bare(bench: Bench, folder: Path, program: str, long: int) -> Contender:
    folder.mkdir(parents=True)
    (folder / "prompt").write_text("Work on 1 of bare.\n")
    (folder / "bare.py").write_text(program)

    def run(count: int, name: str) -> float:
        env = bench.without
        seconds = python(folder, env, "bare.py", str(count), name).seconds
        insist((folder / f"{name}-{count - 1}").stat().st_size, 19, "the last answer")
        return seconds

    return _slope(run, long)
