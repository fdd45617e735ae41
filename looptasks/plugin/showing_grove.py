"""Showing a grove: a stage's instances and their iterations as doit tasks."""

from collections.abc import Iterator

from doit.task import Task

from looptasks.core.instance import Node
from looptasks.plugin.course import Course
from looptasks.plugin.grove import Grove
from looptasks.plugin.instance_course import InstanceCourse
from looptasks.plugin.shown_stage import shown_stage


def shown_grove(
    grove: Grove, course: Course, entry: str, *, whole: bool
) -> Iterator[Task]:
    """Yield a stage's instances and their iterations, then the stage itself."""
    stage, group, due = course.stage, Node(course.stage.name), ""
    names = []
    for node in grove.instances(group):
        own = InstanceCourse(grove, node)
        for task in shown_stage(own, stage.task, whole=whole):
            if task.name == own.stage.task:
                names.append(task.name)
                due = due or ("" if task.meta["stands"] else f"{task.name} is due")
            yield task
    if grove.tree.is_instance(group):
        return
    stands = not due and course.record.status == "complete"
    yield Task(
        stage.task,
        None,
        task_dep=names,
        targets=[course.path("state.json"), course.path("progress.md")],
        has_subtask=bool(names),
        subtask_of=entry,
        doc=f"{stage.loop.description or stage.name} ({course.record.status})",
        # None: what is done to it is done to its instances.
        meta={"looptasks": None, "stands": stands, "why": due or course.record.reason},
    )
