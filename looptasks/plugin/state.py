"""A session's state: how it stands, for people and programs."""

from typing import Any

from looptasks.core.record import SessionRecord
from looptasks.plugin.workplace import Workplace

_UNFINISHED = ("failed", "waiting", "interrupted", "paused", "invalidated", "pending")


def session_state(place: Workplace) -> dict[str, Any]:
    """Return how a session stands, for people and programs."""
    record = place.record()
    owner = place.lock.owner()
    stages = [
        {
            "stage": name,
            "status": _stage_status(stage.status, running=owner is not None),
            "iterations": len(stage.iterations),
            "reason": stage.reason,
            "cost_usd": stage.spending.cost,
            "tokens": stage.spending.tokens,
            "cost": stage.spending.spoken(),
            "seconds": round(stage.spending.seconds, 3),
        }
        for name, stage in _planned(record)
    ]
    status = _status([s["status"] for s in stages], record, owner)
    spending = record.spending()
    return {
        "session": place.session,
        "status": status,
        "owner": owner._asdict() if owner else None,
        "entries": [
            {k: v for k, v in e.items() if k != "event"} for e in record.entries
        ],
        "stages": stages,
        "wave": _wave(place),
        "iterations": sum(s["iterations"] for s in stages),
        "cost_usd": spending.cost,
        "known_cost_usd": round(spending.cost_usd, 6),
        "unknown_costs": spending.unknown,
        "tokens": spending.tokens,
        "cost": spending.spoken(),
        "signal": dict(record.signal) if record.signal else None,
        "reason": record.end["reason"] if record.end else None,
        "next": _next(place.session, status, record.entries),
    }


def _wave(place: Workplace) -> str | None:
    """Say which wave of beads is at work, and how many there are."""
    if not place.uses_beads():
        return None
    from looptasks.plugin.standing import bead_standings, wave_at_work  # noqa: PLC0415

    return "{} of {}".format(*wave_at_work(bead_standings(place)))


def _planned(record: Any) -> list[tuple[str, Any]]:
    names = [name for entry in record.entries for name in entry.get("stages", ())]
    names += [name for name in record.stages if name not in names]
    return [(name, record.stage(name)) for name in names]


def _stage_status(status: str, *, running: bool) -> str:
    return "interrupted" if status == "running" and not running else status


def _status(stages: list[str], record: SessionRecord, owner: Any) -> str:
    if owner is not None:
        return "pausing" if record.signal else "running"
    if record.paused:
        return "paused"
    for status in _UNFINISHED:
        if status in stages:
            return "interrupted" if status == "paused" else status
    return "complete" if stages else "pending"


def _next(session: str, status: str, entries: Any) -> str:
    names = " ".join(entry["entry"] for entry in entries)
    again = f"doit {names} session={session}"
    return {
        "running": f"doit pause session={session}",
        "pausing": "wait for the running iteration to end",
        "complete": "nothing; all stages are complete",
        "paused": f"doit resume session={session} && {again}",
    }.get(status, again)
