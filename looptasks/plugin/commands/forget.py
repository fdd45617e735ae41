"""`doit forget`: doit's own; a forgotten iteration is run again, and only that."""

from typing import Any

from doit import cmd_forget

from looptasks.plugin.commands.overriding import Overriding
from looptasks.plugin.engagement import Engagement


class Forget(Overriding, cmd_forget.Forget):
    """Forgets that tasks were run."""

    name = "forget"

    def _execute(
        self, forget_sub: bool, forget_disable_default: bool, forget_all: bool
    ) -> Any:
        engaged = self.loader.engagement
        if engaged is not None:
            engaged.place.lock.refuse_if_busy()
            tasks = {task.name: task for task in self.task_list}
            names = list(tasks) if forget_all else list(self.sel_tasks or ())
            for name in names:
                if name in tasks:
                    forget(engaged, tasks[name], tasks, "forgotten by `doit forget`")
        return super()._execute(forget_sub, forget_disable_default, forget_all)


def forget(engaged: Engagement, task: Any, tasks: Any, reason: str) -> None:
    """Have the ledger say that a task's work no longer counts."""
    known = (task.meta or {}).get("looptasks")
    if known is not None:
        stage, number = known
        engaged.place.event(
            "forget", stage=stage, iteration=number or None, reason=reason, durable=True
        )
        return
    for name in task.task_dep:
        if name in tasks and tasks[name].subtask_of == task.name:
            forget(engaged, tasks[name], tasks, reason)
