"""Priorities and limits of kinds in the queue of ready tasks."""

from typing import Any

from doit.task import Task
from hypothesis import given
from hypothesis import strategies as st

from looptasks.plugin.priorities import Priorities
from looptasks.plugin.urgency import AT_ONCE, Ranks, UrgentQueue

MINUTE = 60.0


class Node:
    """As much of doit's node as the queue looks at."""

    def __init__(self, name: str, **meta: Any) -> None:
        self.task = Task(name, None, meta=meta)


class Watch:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 12_345.0

    def __call__(self) -> float:
        return self.seconds


def names(queue: UrgentQueue) -> list[str]:
    return [queue.popleft().task.name for _ in range(len(queue))]


def test_the_queue_follows_priorities_as_they_are_when_a_slot_is_free() -> None:
    watch, queue = Watch(), UrgentQueue()
    priorities = Priorities(watch)
    priorities.enter("phase", base=80, depth=2)
    priorities.enter("failing", base=100, depth=3, failed=4)
    priorities.enter("code", base=100, depth=3)
    queue.append(Node("phase", **priorities.mark("phase")))
    watch.seconds += 25 * MINUTE
    queue.append(Node("code", **priorities.mark("code")))
    watch.seconds += 4 * MINUTE
    queue.append(Node("failing", **priorities.mark("failing")))
    watch.seconds += 1 * MINUTE

    assert [priorities.priority(n) for n in ("code", "phase", "failing")] == [
        135,
        130,
        111,
    ]
    assert names(queue) == ["code", "phase", "failing"]


def test_who_waits_overtakes_who_has_come_later() -> None:
    watch, queue = Watch(), UrgentQueue()
    priorities = Priorities(watch)
    priorities.enter("old", base=60, depth=1)
    priorities.enter("new", base=100, depth=1)
    queue.append(Node("old", **priorities.mark("old")))
    queue.append(Node("new", **priorities.mark("new")))
    assert queue.popleft().task.name == "new"
    watch.seconds += 45 * MINUTE
    queue.append(Node("new", **priorities.mark("new")))

    assert names(queue) == ["old", "new"]


def test_waiting_is_counted_anew_after_a_task_had_its_turn() -> None:
    watch, queue = Watch(), UrgentQueue()
    priorities = Priorities(watch)
    priorities.enter("a", base=0, depth=0)
    queue.append(Node("a", **priorities.mark("a")))
    watch.seconds += 10 * MINUTE
    assert priorities.priority("a") == 10
    node = queue.popleft()
    watch.seconds += 10 * MINUTE
    queue.append(node)

    assert priorities.priority("a") == 0


def test_a_changed_fact_changes_the_order_of_what_is_queued() -> None:
    queue, priorities = UrgentQueue(), Priorities(Watch())
    for name in ("a", "b"):
        priorities.enter(name, base=50, depth=0)
        queue.append(Node(name, **priorities.mark(name)))
    priorities.enter("a", base=50, depth=0, failed=1)

    assert names(queue) == ["b", "a"]


def test_what_is_begun_is_finished_before_anything_of_any_priority() -> None:
    queue, priorities = UrgentQueue(), Priorities(Watch())
    priorities.enter("a", base=1000, depth=9)
    queue.append(Node("a", **priorities.mark("a")))
    queue.append(Node("begun", urgency=(AT_ONCE,)))
    queue.append(Node("ordinary"))

    assert names(queue) == ["begun", "ordinary", "a"]


def test_a_task_of_a_full_kind_lets_others_pass() -> None:
    queue = UrgentQueue()
    queue.append(Node("a", urgency=(AT_ONCE,), kind=("code", 1)))
    queue.append(Node("b"))
    queue.running["other"] = "code"

    assert names(queue) == ["b"]
    assert queue.held()
    del queue.running["other"]
    assert names(queue) == ["a"]
    assert not queue.held()


def test_a_limit_may_change_while_its_tasks_wait() -> None:
    allowed, queue = [0], UrgentQueue()
    queue.append(Node("a", kind=("paused", lambda: allowed[0])))
    assert not queue
    allowed[0] = 1

    assert names(queue) == ["a"]


def test_the_order_of_ranks_holds_within_a_kind() -> None:
    queue, ranks = UrgentQueue(), Ranks()
    for name in ("c", "a", "b"):
        queue.append(Node(name, kind=("beads", 2), **ranks.mark(name)))
    ranks.order(["a", "b", "c"])

    assert names(queue) == ["a", "b", "c"]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=30))
def test_without_limits_kinds_make_no_difference(
    nodes: list[tuple[int, int]],
) -> None:
    plain, kinds = UrgentQueue(), UrgentQueue()
    for number, (urgency, kind) in enumerate(nodes):
        plain.append(Node(str(number), urgency=(urgency,)))
        kinds.append(Node(str(number), urgency=(urgency,), kind=(kind, 99)))

    assert names(kinds) == names(plain)
