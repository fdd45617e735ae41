"""A stub of the program `claude`: prints recorded streams, one after the other."""

import json
from pathlib import Path
from typing import Any

from tests.support.project import Project

STREAMS = Path(__file__).resolve().parents[1] / "core" / "streams"
# Answers with `answers/1`, `answers/2` and so on; the last one from then on.
PROGRAM = """\
#!/bin/sh
cat > /dev/null
echo "$LOOP_TYPE:$LOOP_ITERATION" >> HERE/runs.log
number=$(wc -l < HERE/runs.log)
while ! [ -f "HERE/answers/$((number))" ]; do number=$((number - 1)); done
. "HERE/answers/$((number))"
"""


def recorded(name: str) -> str:
    """Return a stream as the real program printed it."""
    return (STREAMS / f"{name}.jsonl").read_text()


def limited(resets_at: int) -> str:
    """Return a stream that ends at a usage limit, with its end told."""
    info = {"status": "rejected", "resetsAt": resets_at}
    first, rest = recorded("claude-limit").split("\n", 1)
    told = json.dumps({"type": "rate_limit_event", "rate_limit_info": info})
    return f"{first}\n{told}\n{rest}"


class StubClaude:
    """A project whose agent `claude` is a script."""

    def __init__(self, project: Project, agent: str = "claude", more: str = "") -> None:
        self.project = project
        program = project.path("bin", agent)
        project.write(f"bin/{agent}", PROGRAM.replace("HERE", str(project.root)))
        program.chmod(0o755)
        project.write(
            "pyproject.toml",
            f'[tool.looptasks.agents.{agent}]\nprogram = "{program}"\n'
            f'sandbox = "none"\n{more}',
        )

    def answers(self, *streams: str, before: str = "", after: str = "") -> None:
        """Let the calls be answered with these streams, the last one from then on."""
        for number, stream in enumerate(streams, 1):
            self.project.write(f"streams/{number}", stream)
            path = self.project.path("streams", str(number))
            text = f'{before}\ncat "{path}"\n{after}\n'
            self.project.write(f"answers/{number}", text)

    def loop(self, **settings: Any) -> None:
        """Declare the loop `tidy`, which uses it."""
        plain = {"agent": "claude", "max_iterations": 1, "backoff": 0}
        self.project.loop("tidy", **{**plain, **settings})
