"""A glimpse: what can be seen of an iteration from outside while it runs."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from looptasks.core.duration import spoken
from looptasks.core.instant import instant
from looptasks.core.json_value import event_in
from looptasks.core.reading import Reading
from looptasks.core.screen_text import lines, plain
from looptasks.core.secret import masked

# Where agents that print events say what they do; the first that is there is shown.
_TELLING = ("text", "command", "description", "file_path", "content", "result")
_DEEPEST = 8


class Glimpse(NamedTuple):
    """What an iteration's folder shows.

    `verdict` is set once the newest attempt has ended. `tail` is the end of what was
    printed last; `whole` tells whether that is all of it. Of an agent whose events can
    be read, `reading` has what they told, and `guess` is the cost by the price table;
    `resets_at` is when a usage limit ends.
    """

    attempt: int = 0
    verdict: str = ""
    tail: str = ""
    whole: bool = True
    reading: Reading | None = None
    resets_at: str = ""
    guess: float | None = None


def doing(seen: Glimpse, pause: float, check: str, known: Iterable[str] = ()) -> str:
    """Say in a line what an iteration is at, `pause` being the delay before it."""
    if not seen.attempt:
        return f"pause of {spoken(pause)}" if pause else ""
    said = last_line(seen, known)
    if seen.verdict == "ok":
        return f"checking: {check}  {said}".rstrip() if check else said
    if seen.verdict:
        return f"attempt {seen.attempt} failed ({seen.verdict}), next one soon"
    if seen.reading is not None and seen.reading.events:
        return masked(plain(_told(seen.reading)), known)
    return said


def _told(reading: Reading) -> str:
    """Say what an agent does by its events: act, or wait."""
    return f"waiting: {reading.waiting}" if reading.waiting else reading.action


def limited(seen: Glimpse, now: float) -> str:
    """Say in a line how long a usage limit is still waited for, `now` since 1970.

    >>> limited(Glimpse(resets_at="1970-01-01T01:00:00Z"), 600.0)
    'usage limit until 1970-01-01T01:00:00Z: 50 min left'
    """
    end = instant(seen.resets_at)
    if end is None:
        return "usage limit: waiting; until when was not told"
    left = max(end / 10**9 - now, 0.0)
    return f"usage limit until {seen.resets_at}: {spoken(float(round(left)))} left"


def spent(seen: Glimpse) -> str:
    """Say what the attempt has used so far, as far as its events tell.

    >>> from looptasks.core.agent import Tokens
    >>> spent(Glimpse(reading=Reading(tokens=Tokens(12_000, 345), cost_usd=0.25)))
    '12k tokens, $0.25'
    """
    reading = seen.reading or Reading()
    used = reading.tokens
    parts = [f"{_count(used.input + used.output)} tokens"] if used else []
    if reading.cost_usd is not None:
        parts.append(f"${reading.cost_usd:.2f}")
    elif seen.guess is not None:
        parts.append(f"${seen.guess:.2f} (estimated)")
    return ", ".join(parts)


def _count(number: int) -> str:
    for size, unit in ((10**6, "M"), (10**3, "k")):
        if number >= size:
            short = number / size
            return f"{short:.1f}{unit}" if short < 10 else f"{short:.0f}{unit}"  # noqa: PLR2004
    return str(number)


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
