"""A command line: the words that start a program, or a shell where it takes one."""

from collections.abc import Sequence
from functools import cache

from looptasks.errors import DeclarationError

_SHELL = frozenset("|&;<>()$`*?~[\n")
_QUOTING = frozenset("'\"\\")
_FIX = 'write it as `agent: {command: "./my-agent --flag"}`'


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
    if command.isascii() and _QUOTING.isdisjoint(command):
        return tuple(command.split())
    import shlex  # noqa: PLC0415 - quotes are seldom

    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        what = f"the agent's command `{command}` cannot be split: {error}"
        raise DeclarationError(what, fix="close every quote") from error
