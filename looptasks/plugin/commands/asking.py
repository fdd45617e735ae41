"""Asking: what reading commands have in common. They never wait and change nothing."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from doit import doit_cmd

from looptasks.core.request import VARIABLES, Request, request_from, unread
from looptasks.errors import UsageError
from looptasks.plugin.commands.json_option import OPT_JSON
from looptasks.plugin.commands.yielding import LoopCommand


class AskingCommand(LoopCommand):
    """A command that reads, and prints lines or JSON."""

    cmd_options: Any = (OPT_JSON,)

    def execute(self, params: Mapping[str, Any], args: list[str]) -> int:
        """Answer, with options wherever they stand: doit stops at the first word."""
        late, words = self._sorted(args)
        if late:
            found, _ = self.cmdparser.parse(late)
            params = {**params, **{name: on for name, on in found.items() if on}}
        return super().execute(params, words)

    def _sorted(self, args: Sequence[str]) -> tuple[list[str], list[str]]:
        """Take options, with the words that are their values, from other words."""
        takes = {f"--{o.long}" for o in self.cmdparser.options if o.type is not bool}
        late: list[str] = []
        words: list[str] = []
        for word in args:
            value = bool(late) and late[-1] in takes
            (late if value or word.startswith("-") else words).append(word)
        return late, words

    def refuse_words(self, words: Sequence[str], after: int = 0) -> None:
        """Raise when there are more words than the command can mean."""
        if len(words) > after:
            raise UsageError(
                f"`{self.name}` takes no `{words[after]}`",
                fix="name a session by `session=NAME`",
            )

    def asked(self) -> Request:
        """Return the variables of the command line, checked."""
        given = dict(doit_cmd._CMDLINE_VARS or {})
        for name, value in given.items():
            if name not in VARIABLES:
                raise unread(name, value)
        return request_from(given, os.environ)

    def root(self) -> str:
        """Return the project's folder."""
        folder = self.opt_vals.get("cwdPath")
        if folder:
            os.chdir(folder)
        return os.getcwd()

    def print(self, text: str) -> None:
        """Write a line."""
        self.outstream.write(f"{text}\n")

    def print_json(self, value: Any) -> None:
        """Write a value for programs."""
        self.print(json.dumps(value, indent=1))
