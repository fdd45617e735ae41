"""The check of a tree: a command that says whether merged work is good."""

from collections.abc import Mapping
from typing import NamedTuple

from looptasks.core.merge import CheckResult
from looptasks.core.process import Command, check_code
from looptasks.effects.scrub import scrub
from looptasks.plugin.processes import processes

_SHOWN = 20_000


class TreeCheck(NamedTuple):
    """A command, where its words go, and what it finds in its environment."""

    command: str
    log: str
    env: Mapping[str, str]
    timeout: float | None

    def run(self, folder: str) -> CheckResult:
        """Say whether the tree in a folder is good."""
        if not self.command:
            return CheckResult(ok=True)
        ended = processes().run(
            Command(
                argv=("sh", "-c", self.command),
                cwd=folder,
                stdin="/dev/null",
                stdout=self.log,
                stderr=self.log,
                env=self.env,
                timeout=self.timeout,
            )
        )
        scrub(self.log)
        with open(self.log, "rb") as file:
            output = file.read(_SHOWN).decode("utf-8", "replace")
        return CheckResult(ok=check_code(ended) == 0, output=output)
