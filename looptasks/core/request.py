"""A request: what the command line and the environment ask of a session."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from looptasks.core.suggestion import did_you_mean
from looptasks.errors import UsageError

VARIABLES: Mapping[str, str] = {
    "session": "the session's name",
    "goal": "what is wanted, as ${GOAL}",
    "max": "the limit of iterations, 0 for none",
    "agent": "the agent: a name, or a command",
    "model": "the agent's model",
    "budget": "the session's budget in USD",
    "replay": "the folder that the replay agent plays",
    "record": "a folder to record the agent's answers into",
    "force": "yes: end a live owner of the session and take over",
    "now": "yes: `stop` at once",
    "reason": "why, for the ledger",
    "approve": "yes: approve every gate that this run comes to",
    "feedback": "what the next iteration is to do differently",
    "by": "who answers or signals, if not the user of this shell",
}
_ENVIRONMENT = {
    "session": "LOOP_SESSION",
    "agent": "LOOP_AGENT",
    "model": "LOOP_MODEL",
    "budget": "LOOP_BUDGET",
}
_KEPT = ("goal", "max", "agent", "model", "budget", "replay")
_YES, _NO = ("yes", "true", "1", "on"), ("no", "false", "0", "off", "")


class Request(NamedTuple):
    """The variables that were given, checked; None is not given."""

    session: str | None = None
    goal: str | None = None
    max: int | None = None
    agent: str | None = None
    model: str | None = None
    budget: float | None = None
    replay: str | None = None
    record: str | None = None
    force: bool = False
    now: bool = False
    reason: str | None = None
    approve: bool = False
    feedback: str | None = None
    by: str | None = None

    def kept(self) -> dict[str, Any]:
        """Return what a session remembers for its next runs."""
        fields = self._asdict()
        return {name: fields[name] for name in _KEPT if fields[name] is not None}

    def settings(self) -> dict[str, Any]:
        """Return the loop settings that win over declared ones."""
        settings: dict[str, Any] = {}
        if self.max is not None:
            settings["max_iterations"] = self.max
        if self.model is not None:
            settings["model"] = self.model
        if self.budget is not None:
            settings["budget_usd"] = self.budget
        if (agent := self._agent()) is not None:
            settings["agent"] = agent
        return settings

    def _agent(self) -> Any:  # noqa: ANN401 - a name or a mapping
        if self.replay is not None and self.agent in (None, "replay"):
            return {"replay": self.replay}
        if self.agent and ("/" in self.agent or " " in self.agent.strip()):
            return {"command": self.agent}
        return self.agent


def request_from(given: Mapping[str, str], environment: Mapping[str, str]) -> Request:
    """Check the variables of a command line; the environment fills gaps."""
    values = {
        name: environment[variable]
        for name, variable in _ENVIRONMENT.items()
        if environment.get(variable)
    }
    values |= {name: text for name, text in given.items() if name in VARIABLES}
    checked = {name: _checked(name, text) for name, text in values.items()}
    return Request(**checked)


def remembered(request: Request, variables: Mapping[str, Any]) -> Request:
    """Return the request with gaps filled by what the session was asked before."""
    gaps = {
        name: value
        for name, value in variables.items()
        if name in _KEPT and getattr(request, name) is None
    }
    return request._replace(**gaps)


def _checked(name: str, text: str) -> Any:  # noqa: ANN401 - depends on the variable
    if name == "max":
        if not text.isdecimal():
            raise _wrong(name, text, "a whole number, 0 for no limit", "max=10")
        return int(text)
    if name == "budget":
        return _dollars(name, text)
    if name in ("force", "now", "approve"):
        if text.lower() not in (*_YES, *_NO):
            raise _wrong(name, text, "`yes` or `no`", f"{name}=yes")
        return text.lower() in _YES
    return text


def _dollars(name: str, text: str) -> float:
    try:
        amount = float(text.removeprefix("$"))
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise _wrong(name, text, "an amount of US dollars", "budget=5.50")
    return amount


def _wrong(name: str, text: str, wanted: str, example: str) -> UsageError:
    return UsageError(
        f"`{name}` is `{text}`, but must be {wanted}", fix=f"write `{example}`"
    )


def unread(name: str, value: str) -> UsageError:
    """Return the error for a variable that nobody reads."""
    guess = did_you_mean(name, VARIABLES)
    known = ", ".join(f"`{variable}`" for variable in VARIABLES)
    return UsageError(
        f"nobody reads the variable `{name}` (`{name}={value}`){guess}",
        where="command line",
        fix=f"use one of {known}, or read it in dodo.py by `get_var`",
    )
