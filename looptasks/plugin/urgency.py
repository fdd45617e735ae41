"""Urgency: which of the tasks that are ready gets the next free slot.

doit hands them out first come, first served. With more ready beads than slots that
would start the wrong ones, and would claim all of them at once: what is begun is to be
finished first, and of what is not begun the most urgent is to start.
"""

import functools
import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from doit import control

AT_ONCE, IN_TURN, NOT_BEGUN = 0, 1, 2


class Ranks:
    """The order of what is not begun; it may change while tasks wait for a slot."""

    def __init__(self) -> None:
        self.changes = 0
        self._places: dict[str, int] = {}

    def order(self, names: Iterable[str]) -> None:
        """Have these names come in this order."""
        places = {name: place for place, name in enumerate(names)}
        if places != self._places:
            self._places = places
            self.changes += 1

    def mark(self, name: str) -> dict[str, Any]:
        """Return the mark of a task that waits until nothing else can go on."""
        return {"urgency": (NOT_BEGUN,), "rank": (self, name)}

    def place(self, name: str) -> int:
        """Return whose turn it is: the lowest goes first."""
        return self._places.get(name, 0)


class UrgentQueue:
    """Takes the place of doit's queue of ready nodes: the most urgent leaves first."""

    def __init__(self) -> None:
        self._heap: list[tuple[Any, int, Any]] = []
        self._count = itertools.count()
        self._ranks: dict[Ranks, int] = {}

    def __len__(self) -> int:
        return len(self._heap)

    def append(self, node: Any) -> None:
        """Add a node; of equally urgent ones the first comes first."""
        heapq.heappush(self._heap, (self._urgency(node), next(self._count), node))

    def _urgency(self, node: Any) -> tuple[Any, ...]:
        meta = node.task.meta or {}
        urgency: tuple[Any, ...] = meta.get("urgency", (IN_TURN,))
        if "rank" not in meta:
            return urgency
        ranks, name = meta["rank"]
        self._ranks.setdefault(ranks, ranks.changes)
        return (*urgency, ranks.place(name))

    def popleft(self) -> Any:
        """Take out the most urgent node."""
        if any(ranks.changes != seen for ranks, seen in self._ranks.items()):
            self._ranks.clear()
            self._heap = [(self._urgency(n), place, n) for _, place, n in self._heap]
            heapq.heapify(self._heap)
        return heapq.heappop(self._heap)[2]


class UrgentDispatcher(control.TaskDispatcher):
    """doit's dispatcher, with urgency."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ready = UrgentQueue()


@contextmanager
def urgent() -> Iterator[None]:
    """Have doit dispatch by urgency; the only place that puts something into doit."""
    stock = control.TaskDispatcher
    control.TaskDispatcher = UrgentDispatcher
    try:
        yield
    finally:
        control.TaskDispatcher = stock


def urgently(execute: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap doit's `_execute`, whose signature doit reads the names of options from."""

    @functools.wraps(execute)
    def wrapped(*args: Any, **options: Any) -> Any:
        with urgent():
            return execute(*args, **options)

    return wrapped
