"""`doit beads`: the embedded tracker, with all that was typed handed on as it is."""

from collections.abc import Mapping
from typing import Any

from looptasks.beads.__main__ import main
from looptasks.plugin.commands.yielding import LoopCommand


class Beads(LoopCommand):
    """Hands the real command line to the tracker; its exit code is ours."""

    name = "beads"
    doc_purpose = "small pieces of work, with blockers: create, ready, close ..."
    doc_usage = "COMMAND [words] [flags]"
    doc_description = "`doit beads --help` tells more."
    cmd_options: Any = ()

    def parse_execute(self, in_args: list[str]) -> int:
        """Keep doit from reading flags that are not its own."""
        return self.execute({}, in_args)

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Do what was typed."""
        return main(self.real_arguments(), "doit beads")
