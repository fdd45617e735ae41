"""`doit pause`, `doit resume`, `doit stop`: signals to a session, by its ledger."""

from collections.abc import Iterator, Mapping
from typing import Any

from looptasks.core.owner import Owner
from looptasks.core.request import Request
from looptasks.core.selector import (
    Selector,
    Subject,
    refuse_unknown,
    selector_from,
)
from looptasks.core.taskname import bead_of
from looptasks.errors import UsageError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import Engagement, existing
from looptasks.plugin.person import person
from looptasks.plugin.state import session_state
from looptasks.plugin.workplace import Workplace


class _Signal(AskingCommand):
    """Appends a signal to the ledger; a runner obeys at the next boundary."""

    cmd_options: Any = ()
    doc_description = (
        "SELECTOR is `stage:NAME` (with all its instances or beads), "
        "`descendants:NAME` (all that rests on it), `bead:ID` or `status:WORD` (what "
        "stands like that now); without one the whole session is meant."
    )
    signal = ""

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Send the signal, and say what will come of it."""
        self.refuse_words(words, after=int(":" in "".join(words[:1])))
        request = self.asked()
        engaged = existing(self.root(), request)
        selector = _selector(engaged, words)
        self.print(self.send(engaged.place, selector, request))
        return 0

    def send(self, place: Workplace, selector: Selector, request: Request) -> str:
        """Send the signal; return what will come of it."""
        raise NotImplementedError

    def write(self, place: Workplace, selector: Selector, request: Request) -> None:
        """Put the signal into the ledger."""
        meant: dict[str, Any] = {"selector": selector.text}
        if selector.kind == "status":
            meant |= {"stages": _standing(place, selector)}
        place.event(
            "signal",
            signal=self.name,
            by=person(request),
            reason=request.reason,
            **meant,
            durable=True,
        )


class Pause(_Signal):
    """Lets a session, or a part of it, rest until it is resumed."""

    name = "pause"
    doc_purpose = "let a session or a part of it rest after the running iteration"
    doc_usage = "[SELECTOR] session=S [reason=TEXT]"

    def send(self, place: Workplace, selector: Selector, request: Request) -> str:
        """Ask for a rest."""
        self.write(place, selector, request)
        what = _spoken(place, selector)
        resume = " ".join(filter(None, ("doit resume", selector.text)))
        later = f"`{resume} session={place.session}` lets it go on"
        if place.lock.owner() is None:
            return f"{what} is paused; {later}"
        return f"{what} pauses after the running iteration; {later}"


class Resume(_Signal):
    """Lets what was paused go on."""

    name = "resume"
    doc_purpose = "let a paused session, or a part of it, go on"
    doc_usage = "[SELECTOR] session=S"

    def send(self, place: Workplace, selector: Selector, request: Request) -> str:
        """Take a pause back."""
        self.write(place, selector, request)
        what = _spoken(place, selector)
        if place.lock.owner() is not None:
            return f"{what} goes on"
        names = " ".join(event["entry"] for event in place.record().entries)
        again = f"doit {names} session={place.session}"
        return f"{what} may go on; run `{again}`"


class Stop(_Signal):
    """Ends the running of a session, or of a part of it."""

    name = "stop"
    doc_purpose = "end a running session, or a part, after the running iteration"
    doc_usage = "[SELECTOR] session=S [now=yes] [reason=TEXT]"

    def send(self, place: Workplace, selector: Selector, request: Request) -> str:
        """End it at the next boundary, or at once."""
        owner, what = place.lock.owner(), _spoken(place, selector)
        if request.now and selector.kind:
            raise UsageError(
                f"`now=yes` would end more than `{selector.text}`",
                fix="leave it out, or stop the whole session",
            )
        if owner is None:
            return f"session {place.session} is not running"
        self.write(place, selector, request)
        if not request.now:
            return f"{what} stops after the running iteration"
        return _stop_now(place, owner)


def _stop_now(place: Workplace, owner: Owner) -> str:
    from looptasks.effects.ending import interrupt  # noqa: PLC0415

    if interrupt(owner):
        return f"session {place.session} is stopped now (pid {owner.pid})"
    return f"pid {owner.pid} runs on `{owner.host}`; it stops after its iteration"


def _selector(engaged: Engagement, words: list[str]) -> Selector:
    """Return what is selected, which must be there."""
    if not words:
        return Selector()
    selector, place = selector_from(words[0]), engaged.place
    beads = list(place.beads.seen()) if selector.kind == "bead" else []
    refuse_unknown(selector, dict.fromkeys(_stages(engaged, selector)), beads)
    if selector.kind == "status" and not _standing(place, selector):
        raise UsageError(
            f"nothing of session `{place.session}` is {selector.name} now",
            fix=f"`doit status session={place.session}` shows how it stands",
        )
    return selector


def _stages(engaged: Engagement, selector: Selector) -> Iterator[str]:
    """Yield the names of all stages, with their instances if one of them is meant."""
    record = engaged.place.record()
    for entry in record.entries:
        yield from entry.get("stages", ())
    yield from (name for name in record.stages if not bead_of(name))
    if "/" in selector.name:
        from looptasks.plugin.grove import Grove  # noqa: PLC0415 - seldom

        engaged.take_on_recorded()
        for name, pipeline in engaged.pipelines.items():
            grove = Grove(engaged.place, pipeline, engaged.requests[name])
            yield from (node.name for node in grove.all_instances())


def _standing(place: Workplace, selector: Selector) -> list[str]:
    """Return the stages that stand as the selector says."""
    found = [(s["stage"], s["status"]) for s in session_state(place)["stages"]]
    return [name for name, now in found if selector.matches(Subject(name), now)]


def _spoken(place: Workplace, selector: Selector) -> str:
    part = f"{selector.text} of " if selector.kind else ""
    return f"{part}session {place.session}"
