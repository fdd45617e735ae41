"""An ending: why a run stopped, its exit code, and the command that goes on."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from looptasks.core.count import counted
from looptasks.core.gate import ASKING, commands, typed
from looptasks.core.record import Event, SessionRecord
from looptasks.core.taskname import bead_of, parsed
from looptasks.plugin.engagement import Engagement

_WAITING = ("waiting", "paused")
FAILED, ERROR, WAITING, INTERRUPTED = 1, 2, 4, 130


class Ending(NamedTuple):
    """The last word of a run."""

    code: int
    why: str
    command: str
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what is printed last; the very last line says all that matters."""
        why, *more = self.why.splitlines()
        yield from self.notes
        yield from more
        yield f"{why}; {self.command}"


def ending_of(
    engaged: Engagement, code: int, failed: Sequence[tuple[str, Any]], what: str = ""
) -> Ending:
    """Return how a run ended, from what doit returned and what the ledger says.

    `what` is the mistake that kept it from running at all.
    """
    record = engaged.place.record()
    entries = list(dict.fromkeys(event["entry"] for event in engaged.place.asked))
    again = f"doit {' '.join(entries)} session={engaged.place.session}"
    if resume := record.signals.resuming(engaged.place.session):
        again = f"{resume} && {again}"
    notes = tuple(_unknown_costs(engaged, record))
    if code == INTERRUPTED:
        return Ending(code, "interrupted", f"to go on: {again}", notes)
    if what:
        return Ending(code, f"failed: {what}", f"after mending it: {again}", notes)
    # In a later round a stage may come to another end: the last one counts.
    last = {stop["stage"]: stop for stop in record.stops}
    there = [stop for n, stop in last.items() if record.stage(n).status != "archived"]
    stops = there if engaged.place.owned else []
    if code == 0 and any(stop["status"] != "complete" for stop in stops):
        code = FAILED  # a bead's task lets others go on, whatever became of it
    if code == 0:
        why, command = _success(engaged, record, entries)
        return _landed(Ending(0, why, command, notes), record, again)
    found = _failure(_own_code(code, failed), failed, stops, again, notes)
    return _asking(engaged, found, again)


def _asking(engaged: Engagement, ending: Ending, again: str) -> Ending:
    """Show what waits for a person; that goes on by a word."""
    from looptasks.plugin.gates import shown, waiting_gates  # noqa: PLC0415 - seldom

    asked = waiting_gates(engaged)
    place = engaged.place
    new = [gate for gate in asked if gate.digest not in engaged.shown]
    lines = tuple(line for gate in new for line in shown(place, gate))
    ending = ending._replace(notes=(*ending.notes, *lines))
    if not asked or ending.code != WAITING or ASKING not in ending.why:
        return ending
    names = ", ".join(typed(gate.stage) for gate in asked)
    ways = [commands(gate.stage, place.session)[0] for gate in asked]
    word = ASKING if len(asked) == 1 else "wait for your word"
    why, command = f"waiting: {names} {word}", " && ".join((*ways, again))
    return ending._replace(why=why, command=f"to go on: {command}")


def _landed(ending: Ending, record: SessionRecord, again: str) -> Ending:
    """Say what became of the result that instances made in their worktrees."""
    last = record.landing
    if last is None or last["state"] in ("nothing", "landed"):
        return ending
    command = f"to go on: {last['command'] or again}"
    if last["state"] == "manual":
        return ending._replace(notes=(*ending.notes, last["reason"]), command=command)
    return Ending(WAITING, f"waiting: {last['reason']}", command, ending.notes)


def _own_code(code: int, failed: Sequence[tuple[str, Any]]) -> int:
    """Return the exit code without what merely follows from a failed task."""
    plain = failed and all(fail.get_name() == "TaskFailed" for _, fail in failed)
    return FAILED if plain and code == ERROR else code


def _success(
    engaged: Engagement, record: SessionRecord, entries: Sequence[str]
) -> tuple[str, str]:
    session = engaged.place.session
    names = [s.name for e in entries for s in engaged.pipelines[e].stages]
    stages = [record.stage(name) for name in names]
    worked = stages + [s for name, s in record.stages.items() if "/" in name]
    count = sum(len(stage.iterations) for stage in worked)
    cost = record.spending().spoken()
    open_stages = [s.name for s in stages if s.status != "complete"]
    if open_stages:
        why = f"done so far: {counted(count, 'iteration')}, {cost}"
        return why, f"to go on: doit {' '.join(entries)} session={session}"
    reason = stages[-1].reason if stages else "nothing declared"
    did = "complete" if engaged.place.owned else "nothing to do, complete"
    done = counted(count, "iteration")
    why = f"{did}: {' '.join(entries)} in session {session}, {done}, "
    return f"{why}{cost} ({reason})", f"to look at it: doit status session={session}"


def _failure(
    code: int,
    failed: Sequence[tuple[str, Any]],
    stops: Sequence[Event],
    again: str,
    notes: tuple[str, ...],
) -> Ending:
    ending_stops = [stop for stop in stops if stop["status"] != "complete"]
    foreign = [name for name, _ in failed if parsed(name) is None]
    waiting = ending_stops and all(s["status"] in _WAITING for s in ending_stops)
    if waiting and not foreign and code == FAILED:
        code = WAITING
    if not ending_stops:
        names = ", ".join(name for name, _ in failed) or "a task"
        return Ending(code, f"failed: {names}", f"after mending it: {again}", notes)
    # What failed matters more than what waits; a stage says it better than its beads.
    stop = min(
        ending_stops,
        key=lambda s: (
            code != WAITING and s["status"] in _WAITING,
            bool(bead_of(s["stage"])),
        ),
    )
    fix = f" {stop['fix']}" if stop.get("fix") else ""
    word = "waiting" if code == WAITING else "failed"
    return Ending(
        code,
        f"{word}: {_spoken(stop['stage'])}: {stop['reason']}",
        f"to go on: {again}{fix}",
        notes,
    )


def _spoken(stage: str) -> str:
    return f"bead:{bead_of(stage)}" if bead_of(stage) else stage


def _unknown_costs(engaged: Engagement, record: SessionRecord) -> Iterator[str]:
    budgets = [request.budget for request in engaged.requests.values()]
    for pipeline in engaged.pipelines.values():
        budgets += [stage.loop.budget_usd for stage in pipeline.stages]
    unknown = record.spending().unknown
    if unknown and any(budget is not None for budget in budgets):
        yield f"budget: the cost of {unknown} agent calls is unknown and not counted"
