"""The order of a bead's keys in its line: always the same, so that diffs are small."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.core.bead import Bead

_KEYS = (
    "_type",
    "id",
    "title",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "status",
    "priority",
    "issue_type",
    "assignee",
    "owner",
    "estimated_minutes",
    "created_at",
    "created_by",
    "updated_at",
    "started_at",
    "closed_at",
    "close_reason",
    "due_at",
    "defer_until",
    "external_ref",
    "metadata",
    "labels",
    "dependencies",
    "comments",
)


def in_order(bead: Bead) -> Bead:
    """Return the bead with the keys that we know first, and the others as they were."""
    known = {key: bead[key] for key in _KEYS if key in bead}
    return {**known, **bead}
