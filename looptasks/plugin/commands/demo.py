"""`doit demo`: see it work, offline, on files that can be opened afterwards."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from looptasks.effects.demo_folder import new_demo
from looptasks.effects.shown_command import shown
from looptasks.errors import LoopError, UsageError
from looptasks.plugin.commands.demo_acts import ACTS, Act
from looptasks.plugin.commands.yielding import LoopCommand

_KILLED = -9


_OPEN = {
    "tally.py": "the program that came out of the board",
    "docs/plan.md": "the plan that came out of `refine`",
    "slug.sh": "the program that came out of `code`",
    "loops/code/": "how a loop is declared: loop.yaml and prompt.md",
    ".loop/code/ledger.jsonl": "everything that happened, the crash included",
    ".loop/code/code/progress.md": "what every fresh agent gets to read",
    ".loop/archive/notes/": "what the changed input has superseded",
}


class Demo(LoopCommand):
    """Plays the acts in a new folder, with real processes."""

    name = "demo"
    doc_purpose = "see it work in half a minute: offline, in a new folder"
    doc_usage = ""
    doc_description = None
    works_anywhere = True

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Play the acts; the exit code says whether all went as it should."""
        if words:
            raise UsageError(
                f"`demo` takes no argument, and got `{words[0]}`", fix="run `doit demo`"
            )
        folder = new_demo(os.getcwd())
        self._say(f"A new project is in {os.path.basename(folder)}/")
        for number, act in enumerate(ACTS, 1):
            self._play(number, act, folder)
        self._farewell(folder)
        return 0

    def _play(self, number: int, act: Act, folder: str) -> None:
        self._say(f"\n=== {number} of {len(ACTS)}: {act.title} ===\n\n{act.about}")
        for step in act.steps:
            self._say(f"\n$ {step.command}")
            code = shown(step.command, folder, self._say, step.fatal)
            if code != (_KILLED if step.fatal else 0):
                raise LoopError(
                    f"`{step.command}` ended with {code}, which it should not",
                    where=folder,
                    fix="please report it, with the output above",
                )
            self._say(f"  -> {step.notice}")

    def _farewell(self, folder: str) -> None:
        name = os.path.basename(folder)
        self._say(f"\nOpen these in {name}/:")
        for path, what in _OPEN.items():
            self._say(f"  {path:<30} {what}")
        self._say(f"\nGo on yourself:  cd {name} && {_doit_from(folder)} list")

    def _say(self, text: str) -> None:
        self.outstream.write(f"{text}\n")
        self.outstream.flush()


def _doit_from(folder: str) -> str:
    """Return how this doit is called from another folder."""
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) != "doit":
        return f"{os.path.relpath(sys.executable, folder)} -m doit"
    on_path = shutil.which("doit")
    return "doit" if on_path == program else os.path.relpath(program, folder)
