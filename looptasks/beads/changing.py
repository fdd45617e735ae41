"""Commands that change beads: `create`, `update`, `close`, `reopen`, `label`."""

from __future__ import annotations

import os
import sys

from looptasks.beads.place import actor, now, store, time_of
from looptasks.beads.printing import print_json, say, say_rows
from looptasks.core import bead_change
from looptasks.core.bead import labels
from looptasks.core.bead_birth import Source, create
from looptasks.core.bead_filter import Filter
from looptasks.core.bead_id import prefix_from
from looptasks.core.readiness import ready
from looptasks.effects.jsonl_beads import JsonlBeads, moment
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looptasks.beads.asked import Asked
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

# Flags whose text goes into a field of the bead as it is.
_PLAIN = {
    "title": "title",
    "description": "description",
    "design": "design",
    "acceptance": "acceptance_criteria",
    "notes": "notes",
    "append_notes": "append_notes",
    "assignee": "assignee",
    "external_ref": "external_ref",
    "priority": "priority",
    "type": "issue_type",
    "status": "status",
    "id": "id",
    "waits_for": "waits_for",
    "gate": "gate",
    "deps": "deps",
    "add_labels": "add_labels",
    "remove_labels": "remove_labels",
    "set_labels": "set_labels",
    "labels": "labels",
}
_TIMES = {"due": "due_at", "defer": "defer_until"}


def fields_of(asked: Asked) -> dict[str, Any]:
    """Return the fields that the flags mean."""
    said = asked.values
    fields = {field: said[flag] for flag, field in _PLAIN.items() if flag in said}
    fields |= {f: time_of(said[flag]) for flag, f in _TIMES.items() if flag in said}
    if asked.yes("stdin") or "body_file" in said:
        fields["description"] = _body(asked.text("body_file"))
    if "estimate" in said:
        if not said["estimate"].isdecimal():
            raise UsageError(f"`{said['estimate']}` is no number of minutes")
        fields["estimated_minutes"] = int(said["estimate"])
    return fields


def _body(path: str) -> str:
    if path in ("", "-"):
        return sys.stdin.read().rstrip("\n")
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes 5 ms
            return file.read().rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=path) from error


def create_command(asked: Asked) -> int:
    """Add a bead."""
    fields = fields_of(asked)
    if len(asked.words) > 1:
        raise UsageError(
            f"one title, and not also `{asked.words[1]}`", fix="put it in quotes"
        )
    if asked.words:
        fields["title"] = asked.words[0]
    fields["parent"] = asked.text("parent")
    fields["inherit"] = not asked.yes("no_inherit")
    if asked.yes("ephemeral"):
        fields["ephemeral"] = True
    bead = _create(asked, fields)
    if asked.yes("json"):
        print_json(bead)
    elif asked.yes("silent") or asked.yes("quiet"):
        say(bead["id"])
    else:
        verb = "Would create" if asked.yes("dry_run") else "Created"
        say(f"{verb} {bead['id']}: {bead['title']}")
    return 0


def _create(asked: Asked, fields: dict[str, Any]) -> Bead:
    beads = store()
    if not asked.yes("dry_run"):
        return JsonlBeads(beads.folder).create(fields, actor(asked))
    project = os.path.basename(os.path.dirname(beads.folder))  # noqa: PTH119, PTH120
    source = Source(prefix_from(project), 0)
    return create(beads.beads(), fields, source, moment(actor(asked)))[0]


def update_command(asked: Asked) -> int:
    """Change beads."""
    fields = fields_of(asked)
    parent = asked.values.get("parent")
    if not (fields or asked.yes("claim") or parent is not None):
        raise UsageError("nothing to change", fix="`update --help` lists what can be")
    who = moment(actor(asked))

    def change(board: Board, id_: str) -> Bead:
        bead = board.find(id_)
        if asked.yes("claim"):
            bead = bead_change.claim(board, id_, who)
        if fields:
            bead = bead_change.update(board.after([bead]), id_, fields, who)
        if parent is not None:
            bead = bead_change.move(board.after([bead]), id_, parent, who)
        return bead

    return _each(asked, change, "Updated")


def close_command(asked: Asked) -> int:
    """Say that beads are done."""
    who, reason = moment(actor(asked)), asked.text("reason")

    def change(board: Board, id_: str) -> Bead:
        force = asked.yes("force")
        return bead_change.close(board, id_, reason, who, force=force)

    code = _each(asked, change, "Closed")
    if asked.yes("next") and not asked.yes("json"):
        say_rows(ready(store().beads(), now(), Filter(limit=5)), "No ready work")
    return code


def reopen_command(asked: Asked) -> int:
    """Say that beads are not done after all."""
    who, reason = moment(actor(asked)), asked.text("reason")

    def change(board: Board, id_: str) -> Bead:
        return bead_change.reopen(board, id_, reason, who)

    return _each(asked, change, "Reopened")


def _each(asked: Asked, change: Callable[[Board, str], Bead], verb: str) -> int:
    """Change each bead that was named: all of them, or none."""
    if not asked.words:
        raise UsageError(f"`{asked.command}` needs an id", fix=f"`{asked.command} ID`")

    def decide(board: Board) -> list[Bead]:
        done: dict[str, Bead] = {}
        for name in asked.words:
            bead = change(board, name)
            board = board.after([bead])
            done[bead["id"]] = bead
        return list(done.values())

    beads = list(store().change(decide))
    if asked.yes("json"):
        print_json(beads)
    elif not asked.yes("quiet"):
        for bead in beads:
            say(f"{verb} {bead['id']}: {bead.get('title')}")
    return 0


def label_command(asked: Asked) -> int:
    """Label beads: `add`, `remove`, `list`, `list-all`."""
    what, *names = asked.words or [""]
    if what == "list-all":
        return _all_labels(asked)
    if what == "list" and len(names) == 1:
        return _labels_of(asked, names[0])
    if what not in ("add", "remove") or len(names) < 2:  # noqa: PLR2004 - id and label
        raise UsageError(
            "`label` needs to know what to do", fix="`label add ID LABEL`, or `--help`"
        )
    *ids, label = names
    fields = {f"{what}_labels": [label]}
    who = moment(actor(asked))

    def decide(board: Board) -> list[Bead]:
        return [bead_change.update(board, id_, dict(fields), who) for id_ in ids]

    beads = store().change(decide)
    state = {"add": "added", "remove": "removed"}[what]
    if asked.yes("json"):
        print_json(
            [{"status": state, "issue_id": b["id"], "label": label} for b in beads]
        )
    else:
        say("\n".join(f"{b['id']}: {state} label {label}" for b in beads))
    return 0


def _labels_of(asked: Asked, id_: str) -> int:
    found = labels(store().beads().find(id_))
    if asked.yes("json"):
        print_json(found)
    else:
        say("\n".join(found) or f"{id_} has no labels")
    return 0


def _all_labels(asked: Asked) -> int:
    count: dict[str, int] = {}
    for bead in store().beads().all():
        for label in labels(bead):
            count[label] = count.get(label, 0) + 1
    if asked.yes("json"):
        print_json([{"label": name, "count": count[name]} for name in sorted(count)])
    else:
        say("\n".join(f"{n} ({count[n]})" for n in sorted(count)) or "No labels")
    return 0


COMMANDS = {
    "create": create_command,
    "update": update_command,
    "close": close_command,
    "reopen": reopen_command,
    "label": label_command,
}
