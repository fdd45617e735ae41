"""Urgency: which of the tasks that are ready gets the next free slot.

doit hands them out first come, first served. With more ready beads than slots that
would start the wrong ones, and would claim all of them at once: what is begun is to be
finished first, and of what is not begun the most urgent is to start. Some are kept
back for a while, because too many of their kind run, or because somebody paused them.

A task says all that in its `meta`: `urgency` is a tuple, the lowest goes first; `rank`
is whoever knows the order within that, and a name; `kind` is a name and how many of
that kind may run at once, as a number or as something that tells it when asked.
"""

import functools
import heapq
import itertools
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from doit import control

AT_ONCE, IN_TURN, NOT_BEGUN = 0, 1, 2
Limit = int | Callable[[], int]
_HOLD = "hold on"  # doit's word for it


class Order(Protocol):
    """Knows whose turn it is, and whether that has changed."""

    @property
    def changes(self) -> Hashable:
        """What is another one when the order may be another one."""

    def place(self, name: str) -> int:
        """Return whose turn it is: the lowest goes first."""

    def arrived(self, name: str) -> None:
        """Note that a task waits for a slot from now on."""

    def left(self, name: str) -> None:
        """Note that a task waits no longer."""


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

    def arrived(self, name: str) -> None:
        """Do nothing: here it does not matter how long a task has waited."""

    def left(self, name: str) -> None:
        """Do nothing, as above."""


class UrgentQueue:
    """Takes the place of doit's queue of ready nodes: the most urgent leaves first.

    Nodes of each kind are kept apart, so that a full kind costs nothing. Nodes of no
    kind are of the kind None.
    """

    def __init__(self) -> None:
        self._heaps: dict[Hashable, list[tuple[Any, int, Any]]] = {}
        self._limits: dict[Hashable, Limit] = {}
        self._count = itertools.count()
        self._orders: dict[Order, Hashable] = {}
        self.running: dict[str, Hashable] = {}

    def __len__(self) -> int:
        """Return how many nodes may leave now."""
        return sum(len(heap) for heap in self._open().values())

    def held(self) -> bool:
        """Tell whether there are nodes, and none of them may leave."""
        return any(self._heaps.values()) and not self._open()

    def append(self, node: Any) -> None:
        """Add a node; of equally urgent ones the first comes first."""
        meta = node.task.meta or {}
        if "rank" in meta:
            order, name = meta["rank"]
            order.arrived(name)
        kind, self._limits[kind] = _kind(node)
        entry = (self._urgency(node), next(self._count), node)
        heapq.heappush(self._heaps.setdefault(kind, []), entry)

    def _urgency(self, node: Any) -> tuple[Any, ...]:
        meta = node.task.meta or {}
        urgency: tuple[Any, ...] = meta.get("urgency", (IN_TURN,))
        if "rank" not in meta:
            return urgency
        order, name = meta["rank"]
        self._orders.setdefault(order, order.changes)
        return (*urgency, order.place(name))

    def popleft(self) -> Any:
        """Take out the most urgent node that may leave."""
        return self._pop(self._open())

    def pop_held(self) -> Any:
        """Take out the most urgent node, whether it may leave or not."""
        return self._pop({kind: heap for kind, heap in self._heaps.items() if heap})

    def _pop(self, heaps: dict[Hashable, list[tuple[Any, int, Any]]]) -> Any:
        if any(order.changes != seen for order, seen in self._orders.items()):
            self._sort()
        heap = min(heaps.values(), key=lambda heap: heap[0][:2])
        node = heapq.heappop(heap)[2]
        meta = node.task.meta or {}
        if "rank" in meta:
            order, name = meta["rank"]
            order.left(name)
        return node

    def _sort(self) -> None:
        self._orders.clear()
        for heap in self._heaps.values():
            heap[:] = [(self._urgency(node), place, node) for _, place, node in heap]
            heapq.heapify(heap)

    def _open(self) -> dict[Hashable, list[tuple[Any, int, Any]]]:
        """Return the nodes of those kinds of which another one may run."""
        return {
            kind: heap
            for kind, heap in self._heaps.items()
            if heap and self._free(kind)
        }

    def _free(self, kind: Hashable) -> bool:
        if kind is None:
            return True
        limit = self._limits[kind]
        most = limit if isinstance(limit, int) else limit()
        return sum(other == kind for other in self.running.values()) < most


def _kind(node: Any) -> tuple[Hashable, Limit]:
    kind: tuple[Hashable, Limit] = (node.task.meta or {}).get("kind", (None, 0))
    return kind


class UrgentDispatcher(control.TaskDispatcher):
    """doit's dispatcher, with urgency."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ready = UrgentQueue()

    def _get_next_node(self, ready: UrgentQueue, tasks_to_run: list[str]) -> Any:
        # doit holds on while anything is in `waiting`, and is done when nothing is.
        self.waiting.discard(_HELD)
        while tasks_to_run and not ready:
            if node := self._gen_node(None, tasks_to_run.pop()):
                ready.append(node)
        if ready:
            return ready.popleft()
        if ready.held() and not ready.running:
            return ready.pop_held()
        if ready.held():
            self.waiting.add(_HELD)
        return None

    def _dispatcher_generator(self, selected_tasks: Any) -> Generator[Any, Any, None]:
        """Dispatch as doit does, knowing what runs."""
        nodes = super()._dispatcher_generator(selected_tasks)
        done = None
        while True:
            try:
                node = nodes.send(done)
            except StopIteration:
                return
            if node != _HOLD:
                self.ready.running[node.task.name] = _kind(node)[0]
            done = yield node
            if done is not None:
                self.ready.running.pop(done.task.name, None)


_HELD = object()


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
