"""`doit info`: doit's own, with our reasons for tasks of ours."""

from typing import Any

from doit import cmd_info

from looptasks.core.suggestion import did_you_mean
from looptasks.errors import UsageError
from looptasks.plugin.commands.overriding import Overriding


class Info(Overriding, cmd_info.Info):
    """Shows a task."""

    name = "info"

    def _execute(self, pos_args: list[str], hide_status: bool = False) -> Any:
        tasks = {task.name: task for task in self.task_list}
        if len(pos_args) != 1 or pos_args[0] not in tasks:
            return self._unknown(pos_args, list(tasks), hide_status)
        meta = tasks[pos_args[0]].meta or {}
        if "looptasks" not in meta:
            return super()._execute(pos_args, hide_status)
        super()._execute(pos_args, hide_status=True)
        if hide_status:
            return 0
        status = "up-to-date" if meta["stands"] else "run"
        self.outstream.write(f"\n{'status':11s}: {status}\n * {meta['why']}\n")
        return 0 if meta["stands"] else 1

    def _unknown(self, names: list[str], known: list[str], hide_status: bool) -> Any:
        if len(names) != 1:
            return super()._execute(names, hide_status)
        guess = did_you_mean(names[0], known)
        raise UsageError(f"`{names[0]}` is not a task{guess}")
