"""Commands that only look: `list`, `ready`, `blocked`, `show`."""

from __future__ import annotations

from looptasks.beads.place import actor, now, store
from looptasks.beads.printing import print_json, say, say_all_of, say_rows
from looptasks.core.bead import (
    DEFAULT_PRIORITY,
    checked_priority,
    checked_status,
    checked_type,
    dependencies,
    kind,
    parents,
    status,
    urgency,
)
from looptasks.core.bead_filter import Filter
from looptasks.core.instant import instant
from looptasks.core.readiness import blocked, holds, ready
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looptasks.beads.asked import Asked
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

_READY_LIMIT = 100
_LIST_LIMIT = 50
_SORTS: dict[str, Callable[[Bead], Any]] = {
    "priority": urgency,
    "hybrid": urgency,
    "oldest": lambda b: instant(b.get("created_at")) or 0,
    "created": lambda b: -(instant(b.get("created_at")) or 0),
    "updated": lambda b: -(instant(b.get("updated_at")) or 0),
    "closed": lambda b: -(instant(b.get("closed_at")) or 0),
    "id": lambda b: b["id"],
    "title": lambda b: str(b.get("title")).lower(),
    "status": status,
    "type": kind,
    "assignee": lambda b: b.get("assignee") or "",
}


def chosen(asked: Asked, board: Board) -> Filter:
    """Return the filter that the flags mean."""
    said: dict[str, Any] = {
        name: asked.list(name)
        for name in ("labels", "any_labels", "without_labels", "ids")
        if asked.list(name)
    }
    for name in ("types", "without_types"):
        said[name] = tuple(checked_type(word) for word in asked.list(name))
    for name in ("parent", "under"):
        if asked.text(name):
            said[name] = board.find(asked.text(name))["id"]
    if "assignee" in asked.values:
        said["assignee"] = asked.text("assignee")
    if asked.text("priority"):
        said["priority"] = checked_priority(asked.text("priority"))
    return Filter(title=asked.text("title"), unassigned=asked.yes("unassigned"), **said)


def limited(beads: list[Bead], asked: Asked, limit: int) -> list[Bead]:
    """Return the beads in the order and number that the flags mean."""
    sort = asked.text("sort")
    if sort:
        if sort not in _SORTS:
            raise UsageError(f"`{sort}` is no order", fix=f"one of {', '.join(_SORTS)}")
        beads = sorted(beads, key=_SORTS[sort])
    if asked.yes("reverse"):
        beads = beads[::-1]
    text = asked.text("limit")
    if text and not text.isdecimal():
        raise UsageError(f"`{text}` is no number", fix="use `-n 10`, or `-n 0` for all")
    return beads[: (int(text) if text else limit) or None]


def counted(beads: list[Bead], board: Board) -> list[Bead]:
    """Return beads as listings show them; of dependents only the open ones count."""
    users: dict[str, int] = {}
    for bead in board.live():
        for entry in dependencies(bead):
            on = entry["depends_on_id"]
            users[on] = users.get(on, 0) + 1
    return [
        {
            **bead,
            "priority": bead.get("priority", DEFAULT_PRIORITY),
            "dependency_count": len(dependencies(bead)),
            "dependent_count": users.get(bead["id"], 0),
            "comment_count": len(bead.get("comments") or []),
            **({"parent": parents(bead)[0]} if parents(bead) else {}),
        }
        for bead in beads
    ]


def ready_command(asked: Asked) -> int:
    """Show what can be worked on, or take the first of it."""
    beads = store()
    if asked.yes("claim"):
        return _claim_first(asked)
    board = beads.beads()
    found = ready(board, now(), chosen(asked, board))
    found = limited(found, asked, _READY_LIMIT)
    if asked.yes("explain"):
        return _explain(asked, board, found)
    if asked.yes("json"):
        print_json(counted(found, board))
    else:
        say_rows(found, "No ready work")
    return 0


def _claim_first(asked: Asked) -> int:
    from looptasks.core.bead_change import claim  # noqa: PLC0415 - writers only
    from looptasks.effects.jsonl_beads import moment  # noqa: PLC0415

    who = moment(actor(asked))

    def decide(board: Board) -> list[Bead]:
        found = ready(board, now(), chosen(asked, board))
        free = [b for b in found if b.get("assignee") in (None, "", who.actor)]
        return [claim(board, b["id"], who) for b in limited(free, asked, 0)[:1]]

    taken = store().change(decide)
    if asked.yes("json"):
        print_json(list(taken))
    else:
        say_rows(taken, "No ready work")
    return 0


def _explain(asked: Asked, board: Board, found: list[Bead]) -> int:
    held = blocked(board, chosen(asked, board))
    if asked.yes("json"):
        rest = [{**bead, "blocked_by": [h.by for h in why]} for bead, why in held]
        print_json({"ready": counted(found, board), "blocked": rest})
        return 0
    say_rows(found, "No ready work")
    for bead, why in held:
        say(f"● {bead['id']} {' and '.join(dict.fromkeys(map(str, why)))}")
    return 0


def list_command(asked: Asked) -> int:
    """Show beads."""
    board = store().beads()
    wanted = chosen(asked, board)
    said = asked.list("statuses")
    everything = asked.yes("all") or "all" in said or bool(wanted.ids)
    wanted.statuses = tuple(checked_status(s) for s in said if s != "all")
    if asked.yes("ready"):
        found = ready(board, now(), wanted)
    else:
        closed = everything or "closed" in wanted.statuses
        pool = board.all() if closed else board.live()
        gone = () if closed else ("tombstone",)
        fitting = (b for b in pool if status(b) not in gone and wanted.fits(b, board))
        found = sorted(fitting, key=urgency)
    found = limited(found, asked, _LIST_LIMIT)
    if asked.yes("json"):
        print_json(counted(found, board))
    else:
        say_rows(found, "No beads found")
    return 0


def blocked_command(asked: Asked) -> int:
    """Show what is held, and by what."""
    board = store().beads()
    held = blocked(board, chosen(asked, board))
    wanted = limited([bead for bead, _ in held], asked, 0)
    held = [pair for pair in held if pair[0] in wanted]
    if asked.yes("json"):
        print_json([_with_blockers(bead, [h.by for h in why]) for bead, why in held])
    elif not held:
        say("No blocked beads")
    for bead, why in () if asked.yes("json") else held:
        say_rows([bead], "")
        say("".join(f"    {line}\n" for line in dict.fromkeys(map(str, why))).rstrip())
    return 0


def _with_blockers(bead: Bead, ids: list[str]) -> Bead:
    once = list(dict.fromkeys(ids))
    return {**bead, "blocked_by_count": len(once), "blocked_by": once}


def show_command(asked: Asked) -> int:
    """Show beads in full."""
    board = store().beads()
    names = [*asked.words, *asked.list("ids")]
    if not names:
        raise UsageError("`show` needs an id", fix="`show ID`")
    beads = [board.find(name) for name in names]
    if asked.yes("json"):
        print_json([_detailed(board, bead) for bead in beads])
    elif asked.yes("short"):
        say_rows(beads, "")
    else:
        for bead in beads:
            say_all_of(bead)
            for hold in holds(board, bead):
                say(f"  held: {hold}")
    return 0


def _detailed(board: Board, bead: Bead) -> Bead:
    """Return a bead with the beads around it, as `bd show` does."""
    needs = [
        {**_head(board.get(entry["depends_on_id"])), "dependency_type": entry["type"]}
        for entry in dependencies(bead)
        if entry["depends_on_id"] in board
    ]
    users = [
        {**_head(user), "dependency_type": entry["type"]}
        for user in board.mentioning(bead["id"])
        for entry in dependencies(user)
        if entry["depends_on_id"] == bead["id"]
    ]
    above = parents(bead)
    return {
        **bead,
        **({"dependencies": needs} if needs else {}),
        **({"dependents": users} if users else {}),
        **({"parent": above[0]} if above else {}),
    }


def _head(bead: Bead | None) -> Bead:
    skipped = ("dependencies", "comments")
    return {name: value for name, value in (bead or {}).items() if name not in skipped}


COMMANDS = {
    "list": list_command,
    "ready": ready_command,
    "blocked": blocked_command,
    "show": show_command,
}
