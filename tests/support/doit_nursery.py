"""A nursery: one process that has imported doit and forks a fresh child per command.

Hypothesis runs hundreds of commands, and most of each is spent on imports. A child
forked from a process without threads is as good as a new one.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.project import REPOSITORY, TIMEOUT, Ran

_PLUGIN = (
    "actions",
    "backend",
    "checker",
    "foresight",
    "grove_foresight",
    "grove_goals",
    "invalidation",
    "loader",
    "reporter",
    "running",
    "showing",
)
_WARM = (*(f"looptasks.plugin.{name}" for name in _PLUGIN), "jsonschema", "filelock")


class Nursery:
    """Runs doit commands, each in a forked child of a warm process."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=REPOSITORY,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=TIMEOUT)

    def doit(self, folder: Path, *words: str, kill_at: int = -1) -> Ran:
        """Run doit in a folder to its end, or to its n-th change of a file.

        0 kills nothing; what changes there were is in `FOLDER.changes` then.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(folder), words, kill_at]) + "\n")
        self._process.stdin.flush()
        return Ran(*json.loads(self._process.stdout.readline()))


def _serve() -> None:
    for module in _WARM:
        import_module(module)
    for line in sys.stdin:
        folder, words, kill_at = json.loads(line)
        code = _run(folder, words, kill_at)
        texts = [Path(f"{folder}.{name}").read_text() for name in ("out", "err")]
        print(json.dumps([code, *texts]), flush=True)


def _run(folder: str, words: list[str], kill_at: int) -> int:
    child = os.fork()
    if child == 0:
        code: Any = 70
        with contextlib.suppress(BaseException):
            code = _watched(folder, words, kill_at)
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _watched(folder: str, words: list[str], kill_at: int) -> int:
    if kill_at < 0:
        return _child(folder, words)
    from tests.support.dying import Dying  # noqa: PLC0415

    dying = Dying(kill_at)
    dying.watch()
    code = _child(folder, words)
    dying.report(f"{folder}.changes")
    return code


def _child(folder: str, words: list[str]) -> int:
    from doit.doit_cmd import DoitMain  # noqa: PLC0415

    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(f"{folder}.{name}", flags, 0o666), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["doit", *words]
    code = DoitMain(config_filenames=("pyproject.toml", "doit.cfg")).run(words)
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code or 0)


if __name__ == "__main__":
    _serve()
