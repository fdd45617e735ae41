"""Beads as JSON lines: our own tracker, as an engine needs it."""

from __future__ import annotations

import os

from looptasks.core import bead_change
from looptasks.core.bead_birth import Source, create
from looptasks.core.bead_id import prefix_from
from looptasks.effects.beads_file import BeadsFile
from looptasks.effects.system_clock import SystemClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

_ENGINE = "looptasks"


class JsonlBeads(BeadsFile):
    """The beads of one `.beads` folder, and what can be done with one of them."""

    def create(self, fields: dict[str, Any], actor: str) -> Bead:
        """Add a bead; return it."""
        project = os.path.basename(os.path.dirname(os.path.abspath(self.folder)))
        randomness = int.from_bytes(os.urandom(8), "big")
        source = Source(prefix_from(project), randomness)
        return self.change(lambda b: create(b, fields, source, moment(actor)))[0]

    def claim(self, id_: str, actor: str) -> Bead:
        """Take a bead to work on."""
        return self._one(lambda b: bead_change.claim(b, id_, moment(actor)))

    def release(self, id_: str) -> Bead:
        """Let others have a bead."""
        return self._one(lambda b: bead_change.release(b, id_, moment(_ENGINE)))

    def close(self, id_: str, reason: str) -> Bead:
        """Say that a bead is done."""
        return self._one(lambda b: bead_change.close(b, id_, reason, moment(_ENGINE)))

    def reopen(self, id_: str, reason: str) -> Bead:
        """Say that a bead is not done after all, and let others have it."""

        def decide(board: Board) -> Bead:
            now = moment(_ENGINE)
            bead = bead_change.reopen(board, id_, reason, now)
            return bead_change.release(board.after([bead]), bead["id"], now)

        return self._one(decide)

    def set_status(self, id_: str, status: str) -> Bead:
        """Give a bead another status."""
        return self.update(id_, {"status": status}, _ENGINE)

    def add_note(self, id_: str, text: str) -> Bead:
        """Add a line to a bead's notes."""
        return self.update(id_, {"append_notes": text}, _ENGINE)

    def update(self, id_: str, fields: dict[str, Any], actor: str) -> Bead:
        """Change fields of a bead."""
        return self._one(lambda b: bead_change.update(b, id_, fields, moment(actor)))

    def _one(self, decide: Callable[[Board], Bead]) -> Bead:
        return self.change(lambda board: [decide(board)])[0]


def moment(actor: str) -> bead_change.Moment:
    """Return who changes something, and that it is now."""
    return bead_change.Moment(actor, SystemClock().now())
