"""`doit pause`, `doit resume`, `doit stop`: signals to a session, by its ledger."""

import getpass
from collections.abc import Mapping
from typing import Any

from looptasks.core.owner import Owner
from looptasks.core.request import Request
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import existing
from looptasks.plugin.workplace import Workplace


class _Signal(AskingCommand):
    """Appends a signal to the ledger; a runner obeys at the next boundary."""

    cmd_options: Any = ()
    signal = ""

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Send the signal, and say what will come of it."""
        self.refuse_words(words)
        request = self.asked()
        place = existing(self.root(), request).place
        self.print(self.send(place, place.lock.owner(), request))
        return 0

    def send(self, place: Workplace, owner: Owner | None, request: Request) -> str:
        """Send the signal; return what will come of it."""
        raise NotImplementedError

    def write(self, place: Workplace, request: Request) -> None:
        """Put the signal into the ledger."""
        place.event(
            "signal", signal=self.name, by=_user(), reason=request.reason, durable=True
        )


class Pause(_Signal):
    """Lets a session rest until it is resumed."""

    name = "pause"
    doc_purpose = "let a session rest after the running iteration"
    doc_usage = "session=S [reason=TEXT]"

    def send(self, place: Workplace, owner: Owner | None, request: Request) -> str:
        """Ask for a rest."""
        self.write(place, request)
        later = f"`doit resume session={place.session}` lets it go on"
        if owner is None:
            return f"session {place.session} is paused; {later}"
        return f"session {place.session} pauses after the running iteration; {later}"


class Resume(_Signal):
    """Lets a paused session go on."""

    name = "resume"
    doc_purpose = "let a paused session go on"
    doc_usage = "session=S"

    def send(self, place: Workplace, owner: Owner | None, request: Request) -> str:
        """Take a pause back."""
        self.write(place, request)
        if owner is not None:
            return f"session {place.session} goes on"
        names = " ".join(event["entry"] for event in place.record().entries)
        again = f"doit {names} session={place.session}"
        return f"session {place.session} may go on; run `{again}`"


class Stop(_Signal):
    """Ends the running of a session."""

    name = "stop"
    doc_purpose = "end a running session after the running iteration"
    doc_usage = "session=S [now=yes] [reason=TEXT]"

    def send(self, place: Workplace, owner: Owner | None, request: Request) -> str:
        """End it at the next boundary, or at once."""
        if owner is None:
            return f"session {place.session} is not running"
        self.write(place, request)
        if not request.now:
            return f"session {place.session} stops after the running iteration"
        from looptasks.effects.ending import interrupt  # noqa: PLC0415

        if interrupt(owner):
            return f"session {place.session} is stopped now (pid {owner.pid})"
        return f"pid {owner.pid} runs on `{owner.host}`; it stops after its iteration"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
