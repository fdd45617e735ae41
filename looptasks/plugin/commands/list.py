"""`doit list`: what can be run, or how a session's stages stand and what comes next."""

from collections.abc import Mapping
from typing import Any

from doit import cmd_list
from doit.cmdparse import CmdOption

from looptasks.core.taskname import parsed
from looptasks.plugin.commands.json_option import OPT_JSON
from looptasks.plugin.commands.overriding import Overriding


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
        # In a project of others this module must cost nothing.
        from looptasks.plugin.listing import Listing  # noqa: PLC0415

        plain = [task for task in self.task_list if parsed(task.name) is None]
        listing = Listing(self.loader, self.outstream)
        if self.as_json:
            listing.write_json(plain)
            return 0
        if not (subtasks or pos_args):
            listing.write(quiet=quiet, status=status)
            self.task_list = plain
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
