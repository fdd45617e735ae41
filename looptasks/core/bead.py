"""A bead: the smallest piece of work, with blockers.

It is the plain dict of its line in `.beads/issues.jsonl`, keys that we do not know
included, so that nothing another tool wrote is lost when we write it back.
"""

from __future__ import annotations

from looptasks.core.instant import instant
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Bead: TypeAlias = dict[str, Any]
else:
    Bead = dict

STATUSES = (
    "open",
    "in_progress",
    "blocked",
    "deferred",
    "closed",
    "pinned",
    "hooked",
)
GONE = "tombstone"  # an old way to delete: never ready, blocks nothing
SETTLED = ("closed", "pinned", GONE)  # holds nothing, and is never held
TYPES = (
    "task",
    "bug",
    "feature",
    "epic",
    "chore",
    "decision",
    "message",
    "molecule",
    "gate",
    "spike",
    "story",
    "milestone",
)
TYPE_ALIASES = {
    "enhancement": "feature",
    "feat": "feature",
    "adr": "decision",
    "dec": "decision",
}
# Types that are not work; `ready` shows them only when asked for by type.
NOT_WORK = ("gate", "molecule", "message", "merge-request", "agent", "role", "rig")
LONGEST_TITLE = 500
LOWEST_PRIORITY = 4
DEFAULT_PRIORITY = 2
_FAILURES = (
    "failed",
    "rejected",
    "wontfix",
    "won't fix",
    "canceled",
    "cancelled",
    "abandoned",
    "blocked",
    "error",
    "timeout",
    "aborted",
)


def status(bead: Bead) -> str:
    """Return the status; a bead that names none is open."""
    return bead.get("status") or "open"


def kind(bead: Bead) -> str:
    """Return the type; a bead that names none is a task."""
    return bead.get("issue_type") or "task"


def labels(bead: Bead) -> list[str]:
    """Return the labels."""
    return bead.get("labels") or []


def dependencies(bead: Bead) -> list[dict[str, Any]]:
    """Return what the bead depends on, one entry each."""
    return bead.get("dependencies") or []


def targets(bead: Bead, *kinds: str) -> list[str]:
    """Return the ids that the bead depends on in one of these ways."""
    return [d["depends_on_id"] for d in dependencies(bead) if d.get("type") in kinds]


def parents(bead: Bead) -> list[str]:
    """Return the parents; more than one only in a file edited by hand."""
    return targets(bead, "parent-child")


def is_pinned(bead: Bead) -> bool:
    """Tell whether the bead is context to keep, not work."""
    return bool(bead.get("pinned")) or status(bead) == "pinned"


def is_deferred(bead: Bead, now: int) -> bool:
    """Tell whether the bead is put off; a date that cannot be read is not past."""
    until = bead.get("defer_until")
    if not until:
        return False
    when = instant(until)
    return when is None or when > now


def failed(bead: Bead) -> bool:
    """Tell whether a closed bead's reason says that it failed."""
    reason = str(bead.get("close_reason") or "").lower()
    return any(word in reason for word in _FAILURES)


def urgency(bead: Bead) -> tuple[int, int, str]:
    """Return what `ready` sorts by: priority, then newest, then id."""
    created = instant(bead.get("created_at")) or 0
    return bead.get("priority", DEFAULT_PRIORITY), -created, bead["id"]


def checked_title(text: str) -> str:
    """Return a title that a bead may have."""
    title = text.strip()
    if not title:
        raise UsageError("the title is empty", fix="say in a few words what to do")
    if len(title) > LONGEST_TITLE:
        raise UsageError(
            f"the title has {len(title)} characters, {LONGEST_TITLE} is the most",
            fix="put the rest into the description (`-d`)",
        )
    return title


def checked_priority(text: str) -> int:
    """Return the priority that `0` to `4`, or `P0` to `P4`, means.

    >>> checked_priority("P1"), checked_priority("3")
    (1, 3)
    """
    digit = text.strip().upper().removeprefix("P")
    if digit in ("0", "1", "2", "3", "4"):
        return int(digit)
    raise UsageError(
        f"`{text}` is no priority", fix="use 0 (first) to 4, or `P0` to `P4`"
    )


def checked_type(text: str) -> str:
    """Return the type that a word means, aliases included."""
    word = text.strip().lower()
    return TYPE_ALIASES.get(word) or _one_of(word, (*TYPES, *NOT_WORK), "type")


def checked_status(text: str) -> str:
    """Return the status that a word means."""
    return _one_of(text.strip().lower().replace("-", "_"), STATUSES, "status")


def _one_of(word: str, known: tuple[str, ...], what: str) -> str:
    if word in known:
        return word
    from looptasks.core.suggestion import choice  # noqa: PLC0415 - only for mistakes

    raise UsageError(f"`{word}` is no {what}", fix=choice(word, dict.fromkeys(known)))
