"""What the tracker prints: JSON in the shapes of `bd`, or lines for people."""

from __future__ import annotations

import os
import sys

from looptasks.core import json_text
from looptasks.core.bead import DEFAULT_PRIORITY, dependencies, kind, labels, status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looptasks.core.bead import Bead

_SIGNS = {"open": "○", "in_progress": "◐", "closed": "✓", "pinned": "^"}


def print_json(value: object) -> None:
    """Print JSON, in an envelope where that is asked for."""
    if os.environ.get("BD_JSON_ENVELOPE") in ("1", "true"):
        value = {"schema_version": 1, "data": value}
    say(json_text.block(value))


def say(text: str) -> None:
    """Print a line, whatever encoding the terminal has."""
    try:
        sys.stdout.write(f"{text}\n")
    except UnicodeEncodeError:
        coding = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(coding, "replace").decode(coding) + "\n")


def print_error(text: str, *, fix: str, as_json: bool) -> None:
    """Print a refusal where refusals go."""
    if not as_json:
        sys.stderr.write(f"Error: {text}\n" + (f"  fix: {fix}\n" if fix else ""))
        return
    refusal: dict[str, object] = {"error": text, "code": "refused"}
    if fix:
        refusal["hint"] = fix
    if os.environ.get("BD_JSON_ENVELOPE") in ("1", "true"):
        refusal = {"schema_version": 1, "data": refusal}
    sys.stderr.write(json_text.block(refusal) + "\n")


def row(bead: Bead) -> str:
    """Return a bead as one line."""
    sign = _SIGNS.get(status(bead), "●")
    level = bead.get("priority", DEFAULT_PRIORITY)
    holder = f" @{bead['assignee']}" if bead.get("assignee") else ""
    tags = f" [{', '.join(labels(bead))}]" if labels(bead) else ""
    type_ = "" if kind(bead) == "task" else f" ({kind(bead)})"
    return f"{sign} {bead['id']} P{level} {bead.get('title')}{type_}{holder}{tags}"


def say_rows(beads: Iterable[Bead], nothing: str) -> None:
    """Print beads, or that there are none: the output is never empty."""
    lines = [row(bead) for bead in beads]
    say("\n".join(lines) if lines else nothing)


_PARTS = (
    ("description", "Description"),
    ("design", "Design"),
    ("acceptance_criteria", "Acceptance"),
    ("notes", "Notes"),
    ("close_reason", "Closed because"),
)
_FACTS = (
    "created_at",
    "updated_at",
    "started_at",
    "closed_at",
    "due_at",
    "defer_until",
)


def say_all_of(bead: Bead) -> None:
    """Print a bead in full."""
    lines = [row(bead), f"  status: {status(bead)}"]
    lines += [f"  {name}: {bead[name]}" for name in _FACTS if bead.get(name)]
    lines += [
        f"  {entry.get('type')}: {entry['depends_on_id']}"
        for entry in dependencies(bead)
    ]
    for name, title in _PARTS:
        if bead.get(name):
            lines += ["", f"{title}:", str(bead[name])]
    for comment in bead.get("comments") or []:
        lines += ["", f"{comment.get('author')} said:", str(comment.get("text"))]
    say("\n".join(lines))
