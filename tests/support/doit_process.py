"""A doit process: real doit in a folder, with or without looptasks registered."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]


class Ran(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


def environment(folder: Path, *, registered: bool) -> dict[str, str]:
    """Return an environment that knows looptasks' entry points, or none of them.

    The first distribution of a name on the path hides the others, so this holds
    whether looptasks is installed or not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    points = declared_entry_points() if registered else {}
    write_distribution(folder, "looptasks", points)
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DOIT_", "LOOP_", "PYTHON"))
    }
    # Some of doit's output follows the order of a set.
    return clean | {
        "PYTHONPATH": f"{folder}{os.pathsep}{REPOSITORY}",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def declared_entry_points() -> dict[str, dict[str, str]]:
    """Return the entry points of `pyproject.toml`, by group."""
    text = (REPOSITORY / "pyproject.toml").read_text()
    points: dict[str, dict[str, str]] = tomllib.loads(text)["project"]["entry-points"]
    return points


def write_distribution(
    folder: Path, name: str, points: Mapping[str, Mapping[str, str]]
) -> None:
    """Write the metadata of an installed distribution."""
    info = folder / f"{name}-0.1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n"
    )
    sections = (
        f"[{group}]\n" + "".join(f"{key} = {place}\n" for key, place in named.items())
        for group, named in points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(sections))


def doit(folder: Path, *words: str, env: Mapping[str, str]) -> Ran:
    """Run doit in a folder to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "doit", *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
