"""The reporter: plain lines in CI and in pipes, a live view on a terminal."""

from typing import Any

from doit.reporter import ConsoleReporter


class LoopReporter(ConsoleReporter):
    """Reports iterations and stages in words, and ordinary tasks as doit does.

    doit imports this module with every command, also for projects of others: what a
    report needs is imported when there is something to report.
    """

    desc = "loops: live on a terminal, plain lines elsewhere"

    def __init__(self, outstream: Any, options: Any) -> None:
        from threading import Lock  # noqa: PLC0415

        super().__init__(outstream, options)
        self._view: Any = None
        self._starting = Lock()
        self._finished = False
        self._ordinary: set[str] = set()

    def line(self, text: str) -> None:
        """Write a line of ours, at once; agents may have had a word in it."""
        from looptasks.plugin.wording import safe  # noqa: PLC0415

        self.write(f"{safe(text)}\n")

    def write(self, text: str) -> None:
        """Write text as it is, above the live view when there is one."""
        if self._view is not None and self._view.alive:
            self._view.say(text)
        else:
            write(self.outstream, text)

    def execute_task(self, task: Any) -> None:
        """Say or show that an iteration starts."""
        if not is_ours(task):
            self._make_room(task)
            super().execute_task(task)
        elif iteration_of(task) and not self._shows(task):
            self.line(f"{task.name} started, {task.doc}")

    def add_success(self, task: Any) -> None:
        """Say what an iteration came to."""
        self._over(task)
        if is_ours(task) and task.actions:
            self.line(f"{task.name} {task.values.get('summary', 'done')}")

    def skip_uptodate(self, task: Any) -> None:
        """Say that nothing had to be done."""
        if not is_ours(task):
            super().skip_uptodate(task)
        elif not is_instance(task):
            self.line(f"{task.name} is up to date, {task.doc}")

    def add_failure(self, task: Any, fail: Any) -> None:
        """Say what went wrong, without doit's wrapping where it is ours."""
        self._over(task)
        if not is_ours(task):
            super().add_failure(task, fail)
        elif fail.report:
            from looptasks.plugin.wording import failure  # noqa: PLC0415

            self.line(failure(task, fail))

    def teardown_task(self, task: Any) -> None:
        """Leave the terminal to what ordinary tasks do at the end."""
        self._make_room(task)

    def complete_run(self) -> None:
        """Take the live view away, then sum up ordinary failures as doit does."""
        with self._starting:
            view, self._view, self._finished = self._view, None, True
        if view is not None:
            view.close()
        super().complete_run()

    def _shows(self, task: Any) -> bool:
        """Show an iteration in the live view; tell whether it can be seen there."""
        place, job = task.actions[0].args[:2]
        with self._starting:
            view = self._view or self._new_view(place)
        if view is None:
            return False
        view.begin(task.name, job)
        return not self._ordinary

    def _new_view(self, place: Any) -> Any:
        if self._finished or not is_terminal(self.outstream):
            return None
        from looptasks.plugin.live_view import LiveView  # noqa: PLC0415

        self._view = LiveView(self.outstream, place)
        if self._ordinary:
            self._view.step_aside()
        return self._view

    def _make_room(self, task: Any) -> None:
        """Let an ordinary task have the terminal: what it prints we cannot foresee."""
        if task.actions or task.teardown:
            self._ordinary.add(task.name)
            if self._view is not None:
                self._view.step_aside()

    def _over(self, task: Any) -> None:
        if self._view is not None and is_ours(task):
            self._view.end(task.name)
        elif task.name in self._ordinary:
            self._ordinary.discard(task.name)
            if self._view is not None and not self._ordinary:
                self._view.come_back()


def write(stream: Any, text: str) -> None:
    """Write at once, with question marks for what the stream cannot encode."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        from looptasks.core.screen_text import encodable  # noqa: PLC0415

        stream.write(encodable(text, stream.encoding))
    stream.flush()


def is_terminal(stream: Any) -> bool:
    """Tell whether somebody watches who sees lines change in place."""
    from os import environ  # noqa: PLC0415

    watched = environ.get("CI", "").lower() in ("", "0", "false")
    able = environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    return watched and able and stream.isatty() and _in_front(stream)


def _in_front(stream: Any) -> bool:
    """Tell whether the terminal is ours, and not a shell's that has us run behind."""
    from os import getpgrp, tcgetpgrp  # noqa: PLC0415

    try:
        return tcgetpgrp(stream.fileno()) == getpgrp()
    except (OSError, ValueError):
        return True  # a terminal without jobs


def is_ours(task: Any) -> bool:
    """Tell whether a task is an iteration, a stage, or what stands for one."""
    from looptasks.core.taskname import parsed  # noqa: PLC0415

    return parsed(task.name) is not None


def is_instance(task: Any) -> bool:
    """Tell whether a task is one of many like it: their stage speaks for them."""
    stage: str = ((task.meta or {}).get("looptasks") or ("", 0))[0]
    return "/" in stage and not stage.startswith("beads/")


def iteration_of(task: Any) -> int:
    """Return the iteration's number, 0 for a stage."""
    number: int = (task.meta or {}).get("looptasks", ("", 0))[1]
    return number
