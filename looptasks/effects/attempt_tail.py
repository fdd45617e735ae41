"""An attempt's tail: what it prints, line by line while it runs, in words or raw."""

import os

from looptasks.core.reading import Dialect, Reading, fed
from looptasks.core.screen_text import lines, shown
from looptasks.effects.event_file import GrowingLines
from looptasks.effects.scrub import clean, known_secrets
from looptasks.effects.stream_note import note_in


class AttemptTail:
    """Reads on where it stopped; nothing that it tells has a secret in it."""

    def __init__(self, folder: str, *, raw: bool) -> None:
        self._folder = folder
        self._raw = raw
        self._printed = GrowingLines(f"{folder}/stdout")
        self._dialect: Dialect | None = None
        self._begun = False
        self._reading = Reading()

    def ended(self) -> bool:
        """Tell whether nothing more will be printed."""
        return os.path.exists(f"{self._folder}/result.json")

    def more(self) -> list[str]:
        """Return what was printed since the last look, as far as lines are whole."""
        printed = [*self._printed.more()]
        if printed and not self._begun:
            # Only what prints has surely said before how it is to be read.
            self._begun = True
            note = None if self._raw else note_in(self._folder)
            self._dialect = note.dialect if note else None
        return self._told(printed)

    def last(self) -> list[str]:
        """Return what stands after the last newline."""
        return self._told([self._printed.last()])

    def _told(self, printed: list[bytes]) -> list[str]:
        if self._dialect is not None:
            dialect = self._dialect
            return [word for line in printed for word in self._acted(line, dialect)]
        text = b"\n".join(printed).decode("utf-8", "replace")
        if self._raw:
            found = clean(text).split("\n")
        else:
            # A progress bar writes over itself: only its last state is told.
            found = [_last(line) for line in text.split("\n")]
            found = shown("\n".join(found), known_secrets()).split("\n")
        return [line for line in found if line.strip()]

    def _acted(self, line: bytes, dialect: Dialect) -> list[str]:
        """Return what an event says that the agent does."""
        before = self._reading._replace(action="")
        self._reading = now = fed(before, line, dialect)
        said = [now.action] if now.action else []
        if now.waiting and now.waiting != before.waiting:
            said.append(f"waiting: {now.waiting}")
        return [shown(words, known_secrets()) for words in said]


def _last(line: str) -> str:
    parts = lines(line)
    return next((part for part in parts[::-1] if part.strip()), "")
