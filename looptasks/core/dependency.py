"""A dependency: one bead needs another, in one of several ways."""

from __future__ import annotations

from looptasks.core.bead import SETTLED, dependencies, parents, status, targets
from looptasks.core.readiness import holds
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

# The ways that matter for readiness; all others only tell a story.
HOLDING = ("blocks", "parent-child", "conditional-blocks", "waits-for")
TELLING = (
    "related",
    "relates-to",
    "discovered-from",
    "duplicates",
    "supersedes",
    "caused-by",
    "validates",
    "tracks",
    "until",
    "replies-to",
)


def checked_way(word: str) -> str:
    """Return the way of depending that a word means."""
    way = word.strip().lower()
    if way in HOLDING or way in TELLING:
        return way
    from looptasks.core.suggestion import choice  # noqa: PLC0415 - only for mistakes

    raise UsageError(
        f"`{word}` is no way to depend", fix=choice(way, (*HOLDING, *TELLING))
    )


def check_new(board: Board, bead: Bead, on: str, way: str) -> None:
    """Refuse a dependency that could never be satisfied."""
    id_ = bead["id"]
    if on == id_:
        raise UsageError(f"`{id_}` cannot depend on itself", fix="name another bead")
    if way not in HOLDING:
        return
    path = path_between(board, on, id_)
    if path:
        raise UsageError(
            f"that would be a cycle: {arrows([id_, *path])}",
            fix=f"remove one of them first: `dep remove {path[-2]} {id_}`",
        )
    if on in parents(bead) and way != "parent-child":
        raise UsageError(
            f"`{id_}` is a child of `{on}`, which cannot close before it",
            fix="a child needs no dependency on its parent",
        )


def path_between(board: Board, start: str, end: str) -> list[str]:
    """Return a way from one bead to another along what holds, empty when none."""
    came_from = {start: ""}
    queue = [start]
    for id_ in queue:
        if id_ == end:
            return _walked(came_from, end)
        for target in targets(board.get(id_) or {}, *HOLDING):
            if target not in came_from:
                came_from[target] = id_
                queue.append(target)
    return []


def _walked(came_from: dict[str, str], end: str) -> list[str]:
    path = [end]
    while came_from[path[-1]]:
        path.append(came_from[path[-1]])
    return path[::-1]


def arrows(path: Iterable[str]) -> str:
    """Return a path as it is printed."""
    return " -> ".join(path)


def with_dependency(bead: Bead, entry: dict[str, object]) -> Bead:
    """Return the bead with one more dependency; a repeated one changes nothing."""
    for known in dependencies(bead):
        if known["depends_on_id"] == entry["depends_on_id"]:
            if known.get("type") == entry["type"]:
                return bead
            raise UsageError(
                f"`{bead['id']}` depends on `{entry['depends_on_id']}` already, "
                f"as `{known.get('type')}`",
                fix=f"first `dep remove {bead['id']} {entry['depends_on_id']}`",
            )
    return {**bead, "dependencies": [*dependencies(bead), entry]}


def without_dependency(bead: Bead, on: str) -> Bead:
    """Return the bead without its dependency on another."""
    kept = [d for d in dependencies(bead) if d["depends_on_id"] != on]
    if len(kept) == len(dependencies(bead)):
        raise UsageError(
            f"`{bead['id']}` does not depend on `{on}`",
            fix=f"`dep list {bead['id']}` shows what it depends on",
        )
    return {**bead, "dependencies": kept}


def find_cycles(board: Board) -> list[list[str]]:
    """Return the cycles that keep beads from ever being ready, each once.

    A path goes from a bead to what it waits for, and ends where it began.
    """
    needs = {
        bead["id"]: [hold.by for hold in holds(board, bead)]
        for bead in board.live()
        if status(bead) not in SETTLED
    }
    return cycles_in(needs)


def cycles_in(needs: dict[str, list[str]]) -> list[list[str]]:
    """Return one cycle for each knot of a graph, from what needs what."""
    left = _knotted(needs)
    found = []
    done: set[str] = set()
    for start in sorted(left):
        path: list[str] = []
        here = start
        while here not in done and here not in path:
            path.append(here)
            here = next(id_ for id_ in left[here])
        if here not in done:
            found.append(_rotated(path[path.index(here) :]))
        done.update(path)
    return found


def _knotted(needs: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return what is left when all is taken away that can be finished."""
    users: dict[str, list[str]] = {}
    missing = {id_: {n for n in wanted if n in needs} for id_, wanted in needs.items()}
    for id_, wanted in missing.items():
        for need in wanted:
            users.setdefault(need, []).append(id_)
    count = {id_: len(wanted) for id_, wanted in missing.items()}
    free = [id_ for id_, number in count.items() if number == 0]
    for id_ in free:
        for user in users.get(id_, ()):
            count[user] -= 1
            if count[user] == 0:
                free.append(user)
    stuck = {id_ for id_, number in count.items() if number}
    return {id_: sorted(missing[id_] & stuck) for id_ in stuck}


def _rotated(cycle: list[str]) -> list[str]:
    """Return the cycle from its first id on, closed."""
    first = cycle.index(min(cycle))
    return [*cycle[first:], *cycle[:first], cycle[first]]


def tree(
    board: Board, id_: str, below: Callable[[str], list[tuple[str, str]]]
) -> list[tuple[int, str, str, bool]]:
    """Return depth, id, way and whether it was shown before, from the top down."""
    rows: list[tuple[int, str, str, bool]] = []
    seen: set[str] = set()
    stack = [(0, id_, "")]
    while stack:
        depth, here, way = stack.pop()
        rows.append((depth, here, way, here in seen))
        if here not in seen and here in board:
            seen.add(here)
            for target, how in reversed(below(here)):
                stack.append((depth + 1, target, how))
    return rows
