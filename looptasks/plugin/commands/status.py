"""`doit status`: all sessions in a line each, or one in detail."""

from collections.abc import Mapping
from typing import Any

from looptasks.core.owner import clock_time
from looptasks.effects.session_folder import session_names
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import engagement, existing
from looptasks.plugin.state import session_state
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
        self.refuse_words(words)
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
        for signal in state["signals"]:
            self.print(f"signal    {_asked(signal)}")
            self.print(f"          {_heard(signal)}")
        if state["wave"]:
            self.print(f"wave      {state['wave']}")
        self.print(f"cost      {state['cost']}")
        self.print(f"next      {state['next']}")
        return 0


def _asked(signal: Mapping[str, Any]) -> str:
    """Say what was asked, by whom, when and why."""
    what = f"{signal['signal']} {signal['selector']}".strip()
    why = f": {signal['reason']}" if signal["reason"] else ""
    return f"{what} by {signal['by']} at {clock_time(signal['at'])}{why}"


def _heard(signal: Mapping[str, Any]) -> str:
    if signal["signal"] == "resume":
        return "holds against what was asked before"
    stages = ", ".join(signal["acknowledged"])
    return f"acknowledged by {stages}" if stages else "not acknowledged yet"
