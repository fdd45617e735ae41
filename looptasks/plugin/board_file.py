"""The board's files: `PROGRESS.md`, and a folder for each wave of beads."""

from typing import Any

from looptasks.core.fan import Standing, folder_of
from looptasks.core.progress import Board, Line, board
from looptasks.core.record import Event, SessionRecord
from looptasks.core.taskname import bead_of
from looptasks.effects.files import make_folder, write_if_changed, write_json
from looptasks.plugin.standing import bead_standings, wave_at_work
from looptasks.plugin.workplace import Workplace

_PACE = 1.0  # seconds: nobody reads faster, and beads may end by the dozen


def write_board(place: Workplace, *, at_once: bool) -> None:
    """Bring `PROGRESS.md` and the waves' files up to date, at once or before long."""
    now = place.clock.monotonic()
    if not at_once and now - place.board_written < _PACE:
        return
    place.board_written = now
    record = place.record()
    entry: Event = record.entries[-1] if record.entries else {"entry": ""}
    beads = bead_standings(place) if place.uses_beads() else []
    stages = [
        _line(record, name)
        for name in record.names()
        if not bead_of(name) and record.stage(name).status != "archived"
    ]
    view = Board(
        session=place.session,
        entry=entry["entry"],
        stages=stages,
        beads=[_bead_line(record, standing) for standing in beads],
        waves=wave_at_work(beads),
        spending=record.spending(),
        iterations=sum(len(s.iterations) for s in record.stages.values()),
        budget=entry.get("variables", {}).get("budget"),
    )
    place.folder.write_board(board(view))
    write_waves(place, beads)


def _line(record: SessionRecord, name: str) -> Line:
    stage = record.stage(name)
    done = len(stage.iterations)
    return Line(name, stage.status, done, stage.reason, stage.spending)


def _bead_line(record: SessionRecord, standing: Standing) -> Line:
    bead = standing.bead
    stage = record.stages.get(folder_of(bead.id)) or record.stage(folder_of(bead.id))
    name = f"{bead.id} {bead.title}"
    done = len(stage.iterations)
    return Line(name, standing.state, done, standing.reason, stage.spending)


def write_waves(place: Workplace, beads: list[Standing]) -> None:
    """Write each wave's `state.json` and `progress.md`, if it changed."""
    waves: dict[int, list[Standing]] = {}
    for standing in beads:
        if standing.wave:
            waves.setdefault(standing.wave, []).append(standing)
    for number, members in waves.items():
        folder = place.folder.file(f"waves/{number}")
        make_folder(folder)
        write_json(f"{folder}/state.json", _wave_state(place.session, number, members))
        rows = [
            f"- [{'x' if s.state == 'done' else ' '}] {s.bead.id} {s.bead.title} "
            f"({s.state}{': ' + s.reason if s.reason else ''})"
            for s in members
        ]
        text = f"# Wave {number} of {place.session}\n\n" + "\n".join(rows) + "\n"
        write_if_changed(f"{folder}/progress.md", text.encode())


def _wave_state(session: str, number: int, members: list[Standing]) -> dict[str, Any]:
    states = [standing.state for standing in members]
    status = "running" if "running" in states else "pending"
    if all(state == "done" for state in states):
        status = "complete"
    elif "failed" in states:
        status = "failed"
    return {
        "schema": 1,
        "session": session,
        "wave": number,
        "status": status,
        "beads": [
            {"id": s.bead.id, "title": s.bead.title, "state": s.state} for s in members
        ],
    }
