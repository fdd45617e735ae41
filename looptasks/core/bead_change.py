"""A change to a bead: the board in, the changed beads out, or the reason why not."""

from __future__ import annotations

from looptasks.core.bead import (
    SETTLED,
    checked_priority,
    checked_status,
    checked_title,
    checked_type,
    is_pinned,
    kind,
    labels,
    parents,
    status,
)
from looptasks.core.bead_order import in_order
from looptasks.core.dependency import check_new, with_dependency, without_dependency
from looptasks.core.readiness import own_holds
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


class Moment:
    """Who changes a bead, and when."""

    __slots__ = ("actor", "at")

    def __init__(self, actor: str, at: str) -> None:
        self.actor = actor
        self.at = at


def _changed(bead: Bead, moment: Moment, **fields: object) -> Bead:
    """Return the bead with other fields; those that are empty are left out."""
    new = {**bead, **fields, "updated_at": moment.at}
    for name, value in fields.items():
        if value in ("", None, [], {}):
            del new[name]
    return in_order(new)


def claim(board: Board, id_: str, moment: Moment) -> Bead:
    """Take a bead to work on; taking one's own again changes nothing."""
    bead = board.find(id_)
    holder = bead.get("assignee") or ""
    state = status(bead)
    if holder == moment.actor and state == "in_progress":
        return bead
    if holder and holder != moment.actor:
        raise UsageError(
            f"`{bead['id']}` is already claimed by `{holder}`",
            fix="take another one: `ready` shows them",
        )
    if state != "open":
        raise UsageError(
            f"`{bead['id']}` is `{state}`, and only an open bead can be claimed",
            fix="take another one: `ready` shows them",
        )
    return _changed(
        bead,
        moment,
        status="in_progress",
        assignee=moment.actor,
        started_at=bead.get("started_at") or moment.at,
    )


def release(board: Board, id_: str, moment: Moment) -> Bead:
    """Let others have a claimed bead: it needs both the status and no assignee."""
    bead = board.find(id_)
    if status(bead) in SETTLED:
        return bead
    return _changed(bead, moment, status="open", assignee="", started_at="")


def close(
    board: Board, id_: str, reason: str, moment: Moment, *, force: bool = False
) -> Bead:
    """Say that a bead is done; what is still held by others is not."""
    bead = board.find(id_)
    if status(bead) == "closed":
        return bead
    if not force:
        _check_closable(board, bead)
    return _changed(
        bead,
        moment,
        status="closed",
        closed_at=moment.at,
        close_reason=reason or "Closed",
    )


def _check_closable(board: Board, bead: Bead) -> None:
    fix = f"close those first, or `close {bead['id']} --force`"
    blockers = [h.by for h in own_holds(board, bead) if h.kind != "unneeded"]
    if blockers:
        raise UsageError(f"`{bead['id']}` is blocked by {_named(blockers)}", fix=fix)
    if is_pinned(bead):
        raise UsageError(f"`{bead['id']}` is pinned", fix="unpin it, or use `--force`")
    children = board.children(bead["id"]) if kind(bead) == "epic" else []
    left = [id_ for id_ in children if board.status(id_) not in SETTLED]
    if left:
        raise UsageError(
            f"epic `{bead['id']}` has open children: {_named(left)}", fix=fix
        )


def _named(ids: list[str]) -> str:
    return ", ".join(f"`{id_}`" for id_ in dict.fromkeys(ids))


def reopen(board: Board, id_: str, reason: str, moment: Moment) -> Bead:
    """Say that a closed bead is not done after all; the reason becomes a comment."""
    bead = board.find(id_)
    if status(bead) == "open":
        return bead
    fields: dict[str, Any] = dict.fromkeys(
        ("closed_at", "close_reason", "defer_until", "closed_by_session"), ""
    )
    if reason:
        comments = bead.get("comments") or []
        fields["comments"] = [*comments, _comment(bead, reason, moment)]
    return _changed(bead, moment, status="open", **fields)


def _comment(bead: Bead, text: str, moment: Moment) -> dict[str, Any]:
    numbers = [c.get("id") for c in bead.get("comments") or []]
    last = max((n for n in numbers if isinstance(n, int)), default=len(numbers))
    return {
        "id": last + 1,
        "issue_id": bead["id"],
        "author": moment.actor,
        "text": text,
        "created_at": moment.at,
    }


def update(board: Board, id_: str, fields: dict[str, Any], moment: Moment) -> Bead:
    """Change fields of a bead: those of its line, `append_notes`, and labels."""
    bead = board.find(id_)
    rest = dict(fields)
    new_status = rest.pop("status", None)
    new_labels = _relabelled(bead, rest)
    if new_labels != labels(bead):
        rest["labels"] = new_labels
    more = rest.pop("append_notes", "")
    if more:
        rest["notes"] = "\n".join(filter(None, (bead.get("notes"), more)))
    bead = _changed(bead, moment, **checked(rest))
    if new_status is None:
        return bead
    return _with_status(board.after([bead]), bead, checked_status(new_status), moment)


def checked(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields as a bead may have them."""
    checks = {
        "title": checked_title,
        "priority": checked_priority,
        "issue_type": checked_type,
    }
    return {n: checks[n](v) if n in checks else v for n, v in fields.items()}


def _relabelled(bead: Bead, fields: dict[str, Any]) -> list[str]:
    """Return the labels after what `fields` says of them, which is taken out."""
    start = fields.pop("set_labels", None)
    found = list(labels(bead) if start is None else start)
    found += fields.pop("add_labels", ())
    dropped = fields.pop("remove_labels", ())
    return [label for label in dict.fromkeys(found) if label not in dropped]


def _with_status(board: Board, bead: Bead, new: str, moment: Moment) -> Bead:
    if new == status(bead):
        return bead
    if new == "closed":
        return close(board, bead["id"], "", moment)
    if status(bead) == "closed":
        bead = reopen(board, bead["id"], "", moment)
    started = bead.get("started_at") or (moment.at if new == "in_progress" else "")
    return _changed(bead, moment, status=new, started_at=started)


def depend(board: Board, id_: str, entry: dict[str, Any], moment: Moment) -> Bead:
    """Let a bead depend on another; `entry` has `on`, `type` and maybe `metadata`."""
    bead = board.find(id_)
    on = board.find(entry["on"])["id"]
    check_new(board, bead, on, entry["type"])
    new = with_dependency(
        bead,
        {
            "issue_id": bead["id"],
            "depends_on_id": on,
            "type": entry["type"],
            "created_at": moment.at,
            "created_by": moment.actor,
            **({"metadata": entry["metadata"]} if entry.get("metadata") else {}),
        },
    )
    return bead if new is bead else _changed(new, moment)


def no_longer_depend(board: Board, id_: str, on: str, moment: Moment) -> Bead:
    """Take a dependency away."""
    bead = board.find(id_)
    target = on if on in _needed(bead) else board.find(on)["id"]
    new = without_dependency(bead, target)
    return _changed(new, moment, dependencies=new["dependencies"])


def _needed(bead: Bead) -> list[str]:
    return [d["depends_on_id"] for d in bead.get("dependencies") or []]


def move(board: Board, id_: str, parent: str, moment: Moment) -> Bead:
    """Give a bead another parent, or none."""
    bead = board.find(id_)
    for old in parents(bead):
        bead = without_dependency(bead, old)
    bead = _changed(bead, moment, dependencies=bead.get("dependencies") or [])
    if not parent:
        return bead
    entry = {"on": parent, "type": "parent-child"}
    return depend(board.after([bead]), bead["id"], entry, moment)
