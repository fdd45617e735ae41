"""A tracker's command line in a folder of its own: ours, a stub of `bd`, a real one."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

STUB = Path(__file__).with_name("stub_bd.py")
REPOSITORY = Path(__file__).resolve().parents[2]
KINDS = ("embedded", "stub", "real")
_LIMIT = 60


class Ran(NamedTuple):
    """What came of a call."""

    code: int
    out: str
    err: str


class BeadsCli:
    """Calls one kind of tracker in a folder."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        self.home = folder / "home"
        self.home.mkdir()
        self.program = self._program()
        self.version = ""
        if kind == "real":
            self._start_real()
        else:
            # The top of a project: nothing above it is looked at.
            (self.folder / (".git" if kind == "embedded" else ".beads")).mkdir()

    def _program(self) -> list[str]:
        if self.kind == "embedded":
            return [sys.executable, "-m", "looptasks.beads"]
        if self.kind == "stub":
            return [sys.executable, str(STUB)]
        return [shutil.which("bd") or "bd"]

    def _start_real(self) -> None:
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)
        started = self.run("init", "--prefix", "t", "--quiet")
        assert started.code == 0, started
        self.version = self.run("version").out.split()[2]

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> Ran:
        """Call it to its end."""
        done = subprocess.run(
            [*self.program, *words],
            cwd=self.folder,
            env=self.environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def environment(self, **more: str) -> dict[str, str]:
        """Return an environment in which no `bd` leaves a process behind."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(REPOSITORY),
            "BEADS_NO_DAEMON": "1",
            "BD_DISABLE_METRICS": "1",
            "BD_ACTOR": "tester",
            **more,
        }

    def json(self, *words: str, env: Mapping[str, str] | None = None) -> Any:
        """Return what a call that must succeed prints as JSON."""
        ran = self.run(*words, "--json", env=env)
        assert ran.code == 0, ran
        assert ran.out, ran
        return json.loads(ran.out)

    def create(self, title: str, *words: str) -> str:
        """Add a bead; return its id."""
        ran = self.run("create", title, "--silent", *words)
        assert ran.code == 0, ran
        return ran.out.strip()

    def ready(self, *words: str) -> list[str]:
        """Return the ids of what is ready, asked as every version must be asked."""
        found = self.json("ready", "-n", "0", "--sort", "priority", *words)
        return [bead["id"] for bead in found if bead["status"] == "open"]

    def show(self, id_: str) -> Any:
        """Return one bead."""
        shown = self.json("show", id_)
        return shown[0] if isinstance(shown, list) else shown

    def refuses(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        """Call what must be refused; return the complaint.

        `bd` 0.47 refuses some things with exit code 0, words on standard error, and
        nothing on standard output; both versions print some refusals to the latter.
        """
        ran = self.run(*words, "--json", env=env)
        if self.kind == "real":
            assert ran.code != 0 or not ran.out.strip(), ran
            return ran.out + ran.err
        assert ran.code == 1, ran
        assert "error" in json.loads(ran.err), ran
        return ran.err
