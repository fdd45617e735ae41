"""A filter: which beads a listing is about."""

from __future__ import annotations

from looptasks.core.bead import DEFAULT_PRIORITY, kind, labels, parents, status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board


class Filter:
    """What a bead must be to be listed; what is not said does not matter."""

    labels: tuple[str, ...] = ()  # all of them
    any_labels: tuple[str, ...] = ()  # at least one of them
    without_labels: tuple[str, ...] = ()  # none of them
    assignee: str | None = None
    unassigned = False
    types: tuple[str, ...] = ()
    without_types: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    priority: int | None = None
    ids: tuple[str, ...] = ()
    title: str = ""
    parent: str = ""  # a child of this one
    under: str = ""  # a child of this one, or a child's child
    limit = 0

    def __init__(self, **said: object) -> None:
        for name, value in said.items():
            if not hasattr(Filter, name):
                raise TypeError(name)
            setattr(self, name, value)

    def fits(self, bead: Bead, board: Board) -> bool:
        """Tell whether a bead is wanted."""
        return (
            self._fits_labels(labels(bead))
            and self._fits_words(bead)
            and self._fits_person(bead.get("assignee") or "")
            and (not self.parent or self.parent in parents(bead))
            and (not self.under or self.under in _ancestors(board, bead))
        )

    def _fits_labels(self, has: list[str]) -> bool:
        return (
            all(label in has for label in self.labels)
            and not any(label in has for label in self.without_labels)
            and (not self.any_labels or any(label in has for label in self.any_labels))
        )

    def _fits_words(self, bead: Bead) -> bool:
        level = bead.get("priority", DEFAULT_PRIORITY)
        return (
            (not self.statuses or status(bead) in self.statuses)
            and (not self.types or kind(bead) in self.types)
            and kind(bead) not in self.without_types
            and self.priority in (None, level)
            and (not self.ids or bead["id"] in self.ids)
            and self.title.lower() in str(bead.get("title") or "").lower()
        )

    def _fits_person(self, assignee: str) -> bool:
        if self.unassigned:
            return not assignee
        return self.assignee in (None, assignee)


def _ancestors(board: Board, bead: Bead) -> list[str]:
    found = list(parents(bead))
    for id_ in found:
        parent = board.get(id_)
        found += [p for p in parents(parent or {}) if p not in found]
    return found
