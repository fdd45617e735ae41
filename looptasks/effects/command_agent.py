"""A command agent: any program that reads a prompt and prints an answer."""

from collections.abc import Sequence

from looptasks.core.agent import Answer, Call
from looptasks.core.command_line import as_argv
from looptasks.core.process import Command, Processes
from looptasks.effects.attempt_folder import USAGE, answer_in


class CommandAgent:
    """Runs the command, the prompt on its standard input.

    The command may tell its cost and tokens in the file that `LOOP_USAGE` names.
    """

    name = "command"

    def __init__(self, command: str | Sequence[str], processes: Processes) -> None:
        self._argv = as_argv(command)
        self._processes = processes

    def call(self, call: Call) -> None:
        """Make the attempt, leaving stdout, stderr and result.json in its folder."""
        model = {"LOOP_MODEL": call.model} if call.model else {}
        usage = {"LOOP_USAGE": f"{call.folder}/{USAGE}"}
        self._processes.run(
            Command(
                argv=self._argv,
                cwd=call.cwd,
                stdin=call.prompt,
                stdout=f"{call.folder}/stdout",
                stderr=f"{call.folder}/stderr",
                record=f"{call.folder}/result.json",
                env={**model, **call.env, **usage},
                timeout=call.timeout,
                idle_timeout=call.idle_timeout,
            )
        )

    def read(self, folder: str) -> Answer | None:
        """Return what the attempt in `folder` came to; None when it never ended."""
        return answer_in(folder)
