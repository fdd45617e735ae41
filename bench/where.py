"""Where: which code an iteration's time goes to, from samples of one run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.bench import Bench
from bench.commands import python
from bench.projects import loop_project

# Samples by processor time: waiting for agent, keeper and disk is what is left over.
_PROGRAM = """\
import collections, json, resource, signal, sys, time
inner, whose = collections.Counter(), collections.Counter()

def name(frame):
    return frame.f_globals.get("__name__", "?")

def package(frame):
    while frame and not name(frame).startswith(("looptasks.", "doit.")):
        frame = frame.f_back
    parts = name(frame).split(".") if frame else ["python"]
    return ".".join(parts[:2]) if parts[0] == "looptasks" else parts[0]

def sample(number, frame):
    inner[f"{name(frame)}.{frame.f_code.co_name}"] += 1
    whose[package(frame)] += 1

from doit.doit_cmd import DoitMain
signal.signal(signal.SIGPROF, sample)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
start = time.perf_counter()
code = DoitMain().run(sys.argv[2:])
seconds = time.perf_counter() - start
signal.setitimer(signal.ITIMER_PROF, 0)
used = resource.getrusage(resource.RUSAGE_SELF)
found = {
    "seconds": seconds,
    "cpu": used.ru_utime + used.ru_stime,
    "whose": whose.most_common(),
    "inner": inner.most_common(12),
}
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
sys.exit(code)
"""


def lines(bench: Bench) -> Iterator[str]:
    """Yield what a look at one long run shows."""
    count = 400 if bench.quick else 2_000
    project = loop_project(bench.fresh("where"))
    found = _sampled(bench, project, count)
    total = sum(number for _, number in found["whose"]) or 1
    each, cpu = (found[key] / count * 1e3 for key in ("seconds", "cpu"))
    yield f"{count} iterations, {each:.2f} ms each, {cpu:.2f} ms of it computing by"
    for name, number in found["whose"]:
        yield f"  {number / total:4.0%} {name}"
    yield "most often found in"
    for name, number in found["inner"]:
        yield f"  {number / total:4.0%} {name}"


def _sampled(bench: Bench, project: Path, count: int) -> dict[str, Any]:
    result = bench.fresh("where.json")
    words = ("loop:x", "session=s", f"max={count}")
    python(project, bench.with_us, "-c", _PROGRAM, str(result), *words)
    found: dict[str, Any] = json.loads(result.read_text())
    return found
