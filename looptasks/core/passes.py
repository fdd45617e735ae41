"""Passes: a stage as a list of named parts, each advancing only when validated."""

from collections.abc import Sequence
from typing import NamedTuple

from looptasks.core.completion import Answer, Done, Evidence, Exhausted, NotYet
from looptasks.core.count import counted
from looptasks.core.iteration import Iteration
from looptasks.core.pipeline import Loop, Pass


class Standing(NamedTuple):
    """Which pass is at work, how many are done, and how often it was tried."""

    current: Pass | None
    done: int
    tried: int


def standing(loop: Loop, history: Sequence[Iteration]) -> Standing:
    """Say how far the passes have come.

    Iterations tell their pass by name, so that passes may be added to the list. Where
    they tell an item instead, each valid one has ended a pass.
    """
    if loop.items:
        return _by_count(loop, history)
    over = {iteration.item for iteration in history if iteration.valid}
    done = sum(found.name in over for found in loop.passes)
    current = next((found for found in loop.passes if found.name not in over), None)
    tried = sum(current is not None and i.item == current.name for i in history)
    return Standing(current, done, tried)


def _by_count(loop: Loop, history: Sequence[Iteration]) -> Standing:
    ends = [number for number, i in enumerate(history, 1) if i.valid]
    done = min(len(ends), len(loop.passes))
    if done == len(loop.passes):
        return Standing(None, done, 0)
    tried = len(history) - (ends[-1] if ends else 0)
    return Standing(loop.passes[done], done, tried)


def pass_at(loop: Loop, history: Sequence[Iteration]) -> str:
    """Return the pass of the iteration after a history; the last one goes on."""
    if not loop.passes:
        return ""
    return (standing(loop, history).current or loop.passes[-1]).name


def all_passes(loop: Loop, history: Sequence[Iteration], evidence: Evidence) -> Answer:
    """Stop when each pass is validated, or when one has had all its tries."""
    del evidence
    current, done, tried = standing(loop, history)
    if current is None:
        return Done(f"all {counted(done, 'pass')} validated")
    why = f": {history[-1].complaint}" if tried else ""
    if current.max and tried >= current.max:
        most = counted(current.max, "iteration")
        limit = f"pass `{current.name}` reached its limit of {most}"
        return Exhausted(f"{limit}{why}; raise its `max`")
    count = f"{done} of {counted(len(loop.passes), 'pass')} validated"
    return NotYet(f"{count}, next `{current.name}`{why}")
