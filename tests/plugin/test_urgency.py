"""doit's runners with our queue: nothing is lost, nobody waits for ever."""

import io
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from doit.control import TaskControl
from doit.dependency import Dependency, JsonDB
from doit.reporter import ZeroReporter
from doit.runner import MThreadRunner, Runner
from doit.task import Task
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from looptasks.plugin.urgency import urgent


class Work:
    """Tasks that note who runs beside them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.done: list[str] = []

    def do(self, name: str, kind: str) -> None:
        """Be at work for a moment."""
        with self.lock:
            self.now[kind] = self.now.get(kind, 0) + 1
            self.most[kind] = max(self.most.get(kind, 0), self.now[kind])
        time.sleep(0.001)
        with self.lock:
            self.now[kind] -= 1
            self.done.append(name)

    def task(self, name: str, kind: str, limit: int, after: list[str]) -> Task:
        """Return a task of a kind; limit 0 is none."""
        meta: dict[str, Any] = {"kind": (kind, limit)} if limit else {}
        return Task(
            name, [(self.do, [name, kind])], task_dep=after, meta=meta, uptodate=[False]
        )


def run(folder: Path, tasks: list[Task], workers: int) -> int:
    """Run tasks by doit; return its result."""
    manager = Dependency(JsonDB, str(folder / "db.json"))
    reporter = ZeroReporter(io.StringIO(), {})
    control = TaskControl(tasks)
    control.process(None)
    runner = (
        MThreadRunner(manager, reporter, num_process=workers)
        if workers
        else Runner(manager, reporter)
    )
    result: list[int] = []
    with urgent():
        dispatcher = control.task_dispatcher()
    thread = threading.Thread(
        target=lambda: result.append(runner.run_all(dispatcher)), daemon=True
    )
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "doit waits for ever"
    return result[0]


Plan = list[tuple[int, list[int]]]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw tasks: the kind of each, and those before it that it waits for."""
    count = draw(st.integers(1, 12))
    return [
        (
            draw(st.integers(0, 2)),
            draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True))
            if number
            else [],
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("workers", [0, 1, 3])
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(plan=plans(), limits=st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_every_task_runs_once_and_no_kind_beyond_its_limit(
    tmp_path: Path, workers: int, plan: Plan, limits: list[int]
) -> None:
    work = Work()
    tasks = [
        work.task(f"t{n}", f"k{kind}", limits[kind], [f"t{b}" for b in before])
        for n, (kind, before) in enumerate(plan)
    ]

    assert run(tmp_path, tasks, workers) == 0
    assert sorted(work.done) == sorted(task.name for task in tasks)
    for kind, limit in enumerate(limits):
        assert not limit or work.most.get(f"k{kind}", 0) <= limit


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_what_may_never_run_runs_when_nothing_else_is_left(
    tmp_path: Path, workers: int
) -> None:
    work = Work()
    held = work.task("held", "none", 0, [])
    held.meta = {"kind": ("paused", lambda: 0)}
    others = [work.task(f"t{n}", "free", 0, [f"t{n - 1}"][: n > 0]) for n in range(5)]
    after = work.task("after", "free", 0, ["held"])

    assert run(tmp_path, [held, after, *others], workers) == 0
    assert work.done == ["t0", "t1", "t2", "t3", "t4", "held", "after"]
