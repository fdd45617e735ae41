"""`doit run`: doit's own, with a session's lock, exit codes and last word."""

import contextlib
import sys
import traceback
from collections.abc import Mapping
from typing import Any, TextIO

from doit import cmd_run
from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand, InvalidDodoFile, InvalidTask

from looptasks.errors import LoopError
from looptasks.plugin.commands.yielding import Yielding
from looptasks.plugin.urgency import urgently

_LOOKS, _LOOK = 75, 0.2
_OWN_ERROR, _LOST, _INTERRUPTED = 2, 3, 130
_TOLD_BY_DOIT = (CmdParseError, InvalidCommand, InvalidDodoFile, InvalidTask)


class Run(Yielding, cmd_run.Run):
    """Runs tasks, ordinary ones and ours."""

    name = "run"
    _execute = urgently(cmd_run.Run._execute)

    def execute(self, params: Mapping[str, Any], args: list[str]) -> int:
        """Run, and always say why it stopped and how it goes on."""
        self.loader.always = params.get("always", False)
        self.loader.workers = params.get("num_process", 0)
        what = ""
        try:
            code = self._rounds(params, args)
        except KeyboardInterrupt:
            code = _INTERRUPTED
        except LoopError as error:
            sys.stderr.write(f"{error}\n")
            code, what = error.exit_code, error.what
        except _TOLD_BY_DOIT:
            raise
        except Exception:  # noqa: BLE001 - a bug of ours, and a session to be let go
            sys.stderr.write(traceback.format_exc())
            code, what = _OWN_ERROR, "an error in looptasks itself, shown above"
        return self._close(code, what, self._stream(params["reporter"]))

    def _rounds(self, params: Any, args: list[str]) -> int:
        """Have doit run, and again while something came up that it can heed."""
        while True:
            code: int = super().execute(params, args) or 0
            if code == _INTERRUPTED or self._failed_elsewhere():
                return code
            if not (self._has_news() or self._asks(params)):
                return code
            self.dep_manager = None

    def _failed_elsewhere(self) -> bool:
        """Tell whether an ordinary task failed: another round would hide that."""
        # In a project of others this module must cost nothing.
        from looptasks.core.taskname import parsed  # noqa: PLC0415

        return any(parsed(name) is None for name, _ in self.failed)

    def _asks(self, params: Any) -> bool:
        """Ask a person at the terminal; tell whether there is a word to go on with."""
        engaged = self.loader.engagement
        if engaged is None or not engaged.place.owned or engaged.place.lost:
            return False
        if self._stream(params["reporter"]) is not sys.stdout:
            return False
        from looptasks.plugin.gate_prompt import ask_at_terminal  # noqa: PLC0415

        return ask_at_terminal(engaged)

    def _has_news(self) -> bool:
        engaged = self.loader.engagement
        if engaged is None or not engaged.place.owned or engaged.place.lost:
            return False
        return bool(engaged.place.news())

    def get_reporters(self) -> dict[str, Any]:
        """Return all reporters, each noting failures for the last word."""
        from looptasks.plugin.listening import listening  # noqa: PLC0415

        self.failed: list[tuple[str, Any]] = []
        found = super().get_reporters()
        return {name: listening(kind, self.failed) for name, kind in found.items()}

    def _stream(self, reporter: Any) -> TextIO:
        """Return where the last word goes: not among what machines read."""
        from looptasks.plugin.listening import in_words  # noqa: PLC0415

        kind = self.reporters[reporter] if isinstance(reporter, str) else reporter
        return sys.stdout if in_words(kind) else sys.stderr

    def _close(self, code: int, what: str, stream: TextIO) -> int:
        engaged = self.loader.engagement
        if engaged is None:
            return code
        place = engaged.place
        if code == _INTERRUPTED or place.working:
            _stop(place)
        if place.lost and code != _INTERRUPTED:
            code, what = _LOST, f"session {place.session} was taken over"
        # In a project of others this module must cost nothing.
        from looptasks.plugin.ending import ending_of  # noqa: PLC0415

        ending = ending_of(engaged, code, self.failed, what)
        _say_last(ending, stream)
        with contextlib.suppress(LoopError):
            if place.owned:
                place.event("end", run=place.run, exit=ending.code, reason=ending.why)
        place.release()
        if code == _INTERRUPTED:
            _deafen()
        return ending.code


def _stop(place: Any) -> None:
    """End all agents, and wait until what they came to is recorded."""
    from looptasks.plugin.interruption import end_workers  # noqa: PLC0415
    from looptasks.plugin.processes import processes  # noqa: PLC0415

    place.interrupted.set()
    for _ in range(_LOOKS):
        processes().stop_all()  # again: a thread may be about to start one
        if place.wait_until_idle(_LOOK):
            break
    end_workers()


def _deafen() -> None:
    from looptasks.plugin.interruption import deafen  # noqa: PLC0415

    deafen()


def _say_last(ending: Any, stream: TextIO) -> None:
    from looptasks.plugin.reporter import write  # noqa: PLC0415
    from looptasks.plugin.wording import safe  # noqa: PLC0415

    for line in ending.lines():
        write(stream, f"{safe(line)}\n")
