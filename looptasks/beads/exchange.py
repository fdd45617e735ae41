"""Commands that exchange beads with other tools: `import`, `export`."""

from __future__ import annotations

import sys

from looptasks.beads.place import store
from looptasks.beads.printing import print_json, say
from looptasks.core import json_text
from looptasks.core.bead import checked_status
from looptasks.core.bead_filter import Filter
from looptasks.core.bead_lines import board_from, text_of
from looptasks.core.instant import instant
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.beads.asked import Asked
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


def import_command(asked: Asked) -> int:
    """Take in beads: new ones, and those that are newer than ours."""
    name = asked.text("input") or (asked.words[0] if asked.words else "-")
    theirs = board_from(_text(name), name)
    counts = {"created": 0, "updated": 0, "skipped": 0}

    def decide(board: Board) -> list[Bead]:
        return [
            b for b in theirs.all() if _wanted(asked, board.get(b["id"]), b, counts)
        ]

    if asked.yes("dry_run"):
        decide(store().beads())
    else:
        store().change(decide)
    if asked.yes("json"):
        print_json(counts)
    else:
        say(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 0


def _wanted(
    asked: Asked, ours: Bead | None, bead: Bead, counts: dict[str, int]
) -> bool:
    if ours is None:
        counts["created"] += 1
        return True
    newer = (instant(bead.get("updated_at")) or 0) > (
        instant(ours.get("updated_at")) or 0
    )
    take = ours != bead and (newer or asked.yes("stale"))
    counts["updated" if take else "skipped"] += 1
    return take


def _text(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes 5 ms
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=name) from error


def export_command(asked: Asked) -> int:
    """Print the file, or some of its beads."""
    board = store().beads()
    statuses = tuple(checked_status(s) for s in asked.list("statuses") if s != "all")
    wanted = Filter(labels=asked.list("labels"), statuses=statuses)
    if statuses or wanted.labels:
        chosen = [bead for bead in board.all() if wanted.fits(bead, board)]
        text = "".join(json_text.line(bead) + "\n" for bead in chosen)
    else:
        text = text_of(board)
    if not asked.text("output"):
        sys.stdout.write(text)
        return 0
    from looptasks.effects.files import write_whole  # noqa: PLC0415 - writers only

    write_whole(asked.text("output"), text.encode())
    return 0


COMMANDS = {"import": import_command, "export": export_command}
