"""The project's own checks, as doit tasks: `doit check` runs them all.

They run through looptasks itself, because `pyproject.toml` selects its loader. A task
whose files have not changed since it passed is not run again.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Bare `doit` runs the checks. The loops of this repository start only by name.
DOIT_CONFIG = {"default_tasks": ["check"], "verbosity": 2, "continue": True}

Task = dict[str, Any]


def tool(module: str, *words: str) -> list[str]:
    """Return the command line of a tool that is installed beside this doit."""
    return [sys.executable, "-m", module, *words]


def files(*patterns: str) -> list[str]:
    """Return the project's files that the patterns mean, with its configuration."""
    found = {str(path) for pattern in patterns for path in Path().glob(pattern)}
    return sorted(name for name in {*found, "pyproject.toml"} if Path(name).is_file())


def sources() -> list[str]:
    """Return every Python file of the project."""
    return files("*.py", "looptasks/**/*.py", "tests/**/*.py", "bench/**/*.py")


def task_check() -> Iterator[Task]:
    """Lint, format, types, imports, shipped loops: all that is not a test."""
    yield {
        "name": "lint",
        "doc": "ruff check",
        "actions": [tool("ruff", "check", ".")],
        "file_dep": sources(),
    }
    yield {
        "name": "format",
        "doc": "ruff format --check",
        "actions": [tool("ruff", "format", "--check", ".")],
        "file_dep": sources(),
    }
    yield {
        "name": "types",
        "doc": "mypy, strict, the tests too",
        "actions": [tool("mypy")],
        "file_dep": sources(),
    }
    yield {
        "name": "imports",
        "doc": "imports point down: plugin, runner and effects, core, errors",
        "actions": [[str(Path(sys.executable).with_name("lint-imports"))]],
        "file_dep": files("looptasks/**/*.py"),
    }
    yield {
        "name": "loops",
        "doc": "doit lint, on the loops and pipelines that are shipped",
        "actions": [tool("doit", "lint")],
        "file_dep": files("loops/**/*", "pipelines/*", "looptasks/**/*.py"),
    }


def task_test() -> Task:
    """Run the tests; `pytest` itself is shorter."""
    return {"actions": [tool("pytest", "-q", "-n", "auto")], "uptodate": [False]}


def task_bench() -> Task:
    """Compare with raw doit and with a bare loop, in about a minute."""
    return {"actions": [tool("bench", "--quick")], "uptodate": [False]}
