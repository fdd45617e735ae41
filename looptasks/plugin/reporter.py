"""The reporter: plain lines in CI and in pipes, a live view on a terminal."""

from typing import Any

from doit.reporter import ConsoleReporter


class LoopReporter(ConsoleReporter):
    """Reports iterations and stages in words, and ordinary tasks as doit does."""

    desc = "loops: live on a terminal, plain lines elsewhere"

    def __init__(self, outstream: Any, options: Any) -> None:
        super().__init__(outstream, options)
        from looptasks.plugin.voice import speaker  # noqa: PLC0415

        speaker(self.note)

    def note(self, text: str) -> None:
        """Write a sentence that belongs to no task."""
        self.line(text)

    def line(self, text: str) -> None:
        """Write one line, at once."""
        self.outstream.write(f"{text}\n")
        self.outstream.flush()

    def execute_task(self, task: Any) -> None:
        """Say that an iteration starts."""
        if not is_ours(task):
            super().execute_task(task)
        elif iteration_of(task):
            self.line(f"{task.name} started, {task.doc}")

    def add_success(self, task: Any) -> None:
        """Say what an iteration came to."""
        if is_ours(task) and task.actions:
            self.line(f"{task.name} {task.values.get('summary', 'done')}")

    def skip_uptodate(self, task: Any) -> None:
        """Say that nothing had to be done."""
        if not is_ours(task):
            super().skip_uptodate(task)
        else:
            self.line(f"{task.name} is up to date, {task.doc}")

    def add_failure(self, task: Any, fail: Any) -> None:
        """Say what went wrong, without doit's wrapping where it is ours."""
        if not is_ours(task) or fail.get_name() != "TaskFailed":
            super().add_failure(task, fail)
        elif fail.report:
            self.line(f"{task.name} failed: {fail.message}")


def is_ours(task: Any) -> bool:
    """Tell whether a task is an iteration or a stage."""
    return bool(task.meta) and "looptasks" in task.meta


def iteration_of(task: Any) -> int:
    """Return the iteration's number, 0 for a stage."""
    number: int = task.meta["looptasks"][1]
    return number
