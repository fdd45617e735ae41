"""Yielding: a command of ours steps aside in a project that does not use looptasks.

Command entry points hold for the whole environment. In a project with another loader
our classes are therefore never born: asked for an instance, they give the one that doit
would have made without us, and names that only we know are names of tasks again.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from doit.cmd_base import DoitCmdBase
from doit.cmd_help import Help
from doit.cmdparse import CmdOption, CmdParse, CmdParseError
from doit.doit_cmd import DoitMain
from doit.exceptions import InvalidCommand, InvalidDodoFile
from doit.plugin import PluginDict, PluginEntry

from looptasks.errors import LoopError, UsageError

_PLUGIN = "looptasks"  # what our backend and our reporter are called
_NO_DODO = "Could not find dodo file"  # how doit's complaint begins


class Yielding:
    """Mixed into every command class that we register, before doit's own class.

    Every instance lives in a project of ours, so a command need not ask whose it is.
    """

    works_anywhere = False  # also in a project of others, if no task has this name

    def __new__(cls, **kwargs: Any) -> Any:
        """Give a command of ours, or in another's project the one that is theirs."""
        loader = kwargs.get("task_loader")
        if getattr(loader, "is_looptasks", False):
            return super().__new__(cls)
        return _theirs(cls, kwargs)


class LoopCommand(Yielding, DoitCmdBase):
    """A command that doit does not have; it answers, and its answer is the exit code.

    It loads no tasks and opens no database, unless `answer` does.
    """

    base_options = ()

    def execute(self, params: Mapping[str, Any], args: list[str]) -> int:
        """Answer, with a person's mistake told in words and not as a traceback."""
        try:
            return self.answer(params, args)
        except LoopError as error:
            sys.stderr.write(f"{error}\n")
            return error.exit_code
        except BrokenPipeError:
            # Whoever read it has read enough; Python must not try once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Do what the command is for, given its options and its other words."""
        raise NotImplementedError

    def real_arguments(self) -> list[str]:
        """Return all that was typed after the command's name, `a=b` included.

        doit takes every word with an equal sign for a variable, wherever it stands.
        """
        options = CmdParse([CmdOption(option) for option in self.loader.cmd_options])
        try:
            _, typed = options.parse_only(sys.argv[1:])
        except CmdParseError:
            typed = sys.argv[1:]
        # Only variables can stand before the name, and none of them equals it.
        return typed[typed.index(self.name) + 1 :] if self.name in typed else []


class Unseen:
    """Mixed into doit's own commands: does not offer our backend and our reporter."""

    cmdparser: CmdParse

    def get_backends(self) -> dict[str, Any]:
        """Return the backends, ours unmentioned."""
        return self._unmentioned("backend", super().get_backends())  # type: ignore[misc]

    def get_reporters(self) -> dict[str, Any]:
        """Return the reporters, ours unmentioned."""
        return self._unmentioned("reporter", super().get_reporters())  # type: ignore[misc]

    def _unmentioned(self, option: str, found: dict[str, Any]) -> dict[str, Any]:
        if option in self.cmdparser:
            self.cmdparser[option].choices.pop(_PLUGIN, None)
        return found


class ForeignHelp(Unseen, Help):
    """doit's help, with `init` added: how else would anyone learn of it."""

    everything: PluginDict

    def execute(self, params: Mapping[str, Any], args: list[str]) -> Any:
        """Help as doit does; on our `init` when no task has that name."""
        self._asked = args
        return super().execute(params, args)

    def print_usage(self, cmds: Mapping[str, Any]) -> None:
        """Print what doit prints when it finds nothing of that name."""
        init = self.everything.get_plugin("init")
        if self._asked == ["init"]:
            print(_born(init, self.init_kwargs).help())  # noqa: T201
        else:
            super().print_usage({**cmds, "init": init})


class QuietEntry(PluginEntry):
    """Another's command plugin that, once loaded, does not mention us."""

    def load(self) -> Any:
        """Return the command class."""
        return _quiet(super().load())


class _Unaddressed(InvalidCommand):
    """A word that doit knows neither as a command nor as a task."""

    def __str__(self) -> str:
        self.cmd_used = None  # doit has set it to a command that should not be there
        return str(super().__str__())


class _TypedTask:
    """Mixed into doit's `run`: the name of our command is the name of their task."""

    newcomer: type[LoopCommand]
    born_with: dict[str, Any]

    def parse_execute(self, in_args: list[str]) -> Any:
        """Run the task of that name, as doit does when it knows no such command."""
        name = self.newcomer.get_name()
        try:
            return super().parse_execute([name, *in_args])  # type: ignore[misc]
        except InvalidCommand as error:
            if self.newcomer.works_anywhere and error.not_found == name:
                return self._ours(in_args)
            raise _Unaddressed(*error.args, not_found=error.not_found) from error
        except InvalidDodoFile as error:
            if not str(error).startswith(_NO_DODO):
                raise
            return self._ours(in_args)

    def _ours(self, in_args: list[str]) -> Any:
        if self.newcomer.works_anywhere:
            return _born(self.newcomer, self.born_with).parse_execute(in_args)
        message = UsageError(
            f"`{self.newcomer.get_name()}` is a command of looptasks, "
            "which this folder does not use",
            fix="run `doit init` here, or go to the folder where that was done",
        )
        sys.stderr.write(f"{message}\n")
        return message.exit_code


def _theirs(cls: type[Any], kwargs: dict[str, Any]) -> Any:
    """Return the command that doit would have made if we were not installed."""
    mixed = kwargs.get("cmds") or PluginDict()
    commands = _without_us(mixed, kwargs.get("config") or {})
    loader = kwargs["task_loader"]
    # doit refuses tasks that are called like a command.
    loader.cmd_names = [
        name for name in loader.cmd_names if name in commands or name not in mixed
    ]
    kwargs = {**kwargs, "cmds": commands}
    name = cls.get_name()
    if name in commands:
        return commands.get_plugin(name)(**kwargs)
    run = commands.get_plugin("run")
    extras = {"newcomer": cls, "born_with": kwargs}
    return type(run.__name__, (_TypedTask, run), extras)(**kwargs)


def _without_us(mixed: PluginDict, config: Mapping[str, Any]) -> PluginDict:
    """Return the table of commands as it is when we are not installed, but for help."""
    displaced = {command.get_name(): command for command in DoitMain.DOIT_CMDS}
    displaced.update(_plugins_of_others(config))
    commands = PluginDict()
    for name, command in mixed.items():
        theirs = displaced.get(name) if _is_ours(command) else command
        if theirs is Help and _is_ours(mixed.get("init")):
            commands[name] = type("Help", (ForeignHelp,), {"everything": mixed})
        elif theirs is not None:
            commands[name] = _quiet(theirs)
    return commands


def _quiet(command: Any) -> Any:
    """Return a command, or the entry of one, that does not mention us."""
    if isinstance(command, PluginEntry):
        return QuietEntry(command.category, command.name, command.location)
    if issubclass(command, DoitCmdBase):
        return type(command.__name__, (Unseen, command), {})
    return command


def _plugins_of_others(config: Mapping[str, Any]) -> Iterator[tuple[str, PluginEntry]]:
    """Yield the commands of the project's configuration and of other distributions."""
    for name, location in config.get("COMMAND", {}).items():
        yield name, PluginEntry("COMMAND", name, location)
    for point in entry_points(group="doit.COMMAND"):
        entry = PluginEntry("COMMAND", point.name, f"{point.module}:{point.attr}")
        if not _is_ours(entry):
            yield point.name, entry


def _is_ours(command: Any) -> bool:
    return isinstance(command, PluginEntry) and command.location.startswith(
        "looptasks.plugin."
    )


def _born(cls: type[Any], kwargs: dict[str, Any]) -> Any:
    """Make a command of ours although the project is not."""
    command = object.__new__(cls)
    command.__init__(**kwargs)
    return command
