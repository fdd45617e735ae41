"""Actions of a fan: a bead that rests, and the end of the whole stage."""

import os
from typing import Any

from doit.exceptions import TaskFailed

from looptasks.core.completion import RULES, Done, Evidence, Waiting
from looptasks.core.count import counted
from looptasks.core.fan import folder_of
from looptasks.core.pipeline import Stage
from looptasks.core.record import Event
from looptasks.core.step import Stop
from looptasks.effects.files import make_folder, write_if_changed
from looptasks.errors import LoopError
from looptasks.plugin.board_file import write_board
from looptasks.plugin.closing import close
from looptasks.plugin.graph import rest
from looptasks.plugin.workplace import Workplace


def rest_bead(place: Workplace, bead: str, reason: str) -> Any:
    """Do nothing about a bead, let others have it, and say why."""
    try:
        if place.owned:
            place.beads.let_go(bead)
    except LoopError as error:
        return TaskFailed(str(error))
    return rest(reason)


def close_container(place: Workplace, bead: str) -> Any:
    """Close a bead whose children were all that was to do."""
    reason = "all its children are closed"
    try:
        with place:
            place.beads.tracker.close(bead, reason)
            write_board(place, at_once=False)
    except LoopError as error:
        return TaskFailed(str(error))
    return {"summary": f"complete: {reason}"}


def close_fan(place: Workplace, stage: Stage) -> Any:
    """Say how a stage over beads ended, once none of its beads can go on."""
    if place.news():
        place.resting[stage.name] = "something new comes first"
        return rest(place.resting[stage.name])
    try:
        place.hold()
        stop = _stop(place, stage)
        if stop.status == "complete":
            _hand_on(place, stage)
        leave_tidy(place)
        close(place, stage, stop)
    except LoopError as error:
        return TaskFailed(str(error))
    if stop.status == "complete":
        return {"summary": f"complete: {stop.reason}"}
    return TaskFailed(stop.reason)


def leave_tidy(place: Workplace) -> None:
    """Bring home what is left in worktrees, if there are any."""
    if os.path.isdir(place.folder.file("worktrees")):
        from looptasks.plugin.worksite import clean_up  # noqa: PLC0415 - git is seldom

        clean_up(place)


def _stop(place: Workplace, stage: Stage) -> Stop:
    bad = [stop for stop in _bead_stops(place) if stop["status"] != "complete"]
    if failed := [stop for stop in bad if stop["status"] == "failed"]:
        names = "; ".join(f"{_bead(s)}: {s['reason'].splitlines()[0]}" for s in failed)
        fix = next((s["fix"] for s in failed if s.get("fix")), "")
        return Stop("failed", f"{counted(len(failed), 'bead')} failed: {names}", fix)
    if bad:
        return Stop(bad[0]["status"], bad[0]["reason"], bad[0].get("fix", ""))
    evidence = Evidence(workload=place.beads.workload())
    answer = RULES["beads-empty"](stage.loop, (), evidence)
    if isinstance(answer, Done):
        return Stop("complete", answer.reason)
    if isinstance(answer, Waiting):
        return Stop("waiting", answer.reason)
    return Stop("failed", answer.reason)


def _bead_stops(place: Workplace) -> list[Event]:
    stops: dict[str, Event] = {}
    for stop in place.record().stops:
        if stop["stage"].startswith(folder_of("")):
            stops[stop["stage"]] = stop
    return list(stops.values())


def _bead(stop: Event) -> str:
    name: str = stop["stage"]
    return name.removeprefix(folder_of(""))


def _hand_on(place: Workplace, stage: Stage) -> None:
    """Write what a later stage gets: one line per bead."""
    lines = [
        f"- {bead.id}: {bead.title} ({bead.status})"
        for bead in sorted(place.beads.seen().values())
    ]
    folder = place.folder.stage(stage.name, "output")
    make_folder(folder)
    text = "\n".join(lines) + "\n"
    write_if_changed(f"{folder}/output.md", text.encode())
    header = f"# Progress of {stage.name} in {place.session}\n\n{text}"
    write_if_changed(place.folder.stage(stage.name, "progress.md"), header.encode())
