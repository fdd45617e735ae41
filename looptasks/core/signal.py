"""A signal: what a person asked of a running session, or of a part of it.

The last word that is meant for a stage holds. A stop holds for one run, a pause until
it is taken back.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from looptasks.core.selector import Selector, Subject, selector_from


class Signal(NamedTuple):
    """A signal as the ledger has it in one of its lines.

    `stages` are those that a status meant when it was given; `acknowledged` are those
    that have heard it so far.
    """

    line: int
    word: str
    selector: Selector
    event: Mapping[str, Any]
    stages: frozenset[str] | None = None
    acknowledged: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """What was asked, in words."""
        of = f" of {self.selector.text}" if self.selector.kind else ""
        return f"{self.word}{of} was asked for"

    def matches(self, subject: Subject) -> bool:
        """Tell whether the signal is meant for a stage."""
        if self.stages is not None:
            return subject.name in self.stages
        return self.selector.matches(subject)

    def covers(self, other: "Signal") -> bool:
        """Tell whether nothing is left of another signal when this one comes after."""
        if self.word not in (other.word, "resume"):
            return False
        if self.stages is None:
            return not self.selector.kind or self.selector == other.selector
        return bool(other.scope) and other.scope <= self.stages

    @property
    def scope(self) -> frozenset[str]:
        """The stages that it is meant for, as far as they can be told by name."""
        if self.stages is not None:
            return self.stages
        named = self.selector.kind == "stage"
        return frozenset({self.selector.name}) if named else frozenset()


class Signals(NamedTuple):
    """What has been asked and still holds, in the order in which it was asked."""

    standing: tuple[Signal, ...] = ()

    def given(self, event: Mapping[str, Any], line: int) -> "Signals":
        """Return them after one more."""
        text, stages = event.get("selector") or "", event.get("stages")
        fresh = Signal(
            line,
            event["signal"],
            selector_from(text) if text else Selector(),
            event,
            None if stages is None else frozenset(stages),
        )
        left = tuple(signal for signal in self.standing if not fresh.covers(signal))
        idle = fresh.word == "resume" and not left
        return Signals(left) if idle else Signals((*left, fresh))._tidy()

    def _tidy(self) -> "Signals":
        """Drop what takes back nothing any more."""
        if all(signal.word == "resume" for signal in self.standing):
            return Signals()
        return self

    def without_stops(self) -> "Signals":
        """Return them as a new run finds them."""
        kept = tuple(signal for signal in self.standing if signal.word != "stop")
        return Signals(kept)._tidy()

    def acknowledged(self, event: Mapping[str, Any]) -> "Signals":
        """Return them after a stage has heard one."""
        return Signals(
            tuple(
                signal._replace(acknowledged=(*signal.acknowledged, event["stage"]))
                if signal.line == event["line"]
                and event["stage"] not in signal.acknowledged
                else signal
                for signal in self.standing
            )
        )

    def asked(self, subject: Subject, *, stops: bool = True) -> Signal | None:
        """Return what holds a stage, if anything; a stop only if `stops` count."""
        for signal in reversed(self.standing):
            if signal.word == "stop" and not stops:
                continue
            if signal.matches(subject):
                return None if signal.word == "resume" else signal
        return None

    def released_by(self, later: "Signals") -> Iterator[str]:
        """Yield the stages that have heard what holds no longer."""
        for signal in self.standing:
            if signal.line not in later.lines:
                yield from signal.acknowledged

    @property
    def lines(self) -> tuple[int, ...]:
        """Where they stand: another value as soon as anything else is asked."""
        return tuple(signal.line for signal in self.standing)

    @property
    def pauses(self) -> tuple[Signal, ...]:
        """What must be resumed before it can go on."""
        return tuple(signal for signal in self.standing if signal.word == "pause")

    @property
    def whole(self) -> bool:
        """Whether something is asked of the session as a whole."""
        return any(not signal.selector.kind for signal in self.standing)

    def resuming(self, session: str) -> str:
        """Return the command that takes back every pause, empty if there is none."""
        texts = {signal.selector.text for signal in self.pauses}
        if not texts:
            return ""
        word = texts.pop() if len(texts) == 1 else ""
        return " ".join(filter(None, ("doit resume", word, f"session={session}")))
