"""Late tasks."""

import pickle
from collections.abc import Iterator

import pytest
from doit.exceptions import InvalidTask
from doit.task import Task

from looptasks.plugin.late import late


def counted(name: str, last: int) -> Iterator[Task]:
    for number in range(last):
        yield Task(f"{name}:{number}", None)
    yield Task(name, None)


def forgetful(name: str) -> Iterator[Task]:
    yield Task(f"{name}:other", None)


def test_a_placeholder_waits_for_what_it_comes_after() -> None:
    task = late("loop:a", counted, "loop:a", 1, after=["stage:x", "stage:y"])

    assert task.task_dep == ["stage:x", "stage:y"]
    assert task.actions == []


def test_a_placeholder_has_the_attributes_that_people_see() -> None:
    task = late("loop:a", counted, "loop:a", 1, doc="refine", subtask_of="loop")

    assert (task.doc, task.subtask_of) == ("refine", "loop")


def test_the_creator_makes_the_tasks_from_its_arguments() -> None:
    made = list(late("loop:a", counted, "loop:a", 2).loader.creator())

    assert [task.name for task in made] == ["loop:a:0", "loop:a:1", "loop:a"]


def test_a_placeholder_survives_the_way_to_another_process() -> None:
    task = pickle.loads(pickle.dumps(late("loop:a", counted, "loop:a", 1)))

    assert [made.name for made in task.loader.creator()] == ["loop:a:0", "loop:a"]


def test_a_placeholder_cannot_have_targets() -> None:
    with pytest.raises(ValueError, match="`loop:a` must leave `targets`"):
        late("loop:a", counted, "loop:a", 1, targets=["state.json"])


def test_a_creator_that_does_not_make_its_own_task_is_an_error() -> None:
    task = late("loop:a", forgetful, "loop:a")

    with pytest.raises(InvalidTask, match="`loop:a` was not made"):
        list(task.loader.creator())
