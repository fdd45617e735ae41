"""A reading: what an agent's event stream has told so far."""

from collections.abc import Callable
from typing import NamedTuple

from looptasks.core.agent import Tokens
from looptasks.core.json_value import Event, event_in

_TARGETS = (
    "file_path",
    "filePath",
    "path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
)
_SHORT = 80
LONGEST_TEXT = 4 << 20


class Fault(NamedTuple):
    """What went wrong, in the agent's own words."""

    message: str
    status: int | None = None
    kind: str = ""


class Reading(NamedTuple):
    """What is known of an attempt; unknown is None or empty.

    `finished` says that the agent's final event was seen. `retry` is the trouble that
    the agent is trying to get over, `hint` one that was told without saying when, and
    `complaint` its last words on stderr. `tokens.input` does not count the cached ones.
    """

    text: str = ""
    finished: bool = False
    fault: Fault | None = None
    session_id: str = ""
    model: str = ""
    turns: int | None = None
    tokens: Tokens | None = None
    cost_usd: float | None = None
    denials: tuple[str, ...] = ()
    resets_at: float | None = None
    action: str = ""
    retry: Fault | None = None
    hint: Fault | None = None
    retries: int = 0
    waiting: str = ""
    complaint: str = ""
    events: int = 0
    garbage: int = 0
    counted: str = ""
    moved_at: float = 0.0

    def denied(self, tool: str) -> "Reading":
        """Return the reading with one more refused tool, each named once."""
        if tool in self.denials:
            return self
        return self._replace(denials=(*self.denials, tool))

    def retrying(self, fault: Fault, waiting: str = "") -> "Reading":
        """Return the reading after the agent said that it tries again."""
        return self._replace(retry=fault, retries=self.retries + 1, waiting=waiting)

    def working(self, action: str) -> "Reading":
        """Return the reading after a sign of progress: no trouble, no end."""
        return self._replace(
            action=action or self.action, retry=None, waiting="", finished=False
        )

    def spent(self, tokens: Tokens, cost_usd: float | None) -> "Reading":
        """Return the reading with more tokens and money spent."""
        before = self.tokens or Tokens(0, 0, 0)
        total = Tokens(*(a + b for a, b in zip(before, tokens, strict=True)))
        cost = None if cost_usd is None else (self.cost_usd or 0.0) + cost_usd
        return self._replace(tokens=total, cost_usd=cost)


class Dialect(NamedTuple):
    """How one agent's streams are read: events on stdout, lines on stderr."""

    name: str
    step: Callable[[Reading, Event], Reading]
    heard: Callable[[Reading, str], Reading] = lambda reading, _: reading


def fed(reading: Reading, line: bytes | str, dialect: Dialect) -> Reading:
    """Return the reading after one more line of stdout, whatever it holds."""
    if not line.strip():
        return reading
    event = event_in(line)
    if event is None:
        return reading._replace(garbage=reading.garbage + 1)
    return dialect.step(reading._replace(events=reading.events + 1), event)


def complained(reading: Reading, line: str, dialect: Dialect) -> Reading:
    """Return the reading after one more line of stderr."""
    line = line.strip()
    if not line:
        return reading
    return dialect.heard(reading._replace(complaint=line[:300]), line)


def action(tool: str, given: Event) -> str:
    """Say in a few words what a tool is about to do.

    >>> action("Write", {"file_path": "notes.md", "content": "…"})
    'Write notes.md'
    """
    found = (given.get(key) for key in _TARGETS)
    target = next((one for one in found if isinstance(one, str) and one.strip()), "")
    return brief(f"{tool} {target}")


def brief(words: str) -> str:
    """Return the first line of some text, cut to fit on a line."""
    line = words.strip()[: 4 * _SHORT].partition("\n")[0].strip()
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"
