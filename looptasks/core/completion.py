"""A completion rule: says from the history alone whether a stage is done.

A rule is a function of the loop, its finished iterations and what was seen of the
project. Packages add their own through the entry-point group `looptasks.completion`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from looptasks.core.count import agreeing, all_of, counted
from looptasks.core.iteration import Iteration
from looptasks.core.pipeline import Loop


class Done(NamedTuple):
    """The rule is satisfied."""

    reason: str


class NotYet(NamedTuple):
    """The rule asks for another iteration."""

    reason: str


class Waiting(NamedTuple):
    """Nothing can be done before somebody else has finished."""

    reason: str


class Deadlocked(NamedTuple):
    """Nothing can be done at all."""

    reason: str


class Exhausted(NamedTuple):
    """Nothing more may be tried."""

    reason: str


class Workload(NamedTuple):
    """How the beads of a session stand; `why` names what holds the rest."""

    closed: int
    ready: int
    busy: int
    held: int
    why: str = ""

    @property
    def left(self) -> int:
        """How many are still to be done."""
        return self.ready + self.busy + self.held


class Evidence(NamedTuple):
    """What a rule may know beside the history.

    `checked` is the exit code of `validate` before the first agent, if it was asked.
    """

    items: tuple[str, ...] = ()
    checked: int | None = None
    workload: Workload | None = None


Answer = Done | NotYet | Waiting | Deadlocked | Exhausted
Rule = Callable[[Loop, Sequence[Iteration], Evidence], Answer]


def fixed_n(loop: Loop, history: Sequence[Iteration], evidence: Evidence) -> Answer:
    """Stop after N iterations."""
    del evidence
    count = f"{len(history)} of {counted(loop.max_iterations, 'iteration')}"
    done = len(history) >= loop.max_iterations
    return Done(f"ran {count}") if done else NotYet(f"{count} done")


def plateau(loop: Loop, history: Sequence[Iteration], evidence: Evidence) -> Answer:
    """Stop when the last iterations agree, each on its own, that nothing is left."""
    del evidence
    agreed = 0
    for iteration in reversed(history[-loop.consensus :]):
        if not says_yes(iteration.parsed.get("plateau", "")):
            break
        agreed += 1
    if agreed >= loop.consensus:
        agree = agreeing(agreed, "agrees", "agree")
        return Done(f"{counted(agreed, 'iteration')} in a row {agree} on a plateau")
    return NotYet(f"{agreed} of {loop.consensus} in a row agree on a plateau")


def all_items(loop: Loop, history: Sequence[Iteration], evidence: Evidence) -> Answer:
    """Stop when each item had its iteration."""
    del loop
    left = pending_items(history, evidence.items)
    if not left:
        return Done(all_of(len(evidence.items), "item", "done"))
    of_all = f"{len(left)} of {counted(len(evidence.items), 'item')}"
    return NotYet(f"{of_all} left, next `{left[0]}`")


def validated(loop: Loop, history: Sequence[Iteration], evidence: Evidence) -> Answer:
    """Stop when all layers of the stage's own check pass."""
    passed = history[-1].valid if history else evidence.checked == 0
    if passed:
        return Done(f"`{last_layer(loop, history)}` passed")
    if not history:
        return NotYet(f"`{last_layer(loop, history)}` has not passed yet")
    return NotYet(history[-1].complaint)


def last_layer(loop: Loop, history: Sequence[Iteration]) -> str:
    """Return the check that has the last word."""
    check = (history[-1].validation if history else None) or {}
    known = check.get("command") or loop.validate or ("judge" if loop.judge else "")
    return str(known or f"artifact {loop.artifact}")


def beads_empty(loop: Loop, history: Sequence[Iteration], evidence: Evidence) -> Answer:
    """Stop when no bead of the session is left; the agent's word does not count."""
    del loop, history
    work = evidence.workload
    if work is None:
        return NotYet("the tracker was not asked")
    if not work.left:
        return Done(all_of(work.closed, "bead", "closed"))
    if work.ready:
        return NotYet(f"{counted(work.left, 'bead')} left, {work.ready} of them ready")
    if work.busy:
        are = agreeing(work.busy, "is", "are")
        return Waiting(f"{counted(work.busy, 'bead')} {are} in other hands: {work.why}")
    if work.held == 1:
        return Deadlocked(f"the only bead left can never be ready: {work.why}")
    return Deadlocked(f"none of {work.held} beads can ever be ready: {work.why}")


RULES: Mapping[str, Rule] = {
    "fixed-n": fixed_n,
    "plateau": plateau,
    "all-items": all_items,
    "validated": validated,
    "beads-empty": beads_empty,
}


def says_yes(value: str) -> bool:
    """Tell whether an agent's word means yes: `true` or `yes`, in any case.

    >>> says_yes(" True "), says_yes("**yes**."), says_yes("true enough")
    (True, True, False)
    """
    return value.strip(" \t\r\n*_`\"'.").lower() in ("true", "yes")


def pending_items(
    history: Sequence[Iteration], items: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the items that no iteration has worked on, in their order."""
    if not items:
        return ()
    done = {iteration.item for iteration in history}
    return tuple(item for item in items if item not in done)
