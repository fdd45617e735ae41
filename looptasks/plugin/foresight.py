"""Foresight: what a run would do, by the code that would do it."""

from typing import Any

from looptasks.core.outlook import Outlook, outlooks
from looptasks.plugin.engagement import Engagement


def foreseen(engaged: Engagement, entry: str) -> list[Outlook]:
    """Return what a run of an entry would do."""
    courses = engaged.courses(entry)
    return outlooks([(c.stage, c.record, c.step()) for c in courses])


def outlook_fields(view: Outlook) -> dict[str, Any]:
    """Return an outlook for programs."""
    return {**view._asdict(), "next_task": view.next_task or None}
