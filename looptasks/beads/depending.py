"""The command `dep`: what depends on what."""

from __future__ import annotations

from looptasks.beads.drawing import mermaid, says_up, tree_rows, tree_text
from looptasks.beads.place import actor, store
from looptasks.beads.printing import print_json, say, say_rows
from looptasks.core.bead import dependencies
from looptasks.core.bead_change import depend, no_longer_depend
from looptasks.core.dependency import arrows, checked_way, find_cycles
from looptasks.effects.jsonl_beads import moment
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.beads.asked import Asked
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


def dep_command(asked: Asked) -> int:
    """Do what the first word says."""
    what, *names = asked.words or [""]
    if asked.text("blocks"):
        # `dep A --blocks B`: B depends on A.
        return _add(asked, asked.text("blocks"), what)
    if asked.text("on"):
        names.append(asked.text("on"))
    needed = {"add": 2, "remove": 2, "rm": 2, "list": 1, "tree": 1, "cycles": 0}
    if what not in needed or len(names) != needed[what]:
        raise UsageError("`dep` needs to know what to do", fix="`dep --help` tells")
    if what == "add":
        return _add(asked, *names)
    if what in ("remove", "rm"):
        return _remove(asked, *names)
    if what == "cycles":
        return _cycles(asked)
    return _list(asked, names[0]) if what == "list" else _tree(asked, names[0])


def _add(asked: Asked, id_: str, on: str) -> int:
    entry = {"on": on, "type": checked_way(asked.text("type") or "blocks")}
    who = moment(actor(asked))
    ids: list[str] = []

    def decide(board: Board) -> list[Bead]:
        ids[:] = board.find(id_)["id"], board.find(on)["id"]
        return [depend(board, id_, entry, who)]

    store().change(decide)
    said = {"issue_id": ids[0], "depends_on_id": ids[1], "type": entry["type"]}
    if asked.yes("json"):
        print_json({"status": "added", **said})
    else:
        say(f"{ids[0]} depends on {ids[1]} ({entry['type']})")
    return 0


def _remove(asked: Asked, id_: str, on: str) -> int:
    who = moment(actor(asked))
    beads = store().change(lambda board: [no_longer_depend(board, id_, on, who)])
    full = beads[0]["id"]
    if asked.yes("json"):
        print_json({"status": "removed", "issue_id": full, "depends_on_id": on})
    else:
        say(f"{full} no longer depends on {on}")
    return 0


def _list(asked: Asked, id_: str) -> int:
    board = store().beads()
    bead = board.find(id_)
    pairs = _users(board, bead) if says_up(asked) else _needs(board, bead)
    wanted = asked.text("type")
    found = [{**b, "dependency_type": w} for b, w in pairs if wanted in ("", w)]
    if asked.yes("json"):
        print_json(found)
    else:
        say_rows(found, f"{bead['id']} has no dependencies")
    return 0


def _needs(board: Board, bead: Bead) -> list[tuple[Bead, str]]:
    pairs = ((board.get(d["depends_on_id"]), d["type"]) for d in dependencies(bead))
    return [(found, way) for found, way in pairs if found is not None]


def _users(board: Board, bead: Bead) -> list[tuple[Bead, str]]:
    return [
        (user, entry["type"])
        for user in board.mentioning(bead["id"])
        for entry in dependencies(user)
        if entry["depends_on_id"] == bead["id"]
    ]


def _tree(asked: Asked, id_: str) -> int:
    board = store().beads()
    rows = tree_rows(board, board.find(id_)["id"], up=says_up(asked))
    if asked.text("format") == "mermaid":
        say(mermaid(board, sorted({row[1] for row in rows})))
    elif asked.yes("json"):
        print_json([_node(board, rows, at) for at in range(len(rows))])
    else:
        say(tree_text(board, rows))
    return 0


def _node(board: Board, rows: list[tuple[int, str, str, bool]], at: int) -> Bead:
    depth, here, way, again = rows[at]
    above = next((r[1] for r in rows[at::-1] if r[0] == depth - 1), here)
    bead = board.get(here) or {"id": here}
    edge = {"edge_from_parent": way} if way else {}
    return {**bead, "depth": depth, "parent_id": above, "truncated": again, **edge}


def _cycles(asked: Asked) -> int:
    board = store().beads()
    found = find_cycles(board)
    if asked.yes("json"):
        print_json([[board.get(id_) for id_ in path[:-1]] for path in found])
    else:
        say("\n".join(arrows(path) for path in found) or "No cycles")
    return 0


COMMANDS = {"dep": dep_command}
