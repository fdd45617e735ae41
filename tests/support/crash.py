"""A crash: a project whose runs are cut off, and what must hold afterwards."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support.doit_process import Ran, environment
from tests.support.live_processes import carrying, within

PATIENCE = 30.0

# Says that it was called, then answers in parts. `$$` makes every answer unique.
AGENT = """\
#!/bin/sh
echo "$LOOP_SESSION $LOOP_TYPE $LOOP_ITERATION" >> calls.log
cat
echo "answer to iteration $LOOP_ITERATION by $$"
"""
# The same, but once it has said so it waits until a file lets it go on.
HELD = """\
#!/bin/sh
cat
echo "$LOOP_SESSION $LOOP_TYPE $LOOP_ITERATION" >> calls.log
while [ ! -e go ]; do sleep 0.02; done
echo "answer to iteration $LOOP_ITERATION by $$"
"""


class CrashProject:
    """A folder with loops in it; every process that it starts can be found again."""

    def __init__(self, folder: Path, agent: str = AGENT) -> None:
        self.folder = folder / "project"
        self.folder.mkdir(parents=True)
        self.mark = f"CRASH_PROJECT={os.urandom(8).hex()}"
        name, _, value = self.mark.partition("=")
        self.env = environment(folder / "environment", registered=True) | {name: value}
        # These tests start doit hundreds of times, and half of that is compiling.
        del self.env["PYTHONDONTWRITEBYTECODE"]
        self.env["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
        self.write("doit.cfg", "[GLOBAL]\nloader = loops\n")
        self.script("agent.sh", agent)
        self._started: list[subprocess.Popen[str]] = []

    def end_all(self) -> None:
        """End whatever a failed test has left running."""
        for process in self._started:
            if process.returncode is None:
                process.kill()
                process.communicate()
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def script(self, name: str, text: str) -> None:
        """Write a program of the project."""
        self.write(name, text).chmod(0o755)

    def loop(self, name: str = "work", **settings: Any) -> None:
        """Write a loop; its agent is `./agent.sh`."""
        declared = {"name": name, "agent": {"command": "./agent.sh"}, **settings}
        self.write(f"loops/{name}/loop.yaml", json.dumps(declared))
        self.write(f"loops/{name}/prompt.md", "Do step ${ITERATION}.\n")

    def pipeline(
        self, name: str, stages: list[dict[str, Any]], **settings: Any
    ) -> None:
        """Write a pipeline; its agent is `./agent.sh`."""
        defaults = {"agent": {"command": "./agent.sh"}, **settings}
        declared = {"name": name, "defaults": defaults, "stages": stages}
        self.write(f"pipelines/{name}.yaml", json.dumps(declared))

    def start(
        self, *words: str, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start doit in a process group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "doit", *words],
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run doit to its end."""
        return finished(self.start(*words, env=env))

    def path(self, session: str, *names: str) -> Path:
        """Return a path below a session's folder."""
        return self.folder.joinpath(".loop", session, *names)

    def events(self, session: str, event: str = "") -> list[dict[str, Any]]:
        """Return the ledger's events, all of them or those of a kind."""
        path = self.path(session, "ledger.jsonl")
        lines = path.read_bytes().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines if _parses(line)]
        return [e for e in found if not event or e["event"] == event]

    def calls(self) -> Counter[str]:
        """Return how often an agent was called, by `SESSION LOOP ITERATION`."""
        path = self.folder / "calls.log"
        return Counter(path.read_text().splitlines() if path.exists() else [])

    def called(self, count: int = 1) -> bool:
        """Whether so many agents have been called by now."""
        return self.calls().total() >= count

    def processes(self) -> list[int]:
        """Return every live process that this project started."""
        return carrying(self.mark)

    def is_quiet(self, seconds: float = 2.0) -> bool:
        """Whether no process is left, or will be soon."""
        return within(seconds, lambda: not self.processes())

    def files(self, but: Callable[[str], bool] = str.isspace) -> dict[str, str]:
        """Return the digest of every file of the project, some aside."""
        return {
            name: digest(path)
            for path in sorted(self.folder.rglob("*"))
            for name in [str(path.relative_to(self.folder))]
            if path.is_file() and not but(name)
        }


def finished(process: "subprocess.Popen[str]", seconds: float = PATIENCE) -> Ran:
    """Wait for doit's end; a run that hangs is ended, and is a failure."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"doit hangs\n{out}\n{err}") from None
    return Ran(process.returncode, out, err)


def kill(process: "subprocess.Popen[str]") -> Ran:
    """Kill doit, and only doit, with no way for it to react."""
    process.send_signal(signal.SIGKILL)
    return finished(process)


def until(fact: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something that must come true."""
    assert within(seconds, fact), "it never came true"


def digest(path: Path) -> str:
    """Return the digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def torn_files(project: CrashProject) -> list[str]:
    """Return the files of ours that are not whole."""
    home = project.folder / ".loop"
    torn = [str(p) for p in home.rglob("*.json") if not _parses(p.read_bytes())]
    for path in home.rglob("ledger.jsonl"):
        *lines, rest = path.read_bytes().split(b"\n")
        torn += [f"{path}: {line!r}" for line in lines if not _parses(line)]
        torn += [f"{path}: {rest!r}"] if rest else []
    return torn


def _parses(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def outputs(project: CrashProject, session: str) -> dict[str, str]:
    """Return the outputs of the iterations that the ledger calls finished."""
    return {
        f"{event['stage']}/{event['iteration']:04d}": digest(
            _iteration(project, session, event) / "output.md"
        )
        for event in project.events(session, "iteration")
    }


def faults(project: CrashProject, session: str) -> list[str]:
    """Return what a session that was resumed to its end must not show."""
    return [
        *_numbering_faults(project, session),
        *_iteration_faults(project, session),
    ]


def _numbering_faults(project: CrashProject, session: str) -> Iterator[str]:
    numbers: dict[str, list[int]] = {}
    for event in project.events(session, "iteration"):
        numbers.setdefault(event["stage"], []).append(event["iteration"])
    for stage, found in numbers.items():
        if found != list(range(1, len(found) + 1)):
            yield f"{stage}: iterations are recorded as {found}"


def _iteration_faults(project: CrashProject, session: str) -> Iterator[str]:
    calls = project.calls()
    for event in project.events(session, "iteration"):
        folder = _iteration(project, session, event)
        where = f"{event['stage']}/{event['iteration']}"
        if digest(folder / "output.md") != event["output"]:
            yield f"{where}: the output is not the recorded one"
        ends = [_end_of(folder / "attempts" / n) for n in _attempts(folder)]
        if ends.count("exit") != 1 or ends[-1] != "exit":
            yield f"{where}: the agent's attempts ended as {ends}"
        loop = _loop_of(project, session, event)
        called = calls[f"{session} {loop} {event['iteration']}"]
        if called > len(ends):
            yield f"{where}: {called} calls in {len(ends)} attempts"
        for name in ("state.json", "progress.md", "inputs.json", "prompt.md"):
            if not (folder / name).exists():
                yield f"{where}: {name} is missing"


def _attempts(folder: Path) -> list[str]:
    return sorted((p.name for p in (folder / "attempts").iterdir()), key=int)


def _end_of(attempt: Path) -> str:
    path = attempt / "result.json"
    return json.loads(path.read_bytes())["how"] if path.exists() else "nothing"


def _iteration(project: CrashProject, session: str, event: Mapping[str, Any]) -> Path:
    number = f"{event['iteration']:04d}"
    return project.path(session, event["stage"], "iterations", number)


def _loop_of(project: CrashProject, session: str, event: Mapping[str, Any]) -> str:
    for found in project.events(session, "stage"):
        if found["stage"] == event["stage"]:
            return str(found["loop"])
    return str(event["stage"])


def nap(seconds: float) -> None:
    """Let time pass."""
    time.sleep(seconds)
