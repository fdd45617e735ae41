"""A wave: the beads that can run at the same time, a level of the open ones.

Waves are what people see. Work starts as soon as what holds it is done.
"""

from __future__ import annotations

from looptasks.core.bead import SETTLED, labels, status, urgency
from looptasks.core.readiness import holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


def into_waves(board: Board, label: str) -> list[list[str]]:
    """Return the ids of a label's open beads, level by level, the most urgent first.

    What holds a parent holds its children, so they come later than that. A bead without
    the label may stand between two that have it; it makes no level of its own. Beads
    of a cycle, and what comes after one, are in no wave.
    """
    nodes = {b["id"]: b for b in board.live() if status(b) not in SETTLED}
    chosen = {id_ for id_, bead in nodes.items() if not label or label in labels(bead)}
    levels = _levels(board, nodes, chosen)
    waves: list[list[str]] = []
    for id_ in sorted(chosen & levels.keys(), key=lambda id_: urgency(nodes[id_])):
        while len(waves) <= levels[id_]:
            waves.append([])
        waves[levels[id_]].append(id_)
    return waves


def _levels(board: Board, nodes: dict[str, Bead], chosen: set[str]) -> dict[str, int]:
    """Return the level of each bead that no cycle holds, by Kahn's algorithm."""
    users: dict[str, list[str]] = {}
    missing: dict[str, int] = {}
    for id_, bead in nodes.items():
        needs = {hold.by for hold in holds(board, bead)} & nodes.keys()
        missing[id_] = len(needs)
        for need in needs:
            users.setdefault(need, []).append(id_)
    level = dict.fromkeys(nodes, 0)
    free = [id_ for id_, number in missing.items() if number == 0]
    for id_ in free:
        for user in users.get(id_, ()):
            level[user] = max(level[user], level[id_] + (id_ in chosen))
            missing[user] -= 1
            if missing[user] == 0:
                free.append(user)
    return {id_: level[id_] for id_ in free}
