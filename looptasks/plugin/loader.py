"""The loader: doit's own for `dodo.py`, with loops and pipelines in the same graph."""

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from doit import doit_cmd
from doit.cmd_base import DodoTaskLoader
from doit.exceptions import InvalidDodoFile
from doit.task import Task

from looptasks.core.request import VARIABLES, Request, request_from, unread
from looptasks.core.taskname import parsed
from looptasks.errors import LoopError, UsageError

_OURS = {"dep_file", "backend"}


class LoopLoader(DodoTaskLoader):
    """Loads `dodo.py` where there is one, and the session that a command is about."""

    is_looptasks = True

    def __init__(self) -> None:
        super().__init__()
        self.root = ""
        self.always = False
        self.workers = 0
        self.engagement: Any = None
        self._watched = _Watched()

    def setup(self, opt_values: Any) -> None:
        """Load `dodo.py`; having none is no mistake here."""
        gc.freeze()
        self._watched = _Watched(doit_cmd._CMDLINE_VARS or {})
        doit_cmd._CMDLINE_VARS = self._watched
        named = opt_values["dodoFile"]
        if named != "dodo.py" or opt_values["seek_file"] or os.path.exists(named):
            super().setup(opt_values)
        else:
            if opt_values["cwdPath"]:
                os.chdir(opt_values["cwdPath"])
            self.namespace: dict[str, Any] = {}
        self.root = os.getcwd()

    def load_doit_config(self) -> dict[str, Any]:
        """Return doit's configuration: the session's memory is not negotiable."""
        from looptasks.plugin.checker import ContentChecker  # noqa: PLC0415

        theirs = super().load_doit_config()
        return {
            "par_type": "thread",
            "reporter": "looptasks",
            "check_file_uptodate": ContentChecker,
            **{key: value for key, value in theirs.items() if key not in _OURS},
            "dep_file": os.path.join(".loop", "doit.db"),
            "backend": "looptasks",
        }

    def load_tasks(self, cmd: Any, pos_args: list[str]) -> list[Task]:
        """Return ordinary tasks and ours; a person's mistake is told in words."""
        tasks = list(super().load_tasks(cmd, pos_args))
        try:
            self.refuse_unread()
            if cmd.execute_tasks:
                return self._to_run(cmd, tasks)
            return self._to_show(cmd, tasks)
        except LoopError as error:
            raise InvalidDodoFile(str(error)) from error
        finally:
            # All of it stays: to search it for garbage, at the latest when Python
            # ends, takes longer than to find that there is nothing to do.
            gc.freeze()

    def request(self) -> Request:
        """Return what the command line and the environment ask."""
        return request_from(dict(self._watched), os.environ)

    def refuse_unread(self) -> None:
        """Raise when a variable was given that nobody reads."""
        for name, value in self._watched.items():
            if name in VARIABLES or name in self._watched.seen:
                continue
            if not _mentioned(name, self.namespace or {}):
                raise unread(name, value)

    def _to_run(self, cmd: Any, tasks: list[Task]) -> list[Task]:
        from looptasks.plugin.running import tasks_to_run  # noqa: PLC0415
        from looptasks.plugin.writers import Writers  # noqa: PLC0415

        writers = Writers(self.root, self.request(), cmd.sel_tasks or ())
        if cmd.sel_tasks is None:
            cmd.sel_tasks = default_names(tasks, writers.entry)
        if self.engagement is not None:
            # Another round: what has nothing to do with us has had its turn.
            cmd.sel_tasks = [
                name
                for name in cmd.sel_tasks
                if any(map(parsed, needed([name], tasks, writers.entry)))
            ]
        wanted = needed(cmd.sel_tasks, tasks, writers.entry)
        made = list(tasks_to_run(self, wanted, tasks))
        if self.engagement is not None:
            self._remember(cmd)
            from looptasks.plugin.interruption import listen  # noqa: PLC0415

            listen(self.engagement.place)
        return _complete([*tasks, *made])

    def _to_show(self, cmd: Any, tasks: list[Task]) -> list[Task]:
        from looptasks.plugin.showing import tasks_to_show  # noqa: PLC0415

        if cmd.sel_tasks is None and cmd.name != "list":
            cmd.sel_tasks = default_names(tasks)
        made = list(tasks_to_show(self, cmd.sel_tasks or (), whole=_whole(cmd)))
        if self.engagement is not None:
            self._remember(cmd)
        return _complete([*tasks, *made])

    def _remember(self, cmd: Any) -> None:
        """Have doit's memory of our tasks in the session's own folder."""
        backend = cmd.dep_manager.backend
        if not hasattr(backend, "use_session"):
            raise UsageError(
                "a session keeps doit's memory itself, in its own folder",
                where="--backend",
                fix="leave the option out",
            )
        backend.use_session(self.engagement.place.folder.path)


class _Watched(dict[str, str]):
    """doit's variables, noting which were asked for."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: set[str] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a variable, and note that somebody reads it."""
        self.seen.add(key)
        return super().get(key, default)


def _mentioned(name: str, namespace: dict[str, Any]) -> bool:
    """Tell whether `dodo.py` may read a variable later, when a task runs."""
    path = namespace.get("__file__")
    if not path:
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return f'"{name}"' in text or f"'{name}'" in text


def _whole(cmd: Any) -> bool:
    return cmd.name != "list" or bool(getattr(cmd, "wants_iterations", False))


Maker = Callable[[str], str | None]


def nobody(path: str) -> None:
    """Say that no entry makes a file."""
    del path


def default_names(tasks: Iterable[Task], maker: Maker = nobody) -> list[str]:
    """Return the ordinary tasks that a bare `doit` runs: none that needs an agent."""
    tasks = list(tasks)
    return [
        task.name
        for task in tasks
        if task.subtask_of is None
        and not any(parsed(name) for name in needed([task.name], tasks, maker))
    ]


def needed(
    selected: Iterable[str], tasks: Iterable[Task], maker: Maker = nobody
) -> list[str]:
    """Return the selected names and all that ordinary tasks rest on.

    `maker` names the entry of ours that makes a file.
    """
    by_name = {task.name: task for task in tasks}
    makers = {target: t.name for t in by_name.values() for target in t.targets}
    found: dict[str, None] = {}
    todo = list(selected)[::-1]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = None
        task = by_name.get(name)
        if task is not None:
            made = (makers.get(path) or maker(path) for path in task.file_dep)
            files = [name for name in made if name]
            todo += [*task.task_dep, *task.setup_tasks, *task.calc_dep, *files]
    return list(found)


def _complete(tasks: list[Task]) -> list[Task]:
    """Add empty tasks for names of ours that ordinary tasks mention in passing."""
    known = {task.name for task in tasks}
    mentioned = dict.fromkeys(_mentioned_names(tasks))
    return [*tasks, *(Task(n, None) for n in mentioned if n not in known)]


def _mentioned_names(tasks: Iterable[Task]) -> Iterator[str]:
    for task in tasks:
        for name in (*task.task_dep, *task.setup_tasks):
            if parsed(name) is not None:
                yield name
