"""An instance's course: a stage's loop for one entry, on its way like any other."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from looptasks.core.digest import MISSING
from looptasks.core.instance import Node
from looptasks.core.priority import base
from looptasks.core.prompt import parts
from looptasks.core.selector import Subject
from looptasks.core.step import Iterate, Restart
from looptasks.plugin.course import Course
from looptasks.plugin.grove import Grove
from looptasks.plugin.invalidation import keep_branch
from looptasks.plugin.priorities import Priorities

if TYPE_CHECKING:
    from looptasks.core.job import Job, Site


class InstanceCourse(Course):
    """The course of one instance of a stage that fans out over an artifact.

    One that gets a worktree of its own has `sweep` to clear old ones away first.
    """

    def __init__(
        self,
        grove: Grove,
        node: Node,
        *,
        sweep: Callable[[], None] | None = None,
        queue: Priorities | None = None,
    ) -> None:
        self.grove = grove
        self.node = node
        self._sweep = sweep
        self._queue = queue
        self._site: Site | None = None
        declared, above = grove.tree.stages[node.stage], grove.tree.parent(node)
        stage = declared._replace(
            name=node.name,
            task=grove.task(node),
            parent=above.name,
            on_failure=grove.tree.stages[above.stage].loop.on_child_failure,
        )
        super().__init__(
            grove.place, grove.pipeline, stage, grove.request, forced=grove.forced
        )

    def _inputs(self) -> dict[str, str]:
        grove, declared = self.grove, self.grove.tree.stages[self.node.stage]
        seen = [grove.tree.seen_from(self.node, name) for name in declared.inputs]
        names = [one.name for node in seen for one in grove.members(node)]
        if names != list(self.stage.inputs):
            self.stage = self.stage._replace(inputs=tuple(names))
        entry = grove.entry(self.node)
        return {**super()._inputs(), "entry": entry.digest if entry else MISSING}

    def _unready(self) -> str:
        return ""  # who makes its task looks at single instances

    def upstream(self) -> frozenset[str]:
        """Return the names of all that the instance rests on."""
        tree, stages = self.grove.tree, self.pipeline.upstream(self.node.stage)
        return frozenset(tree.seen_from(self.node, name).name for name in stages)

    def subject(self) -> Subject:
        """Return the instance as selectors see it, resting on its siblings as well."""
        above: dict[Node, None] = {}
        todo = [self.node]
        while todo:
            for node in self.grove.before(todo.pop()):
                if node not in above and self.grove.tree.stages[node.stage].parent:
                    todo.append(node)
                above[node] = None
        names = self.upstream().union(node.name for node in above)
        return Subject(self.stage.name, names)

    def targets(self) -> list[str]:
        """Return no files: several instances may write the same."""
        return []

    def job(self, step: Iterate) -> "Job":
        """Return the iteration that is due, in a worktree of its own if isolated."""
        job = super().job(step)
        if self._sweep is None:
            return job
        if self._site is None:
            self._sweep()
            # Only once: a merge that waits for its agent must be left as it is.
            from looptasks.plugin.result_branch import instance_site  # noqa: PLC0415

            entry = self.grove.entry(self.node)
            title = str(entry.value.get("title") or entry.name) if entry else ""
            self._site = instance_site(self.place, self.stage.name, title)
        return job._replace(site=self._site)

    def supersede(self, step: Restart) -> None:
        """Move what is stale to the archive; its branch stays under another name."""
        if step.keep == 0:
            keep_branch(self.place, self.stage.name)
            self._site = None
        super().supersede(step)

    def turn(self) -> dict[str, Any]:
        """Return when an iteration gets its slot: by priority, at most so many."""
        if self._queue is None:
            return super().turn()
        tree, loop, name = self.grove.tree, self.stage.loop, self.stage.task
        depth = tree.depth(self.node.stage)
        deepest = depth + tree.height(self.node.stage)
        failed = sum(not iteration.valid for iteration in self.record.iterations)
        first = base(depth, deepest, loop.priority)
        self._queue.enter(name, base=first, depth=depth, failed=failed)
        kind = {"kind": (self.node.stage, loop.at_once)} if loop.at_once else {}
        return {**self._queue.mark(name), **kind}

    def variables(self) -> dict[str, str]:
        """Return the prompt variables that tell of the entry."""
        entry = self.grove.entry(self.node)
        value = entry.value if entry is not None else {}
        found = {"ITEM": json.dumps(value, indent=2, ensure_ascii=False)}
        for field in parts(self.stage.loop.prompt, "ITEM"):
            found[f"ITEM.{field}"] = _spoken(value.get(field))
        return {**super().variables(), **found}

    def environment(self, step: Iterate) -> Iterator[tuple[str, str]]:
        """Yield what the agent of the instance finds in its environment."""
        yield from super().environment(step)
        entry = self.grove.entry(self.node)
        yield "LOOP_ITEM", entry.name if entry is not None else ""


def _spoken(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False)
