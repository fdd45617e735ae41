"""Priorities: the order of ready tasks by what they are and how long they have waited.

`core/priority.py` has the rule; here are the facts that it needs, as they are now.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from looptasks.core.priority import priority
from looptasks.plugin.urgency import NOT_BEGUN

_MINUTE = 60.0


class _Facts(NamedTuple):
    base: int
    depth: int
    failed: int


class Priorities:
    """An order for the queue of ready tasks; `clock` tells seconds that never jump."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._facts: dict[str, _Facts] = {}
        self._since: dict[str, float] = {}
        self._count = 0

    def enter(self, name: str, *, base: int, depth: int, failed: int = 0) -> None:
        """Note what a task is; again when that has changed."""
        facts = _Facts(base, depth, failed)
        if self._facts.get(name) != facts:
            self._facts[name] = facts
            self._count += 1

    def mark(self, name: str) -> dict[str, Any]:
        """Return the mark of a task that gets its slot by priority."""
        return {"urgency": (NOT_BEGUN,), "rank": (self, name)}

    @property
    def changes(self) -> tuple[int, int]:
        """What is another one when a fact has changed or a minute has passed."""
        return self._count, int(self._clock() // _MINUTE)

    def priority(self, name: str) -> int:
        """Return the priority of a task right now; 0 for one that nobody entered."""
        facts = self._facts.get(name)
        if facts is None:
            return 0
        now = self._clock()
        waited = now - self._since.get(name, now)
        return priority(facts.base, facts.depth, waited, facts.failed)

    def place(self, name: str) -> int:
        """Return whose turn it is: the lowest goes first."""
        return -self.priority(name)

    def arrived(self, name: str) -> None:
        """Note that a task waits for a slot from now on.

        doit also queues a task before it looks at what that waits for. This does no
        harm: it leaves the queue for that, and waits anew when it comes back.
        """
        self._since.setdefault(name, self._clock())

    def left(self, name: str) -> None:
        """Note that a task waits no longer."""
        self._since.pop(name, None)
