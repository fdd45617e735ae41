"""A grove: the instances of an entry's stages, as the artifacts tell them by now."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from looptasks.core.digest import SUPPOSED, of_value
from looptasks.core.instance import Node, Tree, Work, node_of, works
from looptasks.core.pipeline import Pipeline
from looptasks.core.request import Request
from looptasks.effects.artifact_file import read_artifact, write_entries
from looptasks.plugin.workplace import Workplace


class Grove:
    """Reads artifacts, again only when they have changed."""

    def __init__(
        self,
        place: Workplace,
        pipeline: Pipeline,
        request: Request,
        *,
        forced: bool = False,
    ) -> None:
        self.place = place
        self.pipeline = pipeline
        self.request = request
        self.forced = forced
        self.tree = Tree(pipeline)
        self._read: dict[Node, tuple[object, Mapping[str, Any] | None]] = {}
        self._lists: dict[tuple[Node, str], tuple[object, dict[str, Work]]] = {}
        self._still: dict[Node, tuple[object, Mapping[str, Any] | None]] | None = None

    def artifact(self, node: Node) -> Mapping[str, Any] | None:
        """Return the artifact of a stage or an instance, if it has one by now."""
        return self._artifact(node)[1]

    @contextmanager
    def still(self) -> Iterator[None]:
        """Look at each file once only: what is done meanwhile changes none."""
        self._still = {}
        try:
            with self.place.ledger.still():
                yield
        finally:
            self._still = None

    def _artifact(self, node: Node) -> tuple[object, Mapping[str, Any] | None]:
        if self._still is None:
            return self._looked_at(node)
        if node not in self._still:
            self._still[node] = self._looked_at(node)
        return self._still[node]

    def _looked_at(self, node: Node) -> tuple[object, Mapping[str, Any] | None]:
        loop = self.tree.stages[node.stage].loop
        kind = loop.artifact
        path = self.place.folder.stage(node.name, "output", f"{kind}.json")
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None, None
        mark = (found.st_mtime_ns, found.st_size, found.st_ino)
        if node not in self._read or self._read[node][0] != mark:
            value = read_artifact(self.place.folder, node.name, kind, loop.entries)
            self._read[node] = (mark, value)
        return self._read[node]

    def derive(self, node: Node) -> None:
        """Write what derives from an artifact that a person may have edited."""
        kind = self.tree.stages[node.stage].loop.artifact
        if (value := self.artifact(node)) is not None:
            write_entries(self.place.folder, node.name, kind, value)

    def listed(self, source: Node, field: str) -> dict[str, Work]:
        """Return the entries of a list in the artifact of a stage or an instance."""
        mark, value = self._artifact(source)
        known = self._lists.get((source, field))
        if known is None or known[0] != mark:
            found = works(value or {}, field)
            known = mark, {n: self._seen(source, field, w) for n, w in found.items()}
            self._lists[source, field] = known
        return known[1]

    def _seen(self, source: Node, field: str, work: Work) -> Work:
        """Return an entry as it is, or as it is supposed to be."""
        folder = self.place.folder
        own = folder.relative(source.name, "entries", field, f"{work.name}.json")
        supposed = folder.supposed and folder.supposed in (own, self._file(source))
        return work._replace(digest=SUPPOSED) if supposed else work

    def _file(self, node: Node) -> str:
        kind = self.tree.stages[node.stage].loop.artifact
        return self.place.folder.relative(node.name, "output", f"{kind}.json")

    def below(self, group: Node) -> dict[str, Work]:
        """Return the entries directly below a group of instances."""
        level = self.tree.levels[group.stage][len(group.path)]
        return self.listed(Node(level.stage, group.path), level.field)

    def entry(self, node: Node) -> Work | None:
        """Return what an instance works on; None when that is gone, or not yet."""
        stage, above = self.tree.stages[node.stage], self.tree.parent(node)
        if stage.field:
            return self.listed(above, stage.field).get(node.path[-1])
        if self.tree.stages[above.stage].loop.artifact:
            value = self.artifact(above)
            digest = of_value(value) if value is not None else ""
            if self.place.folder.supposed == self._file(above):
                digest = SUPPOSED
        else:
            own = self.entry(above) if self.tree.stages[above.stage].parent else None
            value = own.value if own is not None else {}
            digest = of_value(self.place.folder.outputs(above.name))
        name = node.path[-1] if node.path else node.stage
        return Work(name, value, digest) if value is not None else None

    def instances(self, group: Node) -> Iterator[Node]:
        """Yield the instances that there are below a group, or the node itself."""
        if self.tree.is_instance(group):
            yield group
            return
        for name in self.below(group):
            yield from self.instances(Node(group.stage, (*group.path, name)))

    def sources(self, node: Node) -> Iterator[tuple[Node, str]]:
        """Yield whose artifacts list an instance, from the top, and in which list."""
        for index, level in enumerate(self.tree.levels[node.stage]):
            yield Node(level.stage, node.path[:index]), level.field

    def all_instances(self) -> Iterator[Node]:
        """Yield all instances of the entry, each after what it descends from."""
        for stage in self.tree.fans():
            yield from self.instances(Node(stage.name))

    def recorded(self) -> Iterator[Node]:
        """Yield the instances that the ledger knows of."""
        fans = {stage.name for stage in self.tree.fans()}
        for name in list(self.place.record().stages):
            node = node_of(name)
            if node.stage in fans and self.tree.is_instance(node):
                yield node

    def before(self, node: Node) -> list[Node]:
        """Return all that an instance, or the look below a group, has to wait for."""
        if not self.tree.is_instance(node):
            return [self.tree.source(node)]
        waits = [self.tree.parent(node)]
        waits += [
            self.tree.seen_from(node, name)
            for name in self.tree.stages[node.stage].after
        ]
        for index in range(len(node.path)):
            waits += self._siblings(node, index)
        return list(dict.fromkeys(waits))

    def _siblings(self, node: Node, index: int) -> list[Node]:
        """Return the nodes that come first by the order of entries at one level."""
        level = self.tree.levels[node.stage][index]
        above = node.path[:index]
        entries = self.listed(Node(level.stage, above), level.field)
        if node.path[index] not in entries:
            return []
        first = entries[node.path[index]].after
        if self.tree.stages[node.stage].loop.in_order and index == len(node.path) - 1:
            names = list(entries)
            first = (*first, *names[: names.index(node.path[index])][-1:])
        return [Node(node.stage, (*above, name)) for name in first if name in entries]

    def task(self, node: Node) -> str:
        """Return the doit task of a node, also of a stage without instances."""
        return node.task if node.path else self.tree.stages[node.stage].task

    def unready(self, node: Node) -> str:
        """Say what a node has to wait for that did not come about."""
        record = self.place.record()
        for before in self.before(node):
            for one in self.members(before):
                status = record.stage(one.name).status
                if status != "complete" or one.name in self.place.resting:
                    return f"waits for {self.task(one)} ({status})"
        return ""

    def members(self, node: Node) -> Iterator[Node]:
        """Yield a stage, or the instances that a node stands for."""
        if self.tree.stages[node.stage].parent:
            yield from self.instances(node)
        else:
            yield node
