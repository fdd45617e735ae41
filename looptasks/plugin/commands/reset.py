"""`doit reset`: a session goes to the archive as it is, and starts clean."""

from collections.abc import Mapping
from typing import Any

from looptasks.effects.session_folder import archive_session
from looptasks.errors import UsageError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import existing


class Reset(AskingCommand):
    """Archives a session."""

    name = "reset"
    doc_purpose = "archive a session and start clean; nothing is deleted"
    doc_usage = "session=S"
    cmd_options: Any = ()

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Move the session's folder to the archive, if nobody runs it."""
        self.refuse_words(words)
        request = self.asked()
        if request.session is None:
            raise UsageError("which session?", fix="add `session=NAME`")
        place = existing(self.root(), request).place
        place.lock.refuse_if_busy()
        where = archive_session(place.root, place.session, place.now())
        self.print(f"session {place.session} is now in {where}")
        return 0
