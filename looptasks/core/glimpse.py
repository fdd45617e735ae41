"""A glimpse: what can be seen of an iteration from outside while it runs."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from looptasks.core.duration import spoken
from looptasks.core.json_value import event_in
from looptasks.core.screen_text import lines, plain
from looptasks.core.secret import masked

# Where agents that print events say what they do; the first that is there is shown.
_TELLING = ("text", "command", "description", "file_path", "content", "result")
_DEEPEST = 8


class Glimpse(NamedTuple):
    """What an iteration's folder shows.

    `verdict` is set once the newest attempt has ended. `tail` is the end of what was
    printed last; `whole` tells whether that is all of it.
    """

    attempt: int = 0
    verdict: str = ""
    tail: str = ""
    whole: bool = True


def doing(seen: Glimpse, pause: float, check: str, known: Iterable[str] = ()) -> str:
    """Say in a line what an iteration is at, `pause` being the delay before it."""
    if not seen.attempt:
        return f"pause of {spoken(pause)}" if pause else ""
    said = last_line(seen, known)
    if seen.verdict == "ok":
        return f"checking: {check}  {said}".rstrip() if check else said
    if seen.verdict:
        return f"attempt {seen.attempt} failed ({seen.verdict}), next one soon"
    return said


def last_line(seen: Glimpse, known: Iterable[str] = ()) -> str:
    """Return the last line that says something, fit for other people's eyes."""
    said = lines(seen.tail)
    if not seen.whole:
        # The first word may be the end of a secret whose beginning is out of sight.
        said[0] = said[0].partition(" ")[2]
    text = masked("\n".join(map(plain, said)), known)
    words = (_words(line.strip()) for line in text.split("\n")[::-1])
    found = next((word for word in words if word), "")
    return masked(plain(found), known)


def _words(line: str) -> str:
    """Return what a line says; of an event in JSON that is a small part."""
    if not line.startswith("{"):
        return line
    told = dict(_texts(event_in(line), _DEEPEST))
    found = next((told[key] for key in _TELLING if key in told), "")
    return next((part for part in lines(found.strip())[::-1] if part.strip()), "")


def _texts(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the texts in a JSON value by their keys, later ones last."""
    inner = value if isinstance(value, list) else []
    if isinstance(value, dict):
        yield from ((k, v) for k, v in value.items() if isinstance(v, str) and v)
        inner = list(value.values())
    for part in inner if depth else ():
        yield from _texts(part, depth - 1)
