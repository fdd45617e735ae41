"""An agent project: real doit processes whose loops call one real agent."""

import json
from pathlib import Path
from typing import Any

from tests.support.agent_bench import MODELS, AgentBench
from tests.support.bead_project import BeadProject
from tests.support.live_processes import carrying

LOADER = '[tool.doit]\nloader = "loops"\n'


class AgentProject(BeadProject):
    """The bench's folder of work as a project that knows the agent by `pyproject`.

    Each doit process carries the bench's mark, and so does all that comes of it.
    """

    patience = 240.0

    def __init__(self, bench: AgentBench) -> None:
        super().__init__(bench.work)
        self.bench = bench
        self.path("doit.cfg").unlink()
        self.agent()

    def agent(self, **more: Any) -> None:
        """Describe the agent in `pyproject.toml`."""
        made = self.bench.settings()
        said = {
            "program": made.variables["PATH"].partition(":")[0] + f"/{self.bench.name}",
            "model": MODELS[self.bench.name],
            "args": list(made.args),
            "env": [],
            "sandbox": "none",
            "provider": made.provider,
            **more,
        }
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in said.items()]
        table = f"[tool.looptasks.agents.{self.bench.name}"
        names = (f"{k} = {json.dumps(v)}\n" for k, v in made.variables.items())
        text = "".join([LOADER, f"{table}]\n", *lines, f"{table}.variables]\n", *names])
        self.write("pyproject.toml", text)

    def loop(self, name: str, prompt: str = "Work.", **settings: Any) -> None:
        """Declare a loop; it gets the real agent unless it names one."""
        declared = {"agent": self.bench.name, "backoff": 0, **settings}
        super().loop(name, prompt, **declared)

    def environment(self, **more: str) -> dict[str, str]:
        """Return an environment in which no agent of this machine can be found."""
        name, _, value = self.bench.mark.partition("=")
        made = self.bench.settings().variables
        return {"PATH": "/usr/bin:/bin", "HOME": made["HOME"], name: value, **more}

    def left(self, word: str) -> list[int]:
        """Return the live processes that carry our mark, or have the word to do."""
        return sorted({*carrying(self.bench.mark), *_told(word)})


def _told(word: str) -> list[int]:
    """Return the processes with the word on their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(folder.name))
    return found
