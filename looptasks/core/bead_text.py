"""A bead's text: what an agent gets to read of it."""

from collections.abc import Mapping
from typing import Any

_PARTS = (
    ("description", ""),
    ("design", "Design"),
    ("acceptance_criteria", "Acceptance criteria"),
    ("notes", "Notes"),
)


def bead_text(bead: Mapping[str, Any]) -> str:
    r"""Return a bead as markdown.

    >>> bead_text({"id": "ab-1", "title": "Log in", "notes": "soon"})
    '# ab-1: Log in\n\n## Notes\n\nsoon'
    """
    parts = [f"# {bead['id']}: {bead.get('title', '')}"]
    for key, heading in _PARTS:
        if bead.get(key):
            parts.append(f"## {heading}\n\n{bead[key]}" if heading else str(bead[key]))
    return "\n\n".join(parts)
