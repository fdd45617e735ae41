"""Invalidation: which work means nothing any more, and why.

An instance whose entry changed is done again when its turn comes, from content alone.
What is said here is said as soon as the artifact has changed, of all that descends from
the entry: nothing stale is called complete in the meantime.
"""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from looptasks.core.instance import Node
from looptasks.core.pipeline import Pipeline
from looptasks.core.request import Request
from looptasks.effects.session_folder import stage_state
from looptasks.plugin.grove import Grove
from looptasks.plugin.voice import say
from looptasks.plugin.workplace import Workplace


class Outdated(NamedTuple):
    """An instance whose work no longer holds; `gone` is whether its entry is."""

    node: Node
    reason: str
    gone: bool = False


def outdated(grove: Grove, group: Node) -> list[Outdated]:
    """Return the instances below a node that are still said to hold, but do not.

    Only the list that begins there is looked at. What is in lists below it may come
    out differently before its turn comes.
    """
    within = [node for node in grove.recorded() if _is_within(grove, node, group)]
    found = [o for node in within if (o := _judged(grove, node, group)) is not None]
    changed = {o.node: o for o in found if not o.gone}
    known = {o.node for o in found}
    for node in within:
        above = (o for other, o in changed.items() if grove.tree.is_below(node, other))
        if node not in known and (first := next(above, None)) is not None:
            found.append(Outdated(node, first.reason))
    return [o for o in found if _is_said_to_hold(grove, o)]


def _is_within(grove: Grove, node: Node, group: Node) -> bool:
    """Tell whether an instance goes through the list that begins at a group."""
    count, levels = len(group.path), grove.tree.levels
    above = levels[group.stage][: count + 1]
    same = levels[node.stage][: len(above)] == above
    return same and node.path[:count] == group.path


def gone_by_now(grove: Grove) -> list[Outdated]:
    """Return the instances whose entry is not in its list, as things are now."""
    found = (one for node in grove.recorded() if (one := _missing(grove, node)))
    return [one for one in found if _is_said_to_hold(grove, one)]


def _missing(grove: Grove, node: Node) -> Outdated | None:
    for source, field in grove.sources(node):
        if grove.artifact(source) is None:
            return None
        if gone := _gone(grove, node, source, field):
            return gone
    return None


def _judged(grove: Grove, node: Node, group: Node) -> Outdated | None:
    levels = grove.tree.levels[group.stage]
    if len(group.path) == len(levels):
        return _changed(grove, node)
    level = levels[len(group.path)]
    source = Node(level.stage, group.path)
    if grove.artifact(source) is None:
        return None  # it is being made: nobody can tell
    if gone := _gone(grove, node, source, level.field):
        return gone
    return _changed(grove, node) if grove.tree.parent(node) == source else None


def _gone(grove: Grove, node: Node, source: Node, field: str) -> Outdated | None:
    name = node.path[len(source.path)]
    if name in grove.listed(source, field):
        return None
    reason = f"entry `{name}` of {grove.task(source)} is gone"
    return Outdated(node, reason, gone=True)


def _changed(grove: Grove, node: Node) -> Outdated | None:
    entry = grove.entry(node)
    before = grove.place.record().stage(node.name).inputs.get("entry", "")
    if entry is None or not before or entry.digest == before:
        return None
    source = grove.tree.parent(node)
    return Outdated(node, f"entry `{entry.name}` of {grove.task(source)} changed")


def _is_said_to_hold(grove: Grove, found: Outdated) -> bool:
    status = grove.place.record().stage(found.node.name).status
    known = () if found.gone else ("invalidated",)
    return status not in ("pending", "archived", *known)


def invalidate(grove: Grove, found: Iterable[Outdated]) -> None:
    """Say that work no longer holds; what nobody asks for any more is archived."""
    found, reasons = list(found), dict[str, list[str]]()
    # First: whoever comes after a crash in between must look at them again.
    _reopen(grove, [(node.stage, reason) for node, reason, _ in found])
    for node, reason, gone in found:
        if gone:
            _retire(grove, node, reason)
        else:
            reasons.setdefault(reason, []).append(node.name)
    for reason, names in reasons.items():
        grove.place.event("invalidate", stages=names, reason=reason)
        for name in names:
            _write_state(grove, name)


def _reopen(grove: Grove, stages: Iterable[tuple[str, str]]) -> None:
    """Call stages complete no longer, some of whose instances have to be looked at."""
    for name, reason in dict(stages).items():
        complete = grove.place.record().stage(name).status == "complete"
        if complete and grove.tree.levels[name]:
            grove.place.event("invalidate", stages=[name], reason=reason)
            _write_state(grove, name)


def _retire(grove: Grove, node: Node, reason: str) -> None:
    place = grove.place
    keep_branch(place, node.name)
    where = place.folder.archive_stage(node.name, place.now())
    place.event(
        "restart", stage=node.name, keep=0, reason=reason, archive=where, gone=True
    )


def keep_branch(place: Workplace, name: str) -> None:
    """Keep what an instance has in git under another name, and say which."""
    if not os.path.isdir(place.folder.file("worktrees")):
        return
    from looptasks.plugin.result_branch import set_aside  # noqa: PLC0415 - git is seldom

    if branch := set_aside(place, name):
        say(f"the work of {name} so far is on branch `{branch}`")


def _write_state(grove: Grove, name: str) -> None:
    place = grove.place
    loop = grove.tree.stages[name.partition("/")[0]].loop.name
    state = stage_state(place.session, loop, place.record().stage(name), whole=True)
    place.folder.write_state(state)


def invalidate_below(place: Workplace, pipeline: Pipeline, name: str) -> None:
    """Look through what descends from a stage or an instance that was handed on."""
    if not any(stage.parent for stage in pipeline.stages):
        return
    grove = Grove(place, pipeline, Request())
    for group in _groups(grove, name):
        invalidate(grove, outdated(grove, group))
        _reopen(grove, _begun(grove, group))


def _begun(grove: Grove, group: Node) -> Iterator[tuple[str, str]]:
    """Yield the stage of a group that has instances which are not through."""
    record = grove.place.record()
    for node in grove.instances(group):
        if record.stage(node.name).status != "complete":
            yield node.stage, f"{grove.task(node)} is not done"


def _groups(grove: Grove, name: str) -> Iterator[Node]:
    """Yield a group per fan-out that begins at a stage or an instance."""
    stage, *path = name.split("/")
    below = {s.field: s for s in grove.tree.fans() if s.parent == stage}
    for child in below.values():
        yield Node(child.name, tuple(path))
