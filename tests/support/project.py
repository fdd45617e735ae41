"""A project: a folder with loops, a scripted agent, and real doit processes in it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parents[2]
TIMEOUT = 60.0
# Notes its run, then does what `steps/LOOP.ITERATION` or `steps/LOOP` says.
AGENT = """\
#!/bin/sh
echo "$LOOP_TYPE:$LOOP_ITERATION" >> runs.log
for step in "steps/$LOOP_TYPE.$LOOP_ITERATION" "steps/$LOOP_TYPE"; do
    if [ -f "$step" ]; then . "./$step"; exit; fi
done
echo "$LOOP_TYPE says $LOOP_ITERATION"
"""


class Ran(NamedTuple):
    """What came of a doit process."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line that was printed."""
        lines = self.out.splitlines()
        return lines[-1] if lines else ""

    @property
    def command(self) -> str:
        """The command that the last line offers."""
        return self.last.rpartition("; ")[2].partition(": ")[2]

    @property
    def json(self) -> Any:
        """The JSON that was printed."""
        return json.loads(self.out)


class Project:
    """A folder with our loader, and loops whose agent is a small shell script."""

    patience = TIMEOUT

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.write("doit.cfg", "[GLOBAL]\nloader = loops\n")
        self.write("agent.sh", AGENT)
        (root / "agent.sh").chmod(0o755)
        (root / "steps").mkdir()

    def path(self, *names: str) -> Path:
        """Return a path in the project."""
        return self.root.joinpath(*names)

    def write(self, name: str, text: str) -> Path:
        """Write a file, with the folders above it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self, *names: str) -> str:
        """Return a file's text."""
        return self.path(*names).read_text()

    def loop(self, name: str, prompt: str = "Work.", **settings: Any) -> None:
        """Declare a loop; it gets the scripted agent unless it names one."""
        declared = {"name": name, "agent": {"command": "./agent.sh"}, **settings}
        self.write(f"loops/{name}/loop.yaml", json.dumps(declared, indent=1))
        self.write(f"loops/{name}/prompt.md", prompt)

    def pipeline(self, name: str, *stages: Mapping[str, Any], **more: Any) -> None:
        """Declare a pipeline; its stages get the scripted agent by default."""
        defaults = {"agent": {"command": "./agent.sh"}, **more.pop("defaults", {})}
        declared = {"name": name, "defaults": defaults, "stages": stages, **more}
        self.write(f"pipelines/{name}.yaml", json.dumps(declared, indent=1))

    def step(self, loop: str, *texts: str) -> None:
        """Script what an agent of a loop does: always, or one text per iteration."""
        for number, text in enumerate(texts, 1):
            name = loop if len(texts) == 1 else f"{loop}.{number}"
            self.write(f"steps/{name}", f"{text}\n")

    def environment(self, **more: str) -> dict[str, str]:
        """Return an environment with nothing in it that is not needed."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "LANG": "C.UTF-8",
            **more,
        }

    def doit(self, *words: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run doit to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "doit", *words],
            cwd=self.root,
            env=self.environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.patience,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run doit, which must succeed."""
        ran = self.doit(*words, env=env)
        assert ran.code == 0, ran
        return ran

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start doit in the background."""
        return subprocess.Popen(
            [sys.executable, "-m", "doit", *words],
            cwd=self.root,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def shell(self, command: str) -> Ran:
        """Run a printed command as a person would, with doit on the path."""
        tools = self.root.parent / f"{self.root.name}-bin"
        tools.mkdir(exist_ok=True)
        script = tools / "doit"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m doit "$@"\n')
        script.chmod(0o755)
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.root,
            env=self.environment(PATH=path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def runs(self) -> list[str]:
        """Return the agent runs so far, `loop:iteration` each, in order."""
        path = self.path("runs.log")
        return path.read_text().split() if path.exists() else []

    def new_runs(self) -> list[str]:
        """Return the agent runs since this was last asked."""
        runs = self.runs()
        self.path("runs.log").unlink(missing_ok=True)
        return runs

    def session(self, session: str, *names: str) -> Path:
        """Return a path below a session's folder."""
        return self.path(".loop", session, *names)

    def json(self, session: str, *names: str) -> Any:
        """Return what a JSON file below a session's folder holds."""
        return json.loads(self.session(session, *names).read_text())

    def state(self, session: str, stage: str, iteration: int = 0) -> Any:
        """Return the `state.json` of a stage, or of one of its iterations."""
        below = ["iterations", f"{iteration:04d}"] if iteration else []
        return self.json(session, stage, *below, "state.json")

    def prompt(self, session: str, stage: str, iteration: int) -> str:
        """Return the prompt that an iteration was given."""
        folder = self.session(session, stage, "iterations", f"{iteration:04d}")
        return (folder / "prompt.md").read_text()

    def output(self, session: str, stage: str) -> str:
        """Return what a stage handed on."""
        return self.session(session, stage, "output", "output.md").read_text()

    def ledger(self, session: str, event: str = "") -> list[dict[str, Any]]:
        """Return the ledger's events, or those of one kind."""
        path = self.session(session, "ledger.jsonl")
        events = [json.loads(line) for line in path.read_text().splitlines()]
        return [e for e in events if not event or e["event"] == event]

    def archived(self, session: str, name: str = "output.md") -> list[str]:
        """Return the texts of a name that lie in a session's archive, sorted."""
        folder = self.path(".loop", "archive", session)
        return sorted(path.read_text() for path in folder.rglob(name))

    def files(self, session: str, but: Iterable[str] = ()) -> list[str]:
        """Return a session's files, relative to its folder."""
        top = self.session(session)
        return sorted(
            str(path.relative_to(top))
            for path in top.rglob("*")
            if (path.is_symlink() or path.is_file()) and path.name not in set(but)
        )

    def forget_doit(self, session: str) -> None:
        """Delete doit's memory of a session."""
        self.session(session, "doit.db").unlink()

    def lose(self, session: str, stage: str, iteration: int) -> None:
        """Delete an iteration's folder by hand."""
        folder = self.session(session, stage, "iterations", f"{iteration:04d}")
        shutil.rmtree(folder)


def rerun(project: Project, *words: str) -> list[str]:
    """Run session `s`, of `loop:x` unless told; return the agents that ran."""
    project.ok(*(words or ("loop:x",)), "session=s")
    return project.new_runs()
