"""The birth of a bead: its id, its fields, and what it depends on from the start."""

from __future__ import annotations

from looptasks.core.bead import DEFAULT_PRIORITY, checked_title, labels
from looptasks.core.bead_change import Moment, checked, depend
from looptasks.core.bead_id import checked_id, child_id, new_id, prefix_of
from looptasks.core.bead_order import in_order
from looptasks.core.dependency import checked_way
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


class Source:
    """Where a new id comes from: a prefix for the first bead, and randomness."""

    __slots__ = ("prefix", "randomness")

    def __init__(self, prefix: str, randomness: int) -> None:
        self.prefix = prefix
        self.randomness = randomness


def create(
    board: Board, fields: dict[str, Any], source: Source, moment: Moment
) -> list[Bead]:
    """Return the new bead first, then the beads that it blocks.

    Beside the fields of a line, `parent`, `deps` (a list of `way:id`), `waits_for` and
    `gate` may be said, and `inherit` for the labels of the parent.
    """
    rest = dict(fields)
    parent = rest.pop("parent", "")
    deps = rest.pop("deps", ())
    entries = [_entry(text) for text in deps] + _waiting(rest)
    if parent:
        above = board.find(parent)
        entries.append((False, {"on": above["id"], "type": "parent-child"}))
        _inherit(rest, above)
    rest.pop("inherit", None)
    rest["id"] = _id(board, rest.get("id", ""), parent, source)
    bead = _newborn(rest, moment)
    return _connected(board, bead, entries, moment)


def _id(board: Board, wanted: str, parent: str, source: Source) -> str:
    if wanted:
        if wanted in board:
            raise UsageError(f"there is a bead `{wanted}` already", fix="omit `--id`")
        return checked_id(wanted)
    if parent:
        return child_id(board.find(parent)["id"], board.ids())
    known = board.ids()
    prefix = prefix_of(known[0]) if known else source.prefix
    return new_id(prefix, set(known), source.randomness)


def _inherit(fields: dict[str, Any], parent: Bead) -> None:
    if fields.get("inherit", True):
        both = [*fields.get("labels", ()), *labels(parent)]
        fields["labels"] = list(dict.fromkeys(both))


def _newborn(fields: dict[str, Any], moment: Moment) -> Bead:
    said = {name: value for name, value in fields.items() if value not in ("", [])}
    return in_order(
        {
            "priority": DEFAULT_PRIORITY,
            "issue_type": "task",
            "status": "open",
            **checked(said),
            "title": checked_title(fields.get("title", "")),
            "created_at": moment.at,
            "created_by": moment.actor,
            "updated_at": moment.at,
        }
    )


def _entry(text: str) -> tuple[bool, dict[str, Any]]:
    """Return whether the other bead depends on the new one, and the dependency.

    A bare id is what the new bead depends on. `blocks:X` reads as it sounds: the new
    bead blocks X.
    """
    way, colon, id_ = text.strip().partition(":")
    if not colon:
        return False, {"on": way, "type": "blocks"}
    if way.strip() == "depends-on":
        return False, {"on": id_.strip(), "type": "blocks"}
    return way.strip() == "blocks", {"on": id_.strip(), "type": checked_way(way)}


def _waiting(fields: dict[str, Any]) -> list[tuple[bool, dict[str, Any]]]:
    on, gate = fields.pop("waits_for", ""), fields.pop("gate", "")
    if not on:
        return []
    if gate not in ("", "all-children", "any-children"):
        raise UsageError(
            f"`{gate}` is no gate", fix="use `all-children` or `any-children`"
        )
    metadata = f'{{"gate":"{gate or "all-children"}"}}'
    return [(False, {"on": on, "type": "waits-for", "metadata": metadata})]


def _connected(
    board: Board, bead: Bead, entries: list[tuple[bool, dict[str, Any]]], moment: Moment
) -> list[Bead]:
    """Return the new bead with its dependencies, and the beads that depend on it."""
    board = board.after([bead])
    touched = [bead["id"]]
    for reverse, entry in entries:
        user = board.find(entry["on"])["id"] if reverse else bead["id"]
        asked = {**entry, "on": bead["id"]} if reverse else entry
        board = board.after([depend(board, user, asked, moment)])
        touched.append(user)
    found = (board.get(id_) for id_ in dict.fromkeys(touched))
    return [one for one in found if one is not None]
