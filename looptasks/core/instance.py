"""An instance: a stage's work on one entry of an artifact, named after that entry."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from looptasks.core.artifact import entries
from looptasks.core.digest import of_value
from looptasks.core.pipeline import Pipeline, Stage

Path = tuple[str, ...]


class Level(NamedTuple):
    """A list of entries: `field` of the artifact that `stage` makes."""

    stage: str
    field: str


class Work(NamedTuple):
    """What an instance works on: an entry of a list, or a whole artifact."""

    name: str
    value: Mapping[str, Any]
    digest: str
    after: Path = ()


class Node(NamedTuple):
    """A stage at a path: an instance, or all instances below a shorter path."""

    stage: str
    path: Path = ()

    @property
    def name(self) -> str:
        """Its folder in the session, by which the ledger calls it."""
        return "/".join((self.stage, *self.path))

    @property
    def task(self) -> str:
        """Its doit task."""
        return ":".join(("stage", self.stage, *self.path))


def node_of(name: str) -> Node:
    """Return the node that the ledger calls by that name.

    >>> node_of("phase/api/routes")
    Node(stage='phase', path=('api', 'routes'))
    """
    stage, *path = name.split("/")
    return Node(stage, tuple(path))


class Tree:
    """How the stages of a pipeline fan out, without looking at any artifact."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.stages = {stage.name: stage for stage in pipeline.stages}
        self.levels: dict[str, tuple[Level, ...]] = {}
        for name in self.stages:
            self._level(name)

    def _level(self, name: str) -> tuple[Level, ...]:
        if name not in self.levels:
            stage = self.stages[name]
            above = self._level(stage.parent) if stage.parent else ()
            own = (Level(stage.parent, stage.field),) if stage.field else ()
            self.levels[name] = (*above, *own)
        return self.levels[name]

    def fans(self) -> list[Stage]:
        """Return the stages that have instances."""
        return [stage for stage in self.stages.values() if stage.parent]

    def is_instance(self, node: Node) -> bool:
        """Tell whether a node is one instance, and not a group of them."""
        return len(node.path) == len(self.levels[node.stage])

    def parent(self, node: Node) -> Node:
        """Return whose artifact an instance works from, directly."""
        above = self.stages[node.stage].parent
        return Node(above, node.path[: len(self.levels[above])])

    def source(self, node: Node) -> Node:
        """Return whose artifact lists what is next below a group."""
        return Node(self.levels[node.stage][len(node.path)].stage, node.path)

    def seen_from(self, node: Node, stage: str) -> Node:
        """Return what a stage is to a node: the part of it on the node's own way."""
        mine, theirs = self.levels[node.stage], self.levels[stage]
        shared = 0
        while (
            shared < min(len(mine), len(theirs), len(node.path))
            and mine[shared] == theirs[shared]
        ):
            shared += 1
        return Node(stage, node.path[:shared])

    def depth(self, stage: str) -> int:
        """Return how many stages a stage rests on by its fan-out."""
        above = self.stages[stage].parent
        return 1 + self.depth(above) if above else 0

    def height(self, stage: str) -> int:
        """Return how many layers of stages fan out below a stage."""
        below = [s.name for s in self.stages.values() if s.parent == stage]
        return 1 + max(map(self.height, below)) if below else 0

    def is_below(self, node: Node, above: Node) -> bool:
        """Tell whether a node's work descends from another's artifact, or a group's.

        >>> from looptasks.core.pipeline import Pipeline
        >>> Tree(Pipeline("", "", ())).is_below(Node("a"), Node("a"))
        False
        """
        if node.stage == above.stage or above.stage not in self._ancestors(node.stage):
            return False
        seen = self.seen_from(node, above.stage).path
        return seen[: len(above.path)] == above.path

    def _ancestors(self, stage: str) -> list[str]:
        found = []
        above = self.stages[stage].parent if stage in self.stages else ""
        while above:
            found.append(above)
            above = self.stages[above].parent
        return found


def works(artifact: Mapping[str, Any], field: str) -> dict[str, Work]:
    """Return the entries of an artifact's list by their names, in their order."""
    return {
        entry.name: Work(
            entry.name, entry.value, of_value(entry.value), entry.dependencies
        )
        for entry in entries(artifact, field)
    }
