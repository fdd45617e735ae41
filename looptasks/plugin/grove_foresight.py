"""Foresight in a grove: what a run would do to each instance, by the same code."""

from collections.abc import Iterable, Iterator

from looptasks.core.count import counted
from looptasks.core.instance import Node
from looptasks.core.outlook import Outlook
from looptasks.core.pipeline import Stage
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate, Step, Stop
from looptasks.plugin.course import Course
from looptasks.plugin.grove import Grove
from looptasks.plugin.instance_course import InstanceCourse
from looptasks.plugin.invalidation import Outdated

Row = tuple[Stage, StageRecord, Step]


def grove_rows(grove: Grove, course: Course, gone: Iterable[Outdated]) -> Iterator[Row]:
    """Yield what is known of a stage's instances, then of the stage itself."""
    group = Node(course.stage.name)
    rows = [_row(grove, node) for node in grove.instances(group)]
    yield from rows
    if grove.tree.is_instance(group):
        return
    names = tuple(stage.name for stage, _, _ in rows)
    # Whoever lists entries may list others: then there are other instances.
    listing = [level.stage for level in grove.tree.levels[group.stage]]
    above = (
        one.name
        for name in dict.fromkeys([*listing, course.stage.parent])
        for one in grove.members(Node(name))
    )
    inputs = tuple(dict.fromkeys((*above, *course.stage.inputs, *names)))
    stage = course.stage._replace(inputs=inputs)
    mine = [one for one in gone if one.node.stage == course.stage.name]
    yield stage, course.record, _together(grove, course, rows, len(mine))


def _row(grove: Grove, node: Node) -> Row:
    course = InstanceCourse(grove, node)
    step = course.step()
    # Siblings that only come first have no say in what comes out.
    inputs = tuple(dict.fromkeys((course.stage.parent, *course.stage.inputs)))
    return course.stage._replace(inputs=inputs), course.record, step


def _together(grove: Grove, course: Course, rows: list[Row], gone: int) -> Step:
    source = grove.tree.source(Node(course.stage.name))
    if grove.artifact(source) is None:
        return Iterate(0, f"once {grove.task(source)} has its artifact")
    due = [step for _, _, step in rows if not isinstance(step, Stop)]
    if due:
        return Iterate(0, f"{len(due)} of {len(rows)} instances to do")
    stuck = [s for _, _, s in rows if isinstance(s, Stop) and s.status != "complete"]
    if stuck:
        return stuck[0]
    if gone:
        return Iterate(0, f"{counted(gone, 'instance')} to archive")
    if course.record.status != "complete":
        return Iterate(0, "no instance is left")
    return Stop("complete", course.record.reason)


def leaving(
    grove: Grove, views: Iterable[Outlook], gone: Iterable[Outdated]
) -> Iterator[Outlook]:
    """Yield the instances whose entries are gone: their work is to be archived."""
    moving = {view.stage: view.task for view in views if view.fate in ("run", "maybe")}
    for node, reason, _ in gone:
        record = grove.place.record().stage(node.name)
        known = 0, len(record.iterations), record.status, len(record.iterations)
        found = Outlook(node.name, node.task, "archive", reason, *known)
        listing = (source.name for source, _ in grove.sources(node))
        if again := next((moving[name] for name in listing if name in moving), ""):
            why = f"{reason}, unless the output of {again} brings it back"
            found = found._replace(fate="maybe", reason=why)
        yield found
