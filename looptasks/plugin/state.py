"""A session's state: how it stands, for people and programs."""

import os
from typing import Any

from looptasks.core.gate import commands
from looptasks.core.record import SessionRecord
from looptasks.core.signal import Signal
from looptasks.core.stage_record import StageRecord
from looptasks.plugin.gates import Question, questions
from looptasks.plugin.workplace import Workplace

_UNFINISHED = ("failed", "waiting", "interrupted", "paused", "invalidated", "pending")


def session_state(place: Workplace) -> dict[str, Any]:
    """Return how a session stands, for people and programs."""
    record = place.record()
    owner = place.lock.owner()
    alive = owner is not None
    stages = [_stage(record.stage(n), running=alive) for n in record.names()]
    status = _status([s["status"] for s in stages], record, owner)
    spending = record.spending()
    gates = questions(place)
    return {
        "session": place.session,
        "status": status,
        "owner": owner._asdict() if owner else None,
        "entries": [
            {k: v for k, v in e.items() if k != "event"} for e in record.entries
        ],
        "stages": stages,
        "gates": [gate.fields(place.session) for gate in gates],
        "branches": _branches(place),
        "wave": _wave(place),
        "iterations": sum(s["iterations"] for s in stages),
        "cost_usd": spending.cost,
        "known_cost_usd": round(spending.cost_usd, 6),
        "unknown_costs": spending.unknown,
        "tokens": spending.tokens,
        "cost": spending.spoken(),
        "signals": [_signal(signal) for signal in record.signals.standing],
        "reason": record.end["reason"] if record.end else None,
        "next": _next(place.session, status, record, gates),
    }


def _stage(stage: StageRecord, *, running: bool) -> dict[str, Any]:
    return {
        "stage": stage.name,
        "status": _stage_status(stage, running=running),
        "iterations": len(stage.iterations),
        "reason": _reason(stage),
        "cost_usd": stage.spending.cost,
        "tokens": stage.spending.tokens,
        "cost": stage.spending.spoken(),
        "seconds": round(stage.spending.seconds, 3),
    }


def _branches(place: Workplace) -> list[str]:
    """Return the branches that hold work of the session which did not come home."""
    if not os.path.isdir(place.folder.file("worktrees")):
        return []
    from looptasks.plugin.result_branch import pending_branches  # noqa: PLC0415

    return pending_branches(place)


def _wave(place: Workplace) -> str | None:
    """Say which wave of beads is at work, and how many there are."""
    if not place.uses_beads():
        return None
    from looptasks.plugin.standing import bead_standings, wave_at_work  # noqa: PLC0415

    return "{} of {}".format(*wave_at_work(bead_standings(place)))


def _stage_status(stage: StageRecord, *, running: bool) -> str:
    if stage.status == "complete" and stage.answers.unheard:
        return "pending"
    return "interrupted" if stage.status == "running" and not running else stage.status


def _reason(stage: StageRecord) -> str:
    """Say why a stage stands as it does, or what a person has said since."""
    if stage.answers.asks is not None and stage.answers.last is not None:
        return stage.answers.last.spoken()
    if stage.answers.unheard:
        return stage.answers.unheard[-1].spoken()
    return stage.reason


def _status(stages: list[str], record: SessionRecord, owner: Any) -> str:
    if owner is not None:
        return "pausing" if record.signals.whole else "running"
    paused = bool(record.signals.pauses)
    if paused and record.signals.whole:
        return "paused"
    for status in _UNFINISHED:
        if status in stages:
            stopped = status == "paused" and not paused
            return "interrupted" if stopped else status
    return "complete" if stages else "pending"


def _signal(signal: Signal) -> dict[str, Any]:
    event = signal.event
    return {
        "signal": signal.word,
        "selector": signal.selector.text,
        "stages": None if signal.stages is None else sorted(signal.stages),
        "by": event["by"],
        "at": event["at"],
        "reason": event["reason"],
        "acknowledged": list(signal.acknowledged),
    }


def _next(
    session: str, status: str, record: SessionRecord, gates: list[Question]
) -> str:
    names = " ".join(entry["entry"] for entry in record.entries)
    again = f"doit {names} session={session}"
    ways = [commands(gate.stage, session)[0] for gate in gates]
    return {
        "running": " && ".join(ways) or f"doit pause session={session}",
        "waiting": " && ".join([*ways, again]),
        "pausing": "wait for the running iteration to end",
        "complete": "nothing; all stages are complete",
        "paused": f"{record.signals.resuming(session)} && {again}",
    }.get(status, again)
