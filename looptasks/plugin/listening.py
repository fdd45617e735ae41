"""Listening: any reporter, which also notes failures and lends us its voice."""

from collections.abc import Iterable
from typing import Any

from doit.exceptions import BaseFail, UnmetDependency
from doit.reporter import ConsoleReporter, ZeroReporter

from looptasks.plugin.reporter import is_ours
from looptasks.plugin.voice import speaker

Failures = list[tuple[str, BaseFail]]


def listening(reporter: type[Any], failed: Failures) -> type[Any]:
    """Return the reporter, noting which tasks failed on their own account."""

    class Listening(reporter):
        """A reporter that also counts failures."""

        def __init__(self, outstream: Any, options: Any = None) -> None:
            super().__init__(outstream, options or {})
            if in_words(reporter):
                speaker(self.note)

        def note(self, text: str) -> None:
            """Write a sentence that belongs to no task."""
            from looptasks.plugin.wording import safe  # noqa: PLC0415

            self.write(f"{safe(text)}\n")
            self.outstream.flush()

        def add_failure(self, task: Any, fail: BaseFail) -> None:
            """Note the failure, then report it without what must not be seen."""
            from looptasks.plugin.wording import safe  # noqa: PLC0415

            if not isinstance(fail, UnmetDependency):
                failed.append((task.name, fail))
            if is_ours(task):
                fail.message = safe(fail.message)
            super().add_failure(task, fail)

        def complete_run(self) -> None:
            """Close what an interrupt left open: doit's JSON cannot do without."""
            _close_open(getattr(self, "t_results", {}).values())
            super().complete_run()

    return Listening


def in_words(reporter: Any) -> bool:
    """Tell whether a reporter writes lines for people, so that ours fit in."""
    kind = reporter if isinstance(reporter, type) else type(reporter)
    return issubclass(kind, ConsoleReporter) and not issubclass(kind, ZeroReporter)


def _close_open(results: Iterable[Any]) -> None:
    for result in results:
        if result._started_on is not None and result._finished_on is None:
            result.set_result("fail", "interrupted")
