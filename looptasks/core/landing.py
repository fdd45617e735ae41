"""A landing: a session's result brought to the user's branch, or why it is not."""

from typing import Literal, NamedTuple

from looptasks.core.merge import (
    CheckFailed,
    Conflict,
    Dirty,
    Merged,
    NothingToMerge,
    Outcome,
)

# Is there as long as a session has a result branch.
NOTE = "landing.json"
State = Literal["nothing", "landed", "manual", "blocked"]


class Landing(NamedTuple):
    """What came of a landing; `command` is the one that a person is left with."""

    state: State
    reason: str = ""
    command: str = ""


def landing_of(outcome: Outcome | None, result: str, home: str) -> Landing:
    """Say what came of a merge of the result; None is one that a person shall make."""
    match outcome:
        case None:
            said = f"complete and checked; to have it on `{home}`, merge `{result}`"
            return Landing("manual", said)
        case Merged(commit):
            return Landing("landed", f"the result is on `{home}` ({commit[:12]})")
        case NothingToMerge():
            return Landing("nothing")
        case Conflict(files):
            named = ", ".join(f"`{name}`" for name in files)
            said = f"`{home}` and the result on `{result}` collide in {named}"
            return Landing("blocked", f"{said}\n  fix: merge by hand and resolve it")
        case CheckFailed(output):
            said = f"the result on `{result}`, merged with `{home}`, does not pass"
            return Landing("blocked", f"{said} {output}")
        case Dirty(_, text):
            return Landing("blocked", f"the result waits on `{result}`: {text}")


def merge_command(result: str, home: str, shown: str | None) -> str:
    """Return the command that lands a result by hand.

    >>> merge_command("loop/s/result", "main", "main")
    'git merge loop/s/result'
    >>> merge_command("loop/s/result", "main", "other")
    'git switch main && git merge loop/s/result'
    """
    switch = "" if shown == home else f"git switch {home} && "
    return f"{switch}git merge {result}"
