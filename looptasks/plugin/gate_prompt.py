"""The gate's prompt: asks a person right there, in the terminal of the run."""

import os

from looptasks.core.gate import Answer, typed
from looptasks.effects.terminal import forget_typed, has_person, line, show
from looptasks.errors import LoopError
from looptasks.plugin.engagement import Engagement
from looptasks.plugin.gates import Question, answer, shown, waiting_gates
from looptasks.plugin.person import person
from looptasks.plugin.wording import safe

_WAYS = "[a]pprove, [r]eject, [i]terate, [q]uit: "
_DECISIONS = {"a": "approve", "r": "reject", "i": "iterate"}
_MORE = {"reject": "why? ", "iterate": "what is to change? "}


def ask_at_terminal(engaged: Engagement) -> bool:
    """Ask for every word that is waited for; tell whether the run can go on."""
    gates = waiting_gates(engaged)
    if not gates or not has_person(os.environ):
        return False
    try:
        settled = [_settled(engaged, gate) for gate in gates]
    except (_Quit, KeyboardInterrupt):
        show("\n")
        return False
    return any(settled)


class _Quit(Exception):  # noqa: N818 - nothing went wrong
    """The person wants to answer another time."""


def _settled(engaged: Engagement, gate: Question) -> bool:
    """Ask one question until it is answered, here or elsewhere."""
    place = engaged.place
    engaged.shown.add(gate.digest)
    for text in shown(place, gate, ways=False):
        show(f"{safe(text)}\n")
    forget_typed()
    while _open(engaged, gate):
        given = _asked(engaged, gate)
        if given is None:
            break
        try:
            said = answer(place, gate.stage, given)
        except LoopError as error:
            show(f"{safe(str(error))}\n")
        else:
            show(f"{typed(gate.stage)} is {safe(said.spoken())}\n")
            return True
    return _answered_elsewhere(engaged, gate)


def _open(engaged: Engagement, gate: Question) -> bool:
    answers = engaged.place.record().stage(gate.stage).answers
    return answers.open and answers.asks == gate.digest


def _asked(engaged: Engagement, gate: Question) -> Answer | None:
    """Return what the person says; None when somebody else was quicker."""
    while (word := _line(engaged, gate, _WAYS)) is not None:
        decision = _DECISIONS.get(word.lower()[:1], "")
        if word.lower()[:1] == "q":
            raise _Quit
        if not decision:
            continue
        given = Answer(decision, person(engaged.request), "")
        if decision not in _MORE:
            return given
        more = _line(engaged, gate, _MORE[decision])
        if more is None:
            return None
        if more and decision == "reject":
            return given._replace(reason=more)
        if more:
            return given._replace(feedback=more)
    return None


def _line(engaged: Engagement, gate: Question, question: str) -> str | None:
    text = line(question, lambda: not _open(engaged, gate))
    if text is None and _open(engaged, gate):
        raise _Quit  # the end of input
    return text


def _answered_elsewhere(engaged: Engagement, gate: Question) -> bool:
    last = engaged.place.record().stage(gate.stage).answers.last
    if last is None:
        return False
    show(f"{typed(gate.stage)} was answered meanwhile: {safe(last.spoken())}\n")
    return True
