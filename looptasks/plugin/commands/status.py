"""`doit status`: all sessions in a line each, or one in detail."""

from collections.abc import Mapping
from typing import Any

from looptasks.core.owner import clock_time
from looptasks.effects.session_folder import session_names
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import engagement, existing
from looptasks.plugin.workplace import Workplace


class Status(AskingCommand):
    """Says how sessions stand."""

    name = "status"
    doc_purpose = "show all sessions, or one in detail"
    doc_usage = "[session=S]"
    doc_description = (
        "State, iterations, cost, last reason and next step. Reads only: it never "
        "waits for a running session."
    )

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Print one session or all."""
        request = self.asked()
        root = self.root()
        if request.session is not None:
            place = existing(root, request).place
            return self._detail(place, as_json=params["json"])
        places = [engagement(root, request, n).place for n in session_names(root)]
        states = [session_state(place) for place in places]
        if params["json"]:
            self.print_json({"sessions": states})
        elif not states:
            self.print("no sessions yet; `doit list` shows what can be run")
        for state in [] if params["json"] else states:
            self.print(
                f"{state['session']:<24} {state['status']:<12} "
                f"{state['iterations']} iterations, {state['cost']}"
            )
        return 0

    def _detail(self, place: Workplace, *, as_json: bool) -> int:
        state = session_state(place)
        if as_json:
            self.print_json(state)
            return 0
        self.print(f"session   {state['session']}")
        self.print(f"status    {state['status']}")
        if state["owner"]:
            since = clock_time(state["owner"]["started_at"])
            self.print(f"running   pid {state['owner']['pid']} since {since}")
        for entry in state["entries"]:
            goal = f": {entry['goal']}" if entry.get("goal") else ""
            self.print(f"entry     {entry['entry']}{goal}")
        for stage in state["stages"]:
            self.print(
                f"stage     {stage['stage']:<20} {stage['status']:<10} "
                f"{stage['iterations']} iterations, {stage['cost']}"
            )
            if stage["reason"]:
                self.print(f"          {stage['reason']}")
        self.print(f"cost      {state['cost']}")
        self.print(f"next      {state['next']}")
        return 0


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
    status = _status([s["status"] for s in stages], record.signal, owner)
    spending = record.spending()
    return {
        "session": place.session,
        "status": status,
        "owner": owner._asdict() if owner else None,
        "entries": [
            {k: v for k, v in e.items() if k != "event"} for e in record.entries
        ],
        "stages": stages,
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


def _planned(record: Any) -> list[tuple[str, Any]]:
    names = [name for entry in record.entries for name in entry.get("stages", ())]
    names += [name for name in record.stages if name not in names]
    return [(name, record.stage(name)) for name in names]


def _stage_status(status: str, *, running: bool) -> str:
    return "interrupted" if status == "running" and not running else status


def _status(stages: list[str], signal: Any, owner: Any) -> str:
    if owner is not None:
        return "pausing" if signal else "running"
    if signal:
        return "paused"
    for status in ("failed", "waiting", "interrupted", "invalidated", "pending"):
        if status in stages:
            return status
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
