"""A verdict: what an attempt came to, from evidence in its streams.

The exit code alone proves nothing: every agent has ways to fail with 0.
"""

from looptasks.core.agent import VerdictName
from looptasks.core.duration import spoken
from looptasks.core.fault import judged, rule_for
from looptasks.core.process import Ended
from looptasks.core.reading import Fault, Reading

Judged = tuple[VerdictName, str]
_START = "install the agent, or name where it is in `program`"
_ALLOW = "allow them in the agent's own settings, or change `args`"
_TERMINATED = (130, 137, 143)


def verdict(reading: Reading, ended: Ended) -> Judged:
    """Return the verdict on an attempt that ended, with its reason."""
    if ended.how == "unstartable":
        fixed = "" if "\n  fix: " in ended.detail else f"\n  fix: {_START}"
        return "error", f"{ended.detail or 'cannot be started'}{fixed}"
    fault = fault_in(reading)
    if reading.finished and fault is None:
        return _refused(reading) or ("ok", "its final event says that it is done")
    if fault and (reading.finished or ended.how == "exit"):
        judgement = judged(fault)
        # Of one that we have ended we know better why it was interrupted.
        if judgement[0] != "interrupted" or ended.how == "exit":
            return judgement
        reading = reading._replace(fault=None)
    return _cut_off(reading, ended)


def fault_in(reading: Reading) -> Fault | None:
    """Return the fault that ended the attempt, with all that is known of it."""
    fault, told = reading.fault, reading.retry or reading.hint
    if fault and fault.status is None and told:
        return fault._replace(status=told.status)
    return fault


def _refused(reading: Reading) -> Judged | None:
    if not reading.denials:
        return None
    named = ", ".join(f"`{name}`" for name in reading.denials[:5])
    more = len(reading.denials) - 5
    rest = f" and {more} more" if more > 0 else ""
    return "denied", f"tools were refused: {named}{rest}\n  fix: {_ALLOW}"


def _cut_off(reading: Reading, ended: Ended) -> Judged:
    took = spoken(ended.seconds)
    match ended.how:
        case "timeout":
            what = f"stopped after {took}: its time was up"
            return _in_trouble(reading, what) or ("timeout", what)
        case "idle":
            what = f"stopped after {took}: it printed nothing for too long"
            return _in_trouble(reading, what) or ("hung", what)
        case "interrupted":
            return "interrupted", f"interrupted after {took}"
        case "orphaned":
            return "interrupted", f"stopped after {took}: its runner died"
        case _:
            return _quit(reading, ended)


def _in_trouble(reading: Reading, what: str) -> Judged | None:
    """Return the verdict on the trouble that it was trying to get over, if any."""
    trouble = fault_in(reading) or reading.retry
    if not trouble:
        return None
    found, reason = judged(trouble)
    return found, f"{what}, while it tried to get over this: {reason}"


def _quit(reading: Reading, ended: Ended) -> Judged:
    """Judge an agent that ended by itself without its final event."""
    if refused := _refused(reading):
        return refused
    if ended.signal or (ended.exit_code in _TERMINATED and not reading.complaint):
        name = f"signal {ended.signal or (ended.exit_code or 0) - 128}"
        return "interrupted", f"ended by {name} from elsewhere"
    if trouble := _told(reading, ended):
        return judged(trouble)
    words = f": {reading.complaint}" if reading.complaint else ""
    seen = f"{reading.events} events" if reading.events else "nothing that can be read"
    return (
        "garbled",
        f"exit code {ended.exit_code} after {seen}, without its final event{words}",
    )


def _told(reading: Reading, ended: Ended) -> Fault | None:
    """Return a fault that was told on the way, or else on stderr as the last word."""
    if reading.retry:
        return reading.retry
    last = Fault(reading.complaint)
    known = ended.exit_code != 0 and rule_for(last).what != rule_for(Fault("")).what
    return last if known else None
