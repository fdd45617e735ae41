"""The command `graph`: what waits for what, as text or for Graphviz and Mermaid."""

from __future__ import annotations

from looptasks.beads.place import store
from looptasks.beads.printing import print_json, row, say
from looptasks.core import json_text
from looptasks.core.bead import SETTLED, dependencies, status
from looptasks.core.bead_filter import Filter
from looptasks.core.dependency import HOLDING, tree
from looptasks.core.wave import into_waves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.beads.asked import Asked
    from looptasks.core.board import Board


def graph_command(asked: Asked) -> int:
    """Draw the beads that are wanted."""
    board = store().beads()
    ids = _wanted(asked, board)
    if asked.yes("dot"):
        say(dot(board, ids))
    elif asked.yes("mermaid"):
        say(mermaid(board, ids))
    elif asked.yes("json"):
        print_json(
            {"nodes": [board.get(id_) for id_ in ids], "edges": _json(board, ids)}
        )
    elif asked.words:
        say(tree_text(board, tree_rows(board, board.find(asked.words[0])["id"])))
    else:
        say(_text(board, ids) or "No beads")
    return 0


def tree_text(board: Board, rows: list[tuple[int, str, str, bool]]) -> str:
    """Return a tree as indented lines."""
    lines = []
    for depth, here, way, again in rows:
        bead = board.get(here) or {"id": here, "title": "(there is no such bead)"}
        note = f" <- {way}" if way else ""
        lines.append(f"{'  ' * depth}{row(bead)}{note}{' (see above)' * again}")
    return "\n".join(lines)


def _wanted(asked: Asked, board: Board) -> list[str]:
    if asked.words:
        top = board.find(asked.words[0])["id"]
        return sorted(
            {here for _, here, _, _ in tree_rows(board, top) if here in board}
        )
    pool = board.all() if asked.yes("all") else board.live()
    wanted = Filter(labels=asked.list("labels"))
    return sorted(
        bead["id"]
        for bead in pool
        if wanted.fits(bead, board)
        and (asked.yes("all") or status(bead) not in SETTLED)
    )


def tree_rows(
    board: Board, id_: str, *, up: bool = False
) -> list[tuple[int, str, str, bool]]:
    """Return the rows of the tree of what a bead needs, or of what needs it."""

    def down(here: str) -> list[tuple[str, str]]:
        entries = dependencies(board.get(here) or {})
        return [(e["depends_on_id"], e["type"]) for e in entries]

    def upward(here: str) -> list[tuple[str, str]]:
        return [
            (user["id"], entry["type"])
            for user in board.mentioning(here)
            for entry in dependencies(user)
            if entry["depends_on_id"] == here
        ]

    return tree(board, id_, upward if up else down)


def says_up(asked: Asked) -> bool:
    """Tell whether dependents are asked for, not dependencies."""
    return asked.text("direction") == "up" or asked.yes("reverse")


def _edges(board: Board, ids: list[str]) -> list[tuple[str, str, str]]:
    """Return bead, what it needs, and how, among these."""
    among = set(ids)
    return [
        (id_, entry["depends_on_id"], entry["type"])
        for id_ in ids
        for entry in dependencies(board.get(id_) or {})
        if entry["depends_on_id"] in among and entry.get("type") in HOLDING
    ]


def _json(board: Board, ids: list[str]) -> list[dict[str, str]]:
    return [
        {"issue_id": id_, "depends_on_id": on, "type": way}
        for id_, on, way in _edges(board, ids)
    ]


def _title(board: Board, id_: str) -> str:
    bead = board.get(id_) or {}
    return f"{id_}: {bead.get('title')}"


def dot(board: Board, ids: list[str]) -> str:
    """Return the graph for Graphviz; an arrow goes from a blocker to what waits."""
    # A JSON string is a string of Graphviz too.
    lines = ["digraph beads {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [
        f"  {json_text.line(id_)} [label={json_text.line(_title(board, id_))}];"
        for id_ in ids
    ]
    for id_, on, way in _edges(board, ids):
        style = " [style=dashed]" if way == "parent-child" else ""
        lines.append(f"  {json_text.line(on)} -> {json_text.line(id_)}{style};")
    return "\n".join([*lines, "}"])


def mermaid(board: Board, ids: list[str]) -> str:
    """Return the graph for Mermaid."""
    names = {id_: f"n{number}" for number, id_ in enumerate(ids)}
    lines = ["flowchart LR"]
    for id_ in ids:
        title = _title(board, id_).replace('"', "#quot;").replace("\n", " ")
        lines.append(f'  {names[id_]}["{title}"]')
    for id_, on, way in _edges(board, ids):
        arrow = "-.->" if way == "parent-child" else "-->"
        lines.append(f"  {names[on]} {arrow} {names[id_]}")
    return "\n".join(lines)


def _text(board: Board, ids: list[str]) -> str:
    """Return the beads wave by wave, each with what it waits for."""
    among = set(ids)
    lines: list[str] = []
    waves = [[i for i in wave if i in among] for wave in into_waves(board, "")]
    placed = {id_ for wave in waves for id_ in wave}
    rest = [id_ for id_ in ids if id_ not in placed]
    groups = [(f"wave {n}", wave) for n, wave in enumerate(filter(None, waves), 1)]
    for name, wave in [*groups, ("closed, pinned, or in a cycle", rest)]:
        if wave:
            lines.append(f"{name}:")
            lines += [f"  {_line(board, id_)}" for id_ in wave]
    return "\n".join(lines)


def _line(board: Board, id_: str) -> str:
    bead = board.get(id_) or {"id": id_}
    needs = [f"{on} ({way})" for _, on, way in _edges_of(board, id_)]
    return row(bead) + (f"  <- {', '.join(needs)}" if needs else "")


def _edges_of(board: Board, id_: str) -> list[tuple[str, str, str]]:
    entries = dependencies(board.get(id_) or {})
    return [(id_, e["depends_on_id"], e["type"]) for e in entries]


COMMANDS = {"graph": graph_command}
