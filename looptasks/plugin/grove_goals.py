"""Goals in a grove: the instances and iterations that were asked for by name."""

from collections.abc import Iterator, Sequence

from doit.task import Task

from looptasks.core.instance import Node
from looptasks.core.suggestion import did_you_mean, listed
from looptasks.core.taskname import TaskName, iteration_task
from looptasks.errors import UsageError
from looptasks.plugin.grove_graph import Growth, grow
from looptasks.plugin.late import late


def instance_goals(growth: Growth, wanted: Sequence[TaskName]) -> Iterator[Task]:
    """Yield what was asked for by name, with all that it rests on."""
    asked = [name for name in wanted if name.kind == "stage" and ":" in name.name]
    for name in dict.fromkeys(asked):
        node = _node(growth, name)
        yield from growth.ensure(node)
        if name.iteration:
            yield from _iteration(growth, node, name)


def _node(growth: Growth, name: TaskName) -> Node:
    stage, *path = name.name.split(":")
    node = Node(stage, tuple(path))
    known = [one.task for one in growth.grove.instances(Node(stage))]
    if not any(task == node.task or task.startswith(f"{node.task}:") for task in known):
        raise UsageError(
            f"session `{growth.grove.place.session}` has no `{node.task}`"
            f"{did_you_mean(node.task, known)}",
            fix=f"there are {listed(known)}" if known else f"run `stage:{stage}` first",
        )
    return node


def _iteration(growth: Growth, node: Node, name: TaskName) -> Iterator[Task]:
    task = iteration_task(node.task, name.iteration)
    before = [growth.grove.task(other) for other in growth.grove.before(node)]
    yield late(task, grow, growth, node, name.iteration, after=before)
