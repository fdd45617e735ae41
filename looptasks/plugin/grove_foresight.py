"""Foresight in a grove: what a run would do to each instance, by the same code."""

from collections.abc import Iterator

from looptasks.core.instance import Node
from looptasks.core.outlook import Outlook
from looptasks.core.pipeline import Stage
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate, Step, Stop
from looptasks.plugin.course import Course
from looptasks.plugin.grove import Grove
from looptasks.plugin.instance_course import InstanceCourse
from looptasks.plugin.invalidation import outdated

Row = tuple[Stage, StageRecord, Step]


def grove_rows(grove: Grove, course: Course) -> Iterator[Row]:
    """Yield what is known of a stage's instances, then of the stage itself."""
    group = Node(course.stage.name)
    rows = [_row(grove, node) for node in grove.instances(group)]
    yield from rows
    if grove.tree.is_instance(group):
        return
    names = tuple(stage.name for stage, _, _ in rows)
    above = grove.tree.source(group).name
    stage = course.stage._replace(inputs=(above, *course.stage.inputs, *names))
    yield stage, course.record, _together(grove, course, rows)


def _row(grove: Grove, node: Node) -> Row:
    course = InstanceCourse(grove, node)
    step = course.step()
    before = [one.name for other in grove.before(node) for one in grove.members(other)]
    inputs = tuple(dict.fromkeys((*before, *course.stage.inputs)))
    return course.stage._replace(inputs=inputs), course.record, step


def _together(grove: Grove, course: Course, rows: list[Row]) -> Step:
    source = grove.tree.source(Node(course.stage.name))
    if grove.artifact(source) is None:
        return Iterate(0, f"once {grove.task(source)} has its artifact")
    due = [step for _, _, step in rows if not isinstance(step, Stop)]
    if due:
        return Iterate(0, f"{len(due)} of {len(rows)} instances to do")
    stuck = [s for _, _, s in rows if isinstance(s, Stop) and s.status != "complete"]
    if stuck:
        return stuck[0]
    if course.record.status != "complete":
        return Iterate(0, "no instance is left")
    return Stop("complete", course.record.reason)


def leaving(grove: Grove) -> Iterator[Outlook]:
    """Yield the instances whose entries are gone: their work is to be archived."""
    seen = set()
    for stage in grove.tree.fans():
        for node, reason, gone in outdated(grove, Node(stage.name)):
            if gone and node not in seen:
                seen.add(node)
                record = grove.place.record().stage(node.name)
                done = len(record.iterations)
                yield Outlook(
                    node.name,
                    node.task,
                    "archive",
                    reason,
                    0,
                    done,
                    record.status,
                    superseded=done,
                )
