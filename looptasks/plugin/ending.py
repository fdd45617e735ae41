"""An ending: why a run stopped, its exit code, and the command that goes on."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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
    if record.paused:
        again = f"doit resume session={engaged.place.session} && {again}"
    notes = tuple(_unknown_costs(engaged, record))
    if code == INTERRUPTED:
        return Ending(code, "interrupted", f"to go on: {again}", notes)
    if what:
        return Ending(code, f"failed: {what}", f"after mending it: {again}", notes)
    stops = record.stops if engaged.place.owned else []
    if code == 0 and any(stop["status"] != "complete" for stop in stops):
        code = FAILED  # a bead's task lets others go on, whatever became of it
    if code == 0:
        why, command = _success(engaged, record, entries)
        return Ending(0, why, command, notes)
    return _failure(_own_code(code, failed), failed, stops, again, notes)


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
    worked = stages + [s for name, s in record.stages.items() if bead_of(name)]
    count = sum(len(stage.iterations) for stage in worked)
    cost = record.spending().spoken()
    open_stages = [s.name for s in stages if s.status != "complete"]
    if open_stages:
        why = f"done so far: {count} iterations, {cost}"
        return why, f"to go on: doit {' '.join(entries)} session={session}"
    reason = stages[-1].reason if stages else "nothing declared"
    did = "complete" if engaged.place.owned else "nothing to do, complete"
    why = f"{did}: {' '.join(entries)} in session {session}, {count} iterations, "
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
    # A stage says it better than one of its beads.
    stop = next((s for s in ending_stops if not bead_of(s["stage"])), ending_stops[0])
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
