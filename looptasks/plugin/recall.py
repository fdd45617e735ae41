"""A recall: running work is ended at once when what it rests on iterates again.

Only where `invalidate: now` says so; otherwise work is left alone until its iteration
is over.
"""

import threading

from looptasks.core.instance import Tree, node_of
from looptasks.core.pipeline import Pipeline
from looptasks.plugin.processes import processes
from looptasks.plugin.workplace import Workplace

_LOOK = 0.3
_watched: set[int] = set()


def watch(place: Workplace, pipeline: Pipeline) -> None:
    """End what descends from a stage that iterates again, while the run lasts."""
    if not any(stage.loop.invalidate == "now" for stage in pipeline.stages):
        return
    if id(place) in _watched:
        return
    _watched.add(id(place))
    threading.Thread(target=_watch, args=(place, pipeline), daemon=True).start()


def _watch(place: Workplace, pipeline: Pipeline) -> None:
    tree = Tree(pipeline)
    while not place.interrupted.wait(_LOOK):
        if place.news() and (folders := _called_back(place, tree)):
            processes().stop_below(folders)


def _called_back(place: Workplace, tree: Tree) -> list[str]:
    """Return the folders of what rests on stages that are to iterate at once."""
    above = [
        node
        for name in place.newly()
        if (node := node_of(name)).stage in tree.stages
        and tree.stages[node.stage].loop.invalidate == "now"
    ]
    below = [
        name
        for name in list(place.record().stages)
        if (node := node_of(name)).stage in tree.stages
        and any(tree.is_below(node, other) for other in above)
    ]
    return [place.folder.stage(name, "") for name in below]
