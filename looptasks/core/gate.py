"""A gate: a point that needs a person's word, and what people have said there."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from looptasks.core.digest import of_value
from looptasks.core.iteration import Iteration
from looptasks.core.pipeline import Loop

DECISIONS = ("approve", "reject", "iterate")
ASKING = "waits for your word"
ON_COMMAND_LINE = "approve=yes on the command line"
_SPOKEN = {"approve": "approved", "reject": "rejected", "iterate": "sent back"}


class Answer(NamedTuple):
    """A person's word: `digest` tells what was judged, empty for feedback at large."""

    decision: str
    by: str
    at: str
    reason: str = ""
    feedback: str = ""
    digest: str = ""
    iteration: int = 0

    def spoken(self) -> str:
        """Say in words what was answered, by whom and when."""
        why = self.reason or self.feedback
        return f"{_SPOKEN[self.decision]} by {self.by} at {self.at}" + (
            f": {why}" if why else ""
        )


def answer_from(event: Mapping[str, Any]) -> Answer:
    """Return the answer that a ledger's event tells of."""
    known = {name: event[name] for name in Answer._fields if name in event}
    return Answer(**{"decision": "iterate", **known})


class Answers(NamedTuple):
    """What people have said of one stage, folded from its ledger.

    `asks` is the digest of what they are asked about, None when they are not, and
    `since` when that began. `last` answers for what lies there now: it goes when the
    work moves on. `words` is all feedback there ever was, and agents have been told
    the first `heard` of it.
    """

    approved: frozenset[str] = frozenset()
    asks: str | None = None
    since: str = ""
    last: Answer | None = None
    latest: Answer | None = None
    words: tuple[Answer, ...] = ()
    heard: int = 0

    @property
    def open(self) -> bool:
        """Whether a person is asked and has not answered."""
        return self.asks is not None and self.last is None

    @property
    def unheard(self) -> tuple[Answer, ...]:
        """The feedback that no agent has been told yet."""
        return self.words[self.heard :]

    def asking(self, digest: str | None, at: str) -> "Answers":
        """Take in that people are asked about a content; None: no longer."""
        if digest == self.asks:
            return self
        return self._replace(asks=digest, since=at)

    def given(self, answer: Answer) -> "Answers":
        """Take in an answer at the gate; the first one wins.

        The work may have moved on while the answer was on its way: then it tells only
        what the content is worth, and what the next agent is to know.
        """
        if self.asks is None:
            return self.told(answer)
        if self.asks != answer.digest:
            return self._told(answer)
        return self if self.last else self._replace(last=answer).told(answer)

    def told(self, answer: Answer) -> "Answers":
        """Take in a word that counts, asked for or not: it is the last on its content.

        >>> yes, no = Answer("approve", "a", "", digest="d"), Answer("iterate", "b", "")
        >>> Answers().told(yes).told(no).approved
        frozenset({'d'})
        """
        yes = answer.decision == "approve"
        change = frozenset.union if yes else frozenset.difference
        approved = change(self.approved, {answer.digest})
        return self._told(answer)._replace(approved=approved, latest=answer)

    def _told(self, answer: Answer) -> "Answers":
        if answer.decision != "iterate":
            return self
        return self._replace(words=(*self.words, answer))

    def moved_on(self, heard: int = 0) -> "Answers":
        """Take in that there is other work than before: the question is another one."""
        if self.asks is None and self.last is None and heard <= self.heard:
            return self
        return self._replace(asks=None, last=None, heard=max(self.heard, heard))


class Decision(NamedTuple):
    """What a gate says of a finished stage: whether it may be handed on, and why."""

    verdict: Literal["pass", "ask", "fail"]
    reason: str = ""


def asked(loop: Loop, answers: Answers, digest: str) -> Decision:
    """Say whether a person's word lets this content through; no word, no passing."""
    if loop.gate != "user" or digest in answers.approved:
        return Decision("pass")
    last = answers.last
    if last is not None and last.decision == "reject" and last.digest == digest:
        return Decision("fail", f"rejected by {last.by}: {last.reason}")
    return Decision("ask", ASKING)


def judged(loop: Loop, history: Sequence[Iteration]) -> str:
    """Return the digest of what a stage hands on: its artifact, or its answers."""
    if not history:
        return ""
    return _all(history) if hands_on_all(loop) else _last(history)


def _all(history: Sequence[Iteration]) -> str:
    return of_value([iteration.output for iteration in history])


def _last(history: Sequence[Iteration]) -> str:
    return getattr(history[-1], "artifact", "") or history[-1].output


def approved_now(answers: Answers, history: Sequence[Iteration]) -> str:
    """Return the digest of what lies there now, if that was approved."""
    found = {_all(history), _last(history)} & answers.approved if history else ()
    return next(iter(found), "")


def hands_on_all(loop: Loop) -> bool:
    """Tell whether every iteration's answer is handed on, not only the last one's."""
    return bool(loop.perspectives) or loop.completion == "all-items"


def spare(history: Sequence[Iteration]) -> int:
    """Return how many iterations there were because of feedback, beyond any limit."""
    return sum(iteration.heard > 0 for iteration in history)


def typed(stage: str) -> str:
    """Return a stage's name as it is typed on a command line.

    >>> typed("spec/db-schema"), typed("beads/ab-1")
    ('spec:db-schema', 'bead:ab-1')
    """
    folder, _, rest = stage.partition("/")
    return f"bead:{rest}" if folder == "beads" and rest else stage.replace("/", ":")


def meant(text: str) -> str:
    """Return the stage that somebody typed.

    >>> meant("stage:spec:db-schema"), meant("plan"), meant("bead:ab-1")
    ('spec/db-schema', 'plan', 'beads/ab-1')
    """
    kind, colon, rest = text.partition(":")
    if colon and kind == "bead":
        return f"beads/{rest}"
    return (rest if colon and kind in ("stage", "loop") else text).replace(":", "/")


def commands(stage: str, session: str) -> tuple[str, str, str]:
    """Return the three commands that answer a gate."""
    where = f"{typed(stage)} session={session}"
    return (
        f"doit approve {where}",
        f'doit reject {where} reason="…"',
        f'doit iterate {where} feedback="…"',
    )
