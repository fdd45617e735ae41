"""A command agent: any program that reads a prompt and prints an answer."""

from collections.abc import Sequence
from functools import cache

from looptasks.core.agent import Answer, Call
from looptasks.core.process import Command, Processes
from looptasks.effects.attempt_folder import USAGE, answer_in
from looptasks.errors import DeclarationError

_SHELL = frozenset("|&;<>()$`*?~[\n")
_FIX = 'write it as `agent: {command: "./my-agent --flag"}`'


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


def as_argv(command: str | Sequence[str]) -> tuple[str, ...]:
    """Split a command into its words, or hand it to a shell if it needs one.

    >>> as_argv("./agent --name 'a b'")
    ('./agent', '--name', 'a b')
    >>> as_argv("./agent | tee log")
    ('sh', '-c', './agent | tee log')
    """
    if not isinstance(command, str):
        words = tuple(command)
    elif _needs_shell(command):
        words = ("sh", "-c", command)
    else:
        words = _split(command)
    if not words or not words[0].strip():
        raise DeclarationError("the agent's command is empty", fix=_FIX)
    return words


def _needs_shell(command: str) -> bool:
    command = command.strip()
    first = command.split(maxsplit=1)[0] if command else ""
    return bool(_SHELL.intersection(command)) or "=" in first


@cache
def _split(command: str) -> tuple[str, ...]:
    import shlex  # noqa: PLC0415 - only when an agent is about to start

    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        what = f"the agent's command `{command}` cannot be split: {error}"
        raise DeclarationError(what, fix="close every quote") from error
