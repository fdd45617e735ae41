"""Goals in a fan: the beads, waves and iterations that were asked for by name."""

from collections.abc import Iterator, Sequence

from doit.task import Task

from looptasks.core.fan import folder_of, task_of, waves
from looptasks.core.suggestion import did_you_mean, listed
from looptasks.core.taskname import TaskName, iteration_task
from looptasks.errors import UsageError
from looptasks.plugin.fan_graph import Fan, resolve
from looptasks.plugin.late import late


def goal_tasks(fan: Fan, wanted: Sequence[TaskName]) -> Iterator[Task]:
    """Yield what was asked for by name, and all beads that it may rest on."""
    asked = [name for name in wanted if name.kind in ("bead", "wave")]
    if not asked:
        return
    beads = list(dict.fromkeys(n.name for n in asked if n.kind == "bead"))
    for bead in beads:
        _refuse_unknown(fan, bead)
    for name in asked:
        if name.kind == "bead" and name.iteration:
            fan.goals[name.name] = max(name.iteration, fan.goals.get(name.name, 0))
    yield from fan.new()
    yield from (_settled(fan, bead) for bead in beads if bead not in fan.known)
    yield from _iterations(fan, asked)
    yield from _waves(fan, [name for name in asked if name.kind == "wave"])


def _refuse_unknown(fan: Fan, bead: str) -> None:
    place = fan.course.place
    known = list(place.beads.seen())
    if bead not in known:
        raise UsageError(
            f"session `{place.session}` has no bead `{bead}`"
            f"{did_you_mean(bead, known)}",
            fix=f"`doit beads list -l {place.beads.label}` shows its beads",
        )


def _settled(fan: Fan, bead: str) -> Task:
    """Return the task of a bead that has nothing to do, or nothing that it can."""
    seen = fan.course.place.beads.seen()[bead]
    done = seen.status == "closed"
    doc = "closed" if done else f"rests: it is {seen.status}"
    if not done and seen.holders:
        doc = f"rests: blocked by {', '.join(seen.holders)}"
    meta = {"looptasks": (folder_of(bead), 0)}
    return Task(task_of(bead), [], uptodate=[True], doc=doc, meta=meta)


def _iterations(fan: Fan, asked: Sequence[TaskName]) -> Iterator[Task]:
    for name in dict.fromkeys(name for name in asked if name.iteration):
        task = iteration_task(name.whole, name.iteration)
        goal = fan.goals[name.name]
        if name.iteration < goal:
            leader = iteration_task(name.whole, goal)
            yield Task(task, None, task_dep=[leader])
        elif name.name in fan.known:
            blockers = [t for t in fan.blockers(name.name) if t != task]
            yield late(task, resolve, fan, name.name, goal, after=blockers)
        else:
            yield Task(task, None, task_dep=[name.whole])


def _waves(fan: Fan, asked: Sequence[TaskName]) -> Iterator[Task]:
    """Yield a group task per wave that was asked for."""
    place = fan.course.place
    levels = waves(place.beads.seen(), place.record())
    for name in asked:
        members = [bead for bead, level in levels.items() if str(level) == name.name]
        if not members:
            there = [f"wave:{number}" for number in sorted(set(levels.values()))]
            raise UsageError(
                f"session `{place.session}` has no `{name.whole}`",
                fix=f"there are {listed(there)}" if there else "it has no open bead",
            )
        tasks = [task_of(bead) for bead in members if bead in fan.known]
        yield Task(name.whole, None, task_dep=tasks, doc=f"wave {name.name}")
