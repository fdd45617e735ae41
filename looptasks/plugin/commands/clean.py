"""`doit clean`: doit's own; what agents made goes to the archive, never away."""

from typing import Any

from doit import cmd_clean

from looptasks.core.taskname import parsed
from looptasks.plugin.commands.forget import forget
from looptasks.plugin.commands.overriding import Overriding
from looptasks.plugin.engagement import Engagement


class Clean(Overriding, cmd_clean.Clean):
    """Cleans targets of tasks."""

    name = "clean"
    task_list: list[Any]

    def _execute(
        self,
        dryrun: bool,
        cleandep: bool,
        cleanall: bool,
        cleanforget: bool,
        pos_args: Any = None,
    ) -> Any:
        engaged = self.loader.engagement
        tasks = {task.name: task for task in self.task_list}
        names = list(tasks) if cleanall else list(pos_args or ())
        if engaged is not None:
            engaged.place.lock.refuse_if_busy()
            for name in names:
                if parsed(name) and name in tasks:
                    self._archive(engaged, tasks[name], tasks, dryrun=dryrun)
        # doit's own recursion would not survive a loop of a thousand iterations.
        self.task_list = [t for t in self.task_list if parsed(t.name) is None]
        rest = [name for name in pos_args or () if parsed(name) is None]
        if pos_args and not rest:
            return 0
        return super()._execute(dryrun, cleandep, cleanall, cleanforget, rest)

    def _archive(
        self, engaged: Engagement, task: Any, tasks: Any, *, dryrun: bool
    ) -> None:
        known = (task.meta or {}).get("looptasks")
        if known is None:
            for name in task.task_dep:
                if tasks[name].subtask_of == task.name:
                    self._archive(engaged, tasks[name], tasks, dryrun=dryrun)
            return
        stage, number = known
        self.outstream.write(f"{task.name} - to the archive\n")
        if dryrun:
            return
        folder, stamp = engaged.place.folder, engaged.place.now()
        if number:
            folder.archive_iterations(stage, number - 1, number, stamp)
        else:
            folder.archive_stage(stage, stamp)
        forget(engaged, task, tasks, "cleaned by `doit clean`")
