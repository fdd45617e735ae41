"""`doit list`: what can be run, or how a session's stages stand and what comes next."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from doit import cmd_list
from doit.cmdparse import CmdOption

from looptasks.core.outlook import Outlook
from looptasks.core.taskname import parsed
from looptasks.effects.session_folder import session_names
from looptasks.effects.yaml_declarations import available, describe
from looptasks.errors import LoopError
from looptasks.plugin.commands.asking import OPT_JSON, foreseen
from looptasks.plugin.commands.overriding import Overriding
from looptasks.plugin.commands.status import session_state
from looptasks.plugin.engagement import engagement

_MARKS = {"run": "R", "maybe": "?", "rest": "U", "blocked": "B"}


class List(Overriding, cmd_list.List):
    """Lists tasks, ordinary ones and ours."""

    name = "list"
    wants_iterations = False
    task_list: list[Any]

    def get_options(self) -> Any:
        """Return doit's options and `--json`."""
        return [*super().get_options(), CmdOption(OPT_JSON)]

    def execute(self, params: Mapping[str, Any], args: list[str]) -> Any:
        """List, loading a session's iterations only if they are asked for."""
        self.wants_iterations = bool(params["subtasks"]) or any(map(parsed, args))
        self.as_json = bool(params["json"])
        self.words = args
        return super().execute(params, args)

    def _execute(  # noqa: PLR0917 - the signature is doit's
        self,
        subtasks: bool = False,
        quiet: bool = True,
        status: bool = False,
        private: bool = False,
        list_deps: bool = False,
        template: Any = None,
        sort: str = "name",
        pos_args: Any = None,
    ) -> Any:
        engaged = self.loader.engagement
        if self.as_json:
            self._write(json.dumps(self._all(), indent=1))
            return 0
        if not (subtasks or pos_args):
            if engaged is not None:
                self._session(status=status)
            else:
                self._entries(quiet=quiet)
            self.task_list = [t for t in self.task_list if parsed(t.name) is None]
        return super()._execute(
            subtasks, quiet, status, private, list_deps, template, sort, pos_args
        )

    def _print_task(
        self, template: str, task: Any, status: bool, list_deps: bool, tasks: Any
    ) -> None:
        meta = task.meta or {}
        if status and "looptasks" in meta:
            mark = "U" if meta["stands"] else "R"
            fields = {"name": task.name, "doc": task.doc, "status": mark}
            self.outstream.write(template.format(**fields))
            return
        super()._print_task(template, task, status, list_deps, tasks)

    def _write(self, text: str) -> None:
        self.outstream.write(f"{text}\n")

    def _views(self) -> Iterator[tuple[str, list[Outlook]]]:
        engaged = self.loader.engagement
        for entry in engaged.pipelines:
            yield entry, foreseen(engaged, entry)

    def _session(self, *, status: bool) -> None:
        for entry, view in self._views():
            self._write(entry)
            for outlook in view:
                mark = f"{_MARKS[outlook.fate]} " if status else ""
                self._write(
                    f"  {mark}{outlook.task:<24} {outlook.status:<11} "
                    f"{outlook.done} iterations"
                )
                if outlook.fate != "rest":
                    nxt = f"{outlook.next_task}: " if outlook.next_task else ""
                    word = {"run": "next", "maybe": "perhaps"}.get(outlook.fate, "held")
                    self._write(f"      {word} {nxt}{outlook.reason}")

    def _entries(self, *, quiet: bool) -> None:
        root = self.loader.root
        found = available(root)
        width = max((len(f"{f.kind}:{f.name}") for f in found), default=0) + 3
        for entry in found:
            doc = "" if quiet else _description(root, entry)
            self._write(f"{entry.kind}:{entry.name}".ljust(width) + doc)
        for state in self._unfinished():
            self._write(
                f"session {state['session']}: {state['status']}, next: {state['next']}"
            )

    def _unfinished(self) -> list[dict[str, Any]]:
        root, request = self.loader.root, self.loader.request()
        names = session_names(root)
        states = [session_state(engagement(root, request, n).place) for n in names]
        return [state for state in states if state["status"] != "complete"]

    def _all(self) -> dict[str, Any]:
        plain = [
            {"name": t.name, "doc": t.doc}
            for t in self.task_list
            if parsed(t.name) is None
        ]
        engaged = self.loader.engagement
        if engaged is not None:
            entries = [
                {"entry": entry, "stages": [_fields(o) for o in view]}
                for entry, view in self._views()
            ]
            session = engaged.place.session
            return {"session": session, "entries": entries, "tasks": plain}
        root = self.loader.root
        can = [
            {"task": f"{f.kind}:{f.name}", "description": _description(root, f)}
            for f in available(root)
        ]
        return {"can_run": can, "unfinished": self._unfinished(), "tasks": plain}


def _description(root: str, entry: Any) -> str:
    try:
        return describe(root, entry)
    except LoopError as error:
        return f"cannot be read: {error.what}"


def _fields(view: Outlook) -> dict[str, Any]:
    return {**view._asdict(), "next_task": view.next_task or None}
