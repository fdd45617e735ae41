"""Commands: doit processes, timed from outside, in environments made for the run."""

import os
import resource
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
_HIDDEN = ("DOIT_", "LOOP_", "CLAUDE_LOOP_", "LOOPTASKS_", "PYTHON")


class Ran(NamedTuple):
    """A command that succeeded: what it printed, and how long it took.

    `cpu` is the time that it was computing, children included. A command that waits
    for nothing takes as long on an idle machine, and on a busy one it can be compared.
    """

    out: str
    seconds: float
    cpu: float


def environments(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment with looptasks registered, and the one without.

    The first distribution of a name on the path hides the others: so both have the
    same path but for one folder, whether looptasks is installed or not.
    """
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    points = declared["project"]["entry-points"]
    with_us = _environment(folder / "with-looptasks", points)
    return with_us, _environment(folder / "without-looptasks", {})


def _environment(
    folder: Path, points: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    info = folder / "looptasks-0.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: looptasks\nVersion: 0.0.0\n"
    )
    sections = (
        f"[{group}]\n" + "".join(f"{key} = {place}\n" for key, place in named.items())
        for group, named in points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(sections))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(_HIDDEN)}
    return clean | {"PYTHONPATH": f"{folder}{os.pathsep}{REPOSITORY}"}


def python(cwd: Path, env: Mapping[str, str], *words: str) -> Ran:
    """Run Python to its end; it must succeed."""
    argv = [sys.executable, *words]
    start, before = time.perf_counter(), _children()
    done = subprocess.run(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, cpu = time.perf_counter() - start, _children() - before
    if done.returncode:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        raise SystemExit(f"{' '.join(argv)} ended with {done.returncode}\n{said}")
    return Ran(done.stdout, seconds, cpu)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def doit(cwd: Path, env: Mapping[str, str], *words: str) -> Ran:
    """Run doit to its end; it must succeed."""
    return python(cwd, env, "-m", "doit", *words)


def insist(found: object, wanted: object, what: str) -> None:
    """End the benchmark when the work that was timed is not the work that was meant."""
    insist_that(found == wanted, f"{what}: expected {wanted!r}, found {found!r}")


def insist_that(holds: bool, told: str) -> None:  # noqa: FBT001 - its only condition
    """End the benchmark when something does not hold."""
    if not holds:
        raise SystemExit(f"bench: not what was meant to be timed: {told}")
