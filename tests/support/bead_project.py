"""A bead project: a board of beads for session `s`, and an agent that notes runs."""

import json
import sys
from pathlib import Path
from typing import Any

from looptasks.effects.jsonl_beads import JsonlBeads
from tests.support.git_repository import Repository
from tests.support.project import Project

SESSION = "session=s"
SWARM = "loop:swarm"
# Notes begin and end of its run where that is no change to the project; in between it
# does what `steps/BEAD.ITERATION`, `steps/BEAD` or `steps/any` says.
AGENT = """\
#!/bin/sh
mkdir -p "${BEADS_DIR:=$PWD/.beads}"
home=$(dirname "$BEADS_DIR")
bd() { PYTHON -m looptasks.beads "$@" > /dev/null; }
me="${LOOP_BEAD:-$LOOP_TYPE}"
echo "+$me:$LOOP_ITERATION" >> "$BEADS_DIR/runs.log"
for step in "$me.$LOOP_ITERATION" "$me" any; do
    if [ -f "$home/steps/$step" ]; then . "$home/steps/$step"; break; fi
done
echo "-$me:$LOOP_ITERATION" >> "$BEADS_DIR/runs.log"
"""
IGNORED = "/.beads/\n/.loop/\n/steps/\n__pycache__/\n"


class BeadProject(Project):
    """A project with beads; `swarm` runs once per bead unless declared otherwise."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        text = AGENT.replace("PYTHON", sys.executable)
        self.write("agent.sh", text).chmod(0o755)
        self.beads = JsonlBeads(str(root / ".beads"))
        self._count = 0

    def swarm(self, prompt: str = "Do ${BEAD_ID}.", **settings: Any) -> None:
        """Declare the loop that fans out: one iteration per bead by default."""
        plain = {"completion": "fixed-n", "max_iterations": 1, "each": "beads"}
        self.loop("swarm", prompt, **{**plain, "backoff": 0, **settings})

    def bead(self, name: str, *blockers: str, **fields: Any) -> None:
        """Add a bead to the store."""
        self._count += 1
        created = f"2026-01-01T00:00:{self._count % 60:02d}.{self._count:06d}Z"
        bead = {
            "id": name,
            "title": f"Do {name}",
            "status": "open",
            "priority": 2,
            "issue_type": "task",
            "created_at": created,
            "updated_at": created,
            "labels": ["loop/s"],
            "dependencies": [
                {"issue_id": name, "depends_on_id": blocker, "type": "blocks"}
                for blocker in blockers
            ],
            **fields,
        }
        self.path(".beads").mkdir(exist_ok=True)
        with self.path(".beads", "issues.jsonl").open("a") as file:
            file.write(json.dumps(bead) + "\n")

    def does(self, name: str, text: str) -> None:
        """Script what the agent of a bead (`any`: of each other one) does."""
        self.write(f"steps/{name}", f"{text}\n")

    def status(self, name: str) -> str:
        """Return a bead's status."""
        return str(self.beads.beads().find(name)["status"])

    def statuses(self) -> dict[str, str]:
        """Return the status of each bead."""
        return {
            bead["id"]: bead["status"] for bead in self.beads.beads().labelled("loop/s")
        }

    def runs(self) -> list[str]:
        """Return the beginnings (`+BEAD:ITERATION`) and ends (`-…`) of agent runs."""
        path = self.path(".beads", "runs.log")
        return path.read_text().split() if path.exists() else []

    def new_runs(self) -> list[str]:
        """Return those since this was last asked."""
        runs = self.runs()
        self.path(".beads", "runs.log").unlink(missing_ok=True)
        return runs

    def began(self) -> list[str]:
        """Return the agent runs so far, in the order of their beginnings."""
        return [line[1:] for line in self.runs() if line[0] == "+"]

    def repository(self) -> Repository:
        """Put the project under git, with a clean tree."""
        self.write(".gitignore", IGNORED)
        return Repository(self.root)
