"""`doit status`: all sessions in a line each, or one in detail."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from looptasks.core.count import counted
from looptasks.core.owner import clock_time
from looptasks.core.pipeline import fanning
from looptasks.core.spending import Spending, together
from looptasks.effects.session_folder import session_names
from looptasks.errors import LoopError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import Engagement, engagement, existing
from looptasks.plugin.standing import closed_of_all
from looptasks.plugin.state import session_state


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
            return self._detail(existing(root, request), as_json=params["json"])
        places = [engagement(root, request, n).place for n in session_names(root)]
        states = [session_state(place) for place in places]
        overall = together([Spending(), *(p.record().spending() for p in places)])
        if params["json"]:
            sums = {"cost_usd": overall.cost, "tokens": overall.tokens}
            self.print_json({"sessions": states, **sums, "cost": overall.spoken()})
        elif not states:
            self.print("no sessions yet; `doit list` shows what can be run")
        for state in [] if params["json"] else states:
            self.print(
                f"{state['session']:<24} {state['status']:<12} "
                f"{counted(state['iterations'], 'iteration')}, {state['cost']}"
            )
        if len(states) > 1 and not params["json"]:
            self.print(f"{'all sessions':<37} {overall.spoken()}")
        return 0

    def _detail(self, engaged: Engagement, *, as_json: bool) -> int:
        state = session_state(engaged.place)
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
        self._stages(engaged, state["stages"])
        for signal in state["signals"]:
            self.print(f"signal    {_asked(signal)}")
            self.print(f"          {_heard(signal)}")
        for branch in state["branches"]:
            self.print(f"branch    {branch}")
        if state["wave"]:
            self.print(f"wave      {state['wave']}")
        self.print(f"cost      {state['cost']}")
        self.print(f"next      {state['next']}")
        return 0

    def _stages(self, engaged: Engagement, stages: Sequence[Mapping[str, Any]]) -> None:
        fans = _fans(engaged)
        for stage in stages:
            done = f"{counted(stage['iterations'], 'iteration')}, {stage['cost']}"
            if stage["stage"] in fans:
                done = f"{closed_of_all(engaged.place)}, {stage['cost']}"
            if below := _instances(stage["stage"], stages):
                complete = sum(one["status"] == "complete" for one in below)
                done = f"{complete} of {counted(len(below), 'instance')} complete"
            if stage["status"] == "archived":
                continue
            self.print(f"stage     {stage['stage']:<20} {stage['status']:<10} {done}")
            if stage["reason"]:
                self.print(f"          {stage['reason']}")


def _fans(engaged: Engagement) -> set[str]:
    """Return the stages over beads, as far as their declarations are still there."""
    with suppress(LoopError):
        engaged.take_on_recorded()
    return {name for each in engaged.pipelines.values() for name in fanning(each)}


def _instances(
    name: str, stages: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return a stage's instances, those left out that nobody asks for any more."""
    below = [s for s in stages if s["stage"].startswith(f"{name}/")]
    return [s for s in below if s["status"] != "archived"]


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
