"""`doit demo`: see it work, offline, on files that can be opened afterwards."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from looptasks.effects.demo_folder import new_demo
from looptasks.effects.shown_command import shown
from looptasks.errors import LoopError, UsageError
from looptasks.plugin.commands.demo_onion import ONION
from looptasks.plugin.commands.demo_play import Act, Play
from looptasks.plugin.commands.demo_tour import TOUR
from looptasks.plugin.commands.yielding import LoopCommand

_COPY = {
    "name": "copy",
    "short": "",
    "long": "copy",
    "type": bool,
    "default": False,
    "help": "only make the folder, and leave it to you to run something in it",
}
_PLAYS = {"": TOUR, "onion": ONION}


class Demo(LoopCommand):
    """Plays the acts in a new folder, with real processes."""

    name = "demo"
    doc_purpose = "see it work in half a minute: offline, in a new folder"
    doc_usage = "[--copy] [onion]"
    doc_description = None
    works_anywhere = True
    cmd_options: Any = (_COPY,)

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Play the acts; the exit code says whether all went as it should."""
        play = _play_of(words)
        folder = new_demo(os.getcwd(), play.project, play.folder)
        self._say(f"A new project is in {os.path.basename(folder)}/")
        if params["copy"]:
            return 0
        for number, act in enumerate(play.acts, 1):
            self._say(f"\n=== {number} of {len(play.acts)}: {act.title} ===")
            self._perform(act, folder)
        self._farewell(play, folder)
        return 0

    def _perform(self, act: Act, folder: str) -> None:
        self._say(f"\n{act.about}")
        for step in act.steps:
            self._say(f"\n$ {step.command}")
            code = shown(step.command, folder, self._say, step.fatal)
            if code != step.ends_with:
                raise LoopError(
                    f"`{step.command}` ended with {code}, which it should not",
                    where=folder,
                    fix="please report it, with the output above",
                )
            self._say(f"  -> {step.notice}")

    def _farewell(self, play: Play, folder: str) -> None:
        name = os.path.basename(folder)
        self._say(f"\nOpen these in {name}/:")
        width = max(map(len, play.leaves))
        for path, what in play.leaves.items():
            self._say(f"  {path:<{width}} {what}")
        if play is TOUR:
            self._say("\nSee plans become code:  doit demo onion")
        self._say(f"\nGo on yourself:  cd {name} && {_doit_from(folder)} list")

    def _say(self, text: str) -> None:
        self.outstream.write(f"{text}\n")
        self.outstream.flush()


def _play_of(words: list[str]) -> Play:
    """Return the play that is asked for."""
    if len(words) > 1 or (name := "".join(words)) not in _PLAYS:
        raise UsageError(
            f"there is no demo `{' '.join(words)}`",
            fix="run `doit demo`, or `doit demo onion`",
        )
    return _PLAYS[name]


def _doit_from(folder: str) -> str:
    """Return how this doit is called from another folder."""
    program = os.path.abspath(sys.argv[0])
    if os.path.basename(program) != "doit":
        return f"{os.path.relpath(sys.executable, folder)} -m doit"
    on_path = shutil.which("doit")
    return "doit" if on_path == program else os.path.relpath(program, folder)
