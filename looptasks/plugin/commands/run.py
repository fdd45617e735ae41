"""`doit run`: doit's own, with a session's lock, exit codes and last word."""

import contextlib
import sys
from collections.abc import Mapping
from typing import Any

from doit import cmd_run
from doit.exceptions import BaseFail, UnmetDependency

from looptasks.errors import LoopError
from looptasks.plugin.commands.yielding import Yielding

_PATIENCE = 15.0
_INTERRUPTED = 130


class Run(Yielding, cmd_run.Run):
    """Runs tasks, ordinary ones and ours."""

    name = "run"

    def execute(self, params: Mapping[str, Any], args: list[str]) -> int:
        """Run, and always say why it stopped and how it goes on."""
        self.loader.always = params.get("always", False)
        what = ""
        try:
            code = super().execute(params, args) or 0
        except KeyboardInterrupt:
            code = _INTERRUPTED
        except LoopError as error:
            sys.stderr.write(f"{error}\n")
            code, what = error.exit_code, error.what
        return self._close(code, what)

    def get_reporters(self) -> dict[str, Any]:
        """Return all reporters, each noting failures for the last word."""
        self.failed: list[tuple[str, BaseFail]] = []
        found = super().get_reporters()
        return {name: listening(kind, self.failed) for name, kind in found.items()}

    def _close(self, code: int, what: str) -> int:
        engaged = self.loader.engagement
        if engaged is None:
            return code
        place = engaged.place
        if code == _INTERRUPTED:
            place.interrupted.set()
            _stop_processes()
            place.wait_until_idle(_PATIENCE)
        # In a project of others this module must cost nothing.
        from looptasks.plugin.ending import ending_of  # noqa: PLC0415

        ending = ending_of(engaged, code, self.failed, what)
        _say_last(ending)
        with contextlib.suppress(LoopError):
            if place.owned:
                place.event("end", run=place.run, exit=ending.code, reason=ending.why)
        place.release()
        return ending.code


def _stop_processes() -> None:
    from looptasks.plugin.processes import processes  # noqa: PLC0415

    processes().stop_all()


def _say_last(ending: Any) -> None:
    for line in ending.lines():
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def listening(reporter: type[Any], failed: list[tuple[str, BaseFail]]) -> type[Any]:
    """Return the reporter, noting which tasks failed on their own account."""

    class Listening(reporter):
        """A reporter that also counts failures."""

        def add_failure(self, task: Any, fail: BaseFail) -> None:
            """Note the failure, then report it."""
            if not isinstance(fail, UnmetDependency):
                failed.append((task.name, fail))
            super().add_failure(task, fail)

    return Listening
