"""A late task: a name in doit's graph whose task is made when its turn comes.

doit lets a task carry its own `DelayedLoader`. When all its `task_dep` are done, doit
calls the creator, adds the tasks that it yields, and goes on with the one *of the same
name*. That one may be late again, so a loop of unknown length unrolls in one run.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from doit.exceptions import InvalidTask
from doit.task import DelayedLoader, Task


class Resolver:
    """A creator and its arguments: picklable, because worker processes get it too."""

    def __init__(
        self, name: str, creator: Callable[..., Iterator[Task]], args: tuple[Any, ...]
    ) -> None:
        self.name = name
        self.creator = creator
        self.args = args

    def __call__(self) -> Iterator[Task]:
        """Yield the tasks that the creator makes, one of which must bear the name."""
        resolved = False
        for task in self.creator(*self.args):
            resolved = resolved or task.name == self.name
            yield task
        if not resolved:
            # doit would take the empty placeholder for the task, and call it done.
            raise InvalidTask(f"late task `{self.name}` was not made by its creator")


def diverted(task: Task, creator: Callable[..., Iterator[Task]], *args: Any) -> Task:
    """Have a late task be made by another creator, which gets `args` for the first.

    What follows the first argument is passed on as it is.
    """
    made: Resolver = task.loader.creator
    more = (*args, *made.args[1:])
    task.loader = DelayedLoader(Resolver(task.name, creator, more))
    return task


def late(
    name: str,
    creator: Callable[..., Iterator[Task]],
    *args: Any,
    after: Sequence[str] = (),
    **task_attributes: Any,
) -> Task:
    """Return the placeholder of task `name`, which `creator(*args)` makes later.

    The creator is called when the tasks named in `after` are done, even those that
    failed under `--continue`. It is a module-level generator function with picklable
    arguments, and yields exactly one task called `name`, late again or real.
    """
    if "targets" in task_attributes:
        # doit would refuse the real task: two tasks can't have a common target.
        raise ValueError(f"late task `{name}` must leave `targets` to its real task")
    loader = DelayedLoader(Resolver(name, creator, args))
    return Task(name, None, task_dep=list(after), loader=loader, **task_attributes)
