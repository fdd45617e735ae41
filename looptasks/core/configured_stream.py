"""A configured stream: JSON lines of an agent that its user has described.

The description names, for each fact, the dotted path at which an event tells it:
`{text = "result.answer", cost = "total_cost_usd"}`. The last event that tells, counts.
"""

from collections.abc import Mapping

from looptasks.core import json_value as of
from looptasks.core.agent import Tokens
from looptasks.core.json_value import Event
from looptasks.core.reading import LONGEST_TEXT, Dialect, Fault, Reading, brief
from looptasks.core.suggestion import choice
from looptasks.errors import DeclarationError

FACTS = (
    *("text", "error", "status", "session", "model", "turns", "cost"),
    *("input", "output", "cached", "action", "done"),
)


def configured(name: str, read: Mapping[str, str], where: str = "") -> Dialect:
    """Return how to read the streams of a described agent, or what is wrong."""
    for fact in read:
        if fact not in FACTS:
            what = f"`{fact}` is not a fact of an answer"
            raise DeclarationError(what, where=where, fix=choice(fact, FACTS))
    if "text" not in read:
        raise DeclarationError(
            "nothing says where the answer's text is",
            where=where,
            fix='write `read = {text = "result"}`',
        )
    paths = {fact: tuple(path.split(".")) for fact, path in read.items()}
    return Dialect(name, lambda reading, event: _step(reading, event, paths))


def _step(
    reading: Reading, event: Event, paths: Mapping[str, tuple[str, ...]]
) -> Reading:
    told = {fact: of.at(event, *path) for fact, path in paths.items()}
    told = {fact: value for fact, value in told.items() if value is not None}
    reading = _facts(reading, told)
    words = told.get("text")
    if isinstance(words, str):
        reading = reading.working(brief(words))._replace(text=words[:LONGEST_TEXT])
    if _is_error(told.get("error")):
        return reading._replace(finished=True, fault=_fault(told))
    # Without a path that tells the end, the text is the end.
    done = told.get("done") if "done" in paths else isinstance(words, str)
    return reading._replace(finished=True) if done else reading


def _facts(reading: Reading, told: Event) -> Reading:
    cost, turns = of.amount(told, "cost"), of.whole(told, "turns")
    action = of.text(told, "action")
    return reading._replace(
        session_id=of.text(told, "session") or reading.session_id,
        model=of.text(told, "model") or reading.model,
        turns=reading.turns if turns is None else turns,
        cost_usd=reading.cost_usd if cost is None else cost,
        tokens=_tokens(told) or reading.tokens,
        action=brief(action) if action else reading.action,
    )


def _tokens(told: Event) -> Tokens | None:
    fresh, output = of.whole(told, "input"), of.whole(told, "output")
    if fresh is None or output is None:
        return None
    return Tokens(fresh, output, of.whole(told, "cached") or 0)


def _is_error(value: object) -> bool:
    return value not in (None, False, "", 0, {}, [])


def _fault(told: Event) -> Fault:
    error = told["error"]
    words = error if isinstance(error, str) else of.text(error, "message")
    words = words or of.text(told, "text") or "it says that it failed"
    return Fault(words, of.whole(told, "status"))
