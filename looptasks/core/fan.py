"""A fan: one loop per bead. Which beads are due, in which order, and why."""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from looptasks.core.record import SessionRecord
from looptasks.core.stage_record import StageRecord

State = Literal[
    "done", "due", "running", "ready", "blocked", "failed", "others", "away"
]


class SeenBead(NamedTuple):
    """A bead as a fan sees it.

    `digest` is what it asks for, without who does it and when; `blockers` are the
    beads that must be closed first, and `holders` those that keep it from starting.
    Of a `container` nothing is to be done but to close it after its children.
    """

    id: str
    title: str
    priority: int
    status: str
    assignee: str
    digest: str
    blockers: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    created: str = ""
    closed: str = ""
    container: bool = False

    @property
    def held(self) -> bool:
        """Whether anything keeps it from starting."""
        return bool(self.holders)

    @property
    def settled(self) -> bool:
        """Whether the session need not wait for it."""
        return self.status in ("closed", "deferred", "pinned")


def folder_of(bead: str) -> str:
    """Return the name of a bead's stage, which is its folder in the session."""
    return f"beads/{bead}"


def task_of(bead: str) -> str:
    """Return the name of a bead's task."""
    return f"bead:{bead}"


def actor_of(session: str, bead: str = "") -> str:
    """Return the name that agents of a session claim beads by."""
    return f"loop/{session}/{bead}" if bead else f"loop/{session}"


def is_ours(assignee: str, session: str) -> bool:
    """Tell whether a claim was made by an agent of the session."""
    mine = actor_of(session)
    return assignee == mine or assignee.startswith(f"{mine}/")


def why_due(bead: SeenBead, record: StageRecord | None, session: str) -> str | None:
    """Say why a bead's loop has something to do; None when it has not."""
    complete = record is not None and record.status == "complete"
    if bead.status == "closed":
        return None if record is None else _why_again(bead, record, session)
    if bead.status not in ("open", "in_progress") or not is_free(bead, session):
        return None
    return "it was re-opened" if complete else "it is open"


def is_free(bead: SeenBead, session: str) -> bool:
    """Tell whether a bead that is not closed is nobody else's."""
    if not bead.assignee:
        return bead.status != "in_progress"
    return is_ours(bead.assignee, session)


def is_finished(bead: SeenBead, record: StageRecord | None) -> bool:
    """Tell whether a bead is closed because its loop came to its end."""
    complete = record is not None and record.status == "complete"
    return complete and bead.status == "closed"


def _why_again(bead: SeenBead, record: StageRecord, session: str) -> str | None:
    """Say why a closed bead has something to do."""
    if record.answers.unheard:
        return f"feedback by {record.answers.unheard[0].by}"
    if record.status == "complete":
        reworded = record.inputs.get("bead") != bead.digest
        return "it was reworded" if reworded else None
    if record.status == "invalidated":
        return record.reason
    if record.started_at and is_ours(bead.assignee, session):
        return "its agent closed it before it was checked"
    return None


def due(
    beads: Mapping[str, SeenBead],
    record: SessionRecord,
    session: str,
    *,
    forced: bool = False,
) -> dict[str, str]:
    """Return the beads that need a task, and why: those due, and what rests on them.

    A settled bead below a due one gets a task, too: it looks at its inputs once the
    others are through, and rests if they came out the same. Whoever has `forced` it
    wants all of it done again.
    """
    reasons = {}
    for bead in beads.values():
        known = record.stages.get(folder_of(bead.id))
        if why := why_due(bead, known, session):
            reasons[bead.id] = why
        elif forced and is_finished(bead, known):
            reasons[bead.id] = "asked to run everything again"
    dependents = _dependents(beads.values())
    todo = list(reasons)
    while todo:
        for child in dependents.get(todo.pop(), ()):
            known = record.stages.get(folder_of(child))
            if child not in reasons and is_finished(beads[child], known):
                reasons[child] = "what it rests on may come out differently"
                todo.append(child)
    return {bead: reasons[bead] for bead in ordered(beads, reasons)}


def startable(
    beads: Mapping[str, SeenBead], reasons: Mapping[str, str]
) -> dict[str, str]:
    """Return those of the due beads that can have their turn in this run.

    The others wait for somebody else, and get a task when that has changed.
    """
    away = {b for b in reasons if not reasons.keys() >= set(beads[b].holders)}
    waiting: dict[str, list[str]] = {}
    for bead in reasons:
        for holder in beads[bead].holders:
            waiting.setdefault(holder, []).append(bead)
    todo = list(away)
    while todo:
        fresh = [b for b in waiting.get(todo.pop(), ()) if b not in away]
        away.update(fresh)
        todo += fresh
    return {bead: why for bead, why in reasons.items() if bead not in away}


def ordered(beads: Mapping[str, SeenBead], some: Iterable[str]) -> list[str]:
    """Return beads in the order in which they deserve a slot."""
    newest_first = sorted(some, key=lambda bead: beads[bead].created, reverse=True)
    return sorted(newest_first, key=lambda bead: beads[bead].priority)


def _dependents(beads: Iterable[SeenBead]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for bead in beads:
        for blocker in bead.blockers:
            found.setdefault(blocker, []).append(bead.id)
    return found


def waves(beads: Mapping[str, SeenBead], record: SessionRecord) -> dict[str, int]:
    """Return the wave of each bead of the session, from 1.

    Open beads count, and those that were closed since the session began: so a wave
    keeps its number while its beads get done. Beads of a cycle are in no wave.
    """
    members = {
        bead.id
        for bead in beads.values()
        if bead.status != "closed" or (record.began and bead.closed >= record.began)
    }
    return levels(beads, members)


def levels(beads: Mapping[str, SeenBead], members: AbstractSet[str]) -> dict[str, int]:
    """Return how long the longest chain of members is that ends in each of them."""
    below = _dependents(beads[bead] for bead in members)
    missing = {bead: len(members & {*beads[bead].blockers}) for bead in members}
    level = dict.fromkeys(members, 1)
    free = [bead for bead in beads if missing.get(bead) == 0]
    for bead in free:
        for child in below.get(bead, ()):
            level[child] = max(level[child], level[bead] + 1)
            missing[child] -= 1
            if not missing[child]:
                free.append(child)
    return {bead: level[bead] for bead in free}


class Standing(NamedTuple):
    """How one bead stands, for people: its wave, its state, what holds it."""

    bead: SeenBead
    wave: int
    state: State
    reason: str = ""


def standings(
    beads: Mapping[str, SeenBead],
    waves: Mapping[str, int],
    record: SessionRecord,
    session: str,
    running: Callable[[str], bool],
) -> list[Standing]:
    """Say how each bead stands, wave by wave."""
    found = []
    for bead in beads.values():
        known = record.stages.get(folder_of(bead.id))
        state, reason = _state(bead, known, session, running)
        found.append(Standing(bead, waves.get(bead.id, 0), state, reason))
    return sorted(found, key=lambda s: (s.wave, s.bead.priority, s.bead.id))


def _state(
    bead: SeenBead,
    record: StageRecord | None,
    session: str,
    running: Callable[[str], bool],
) -> tuple[State, str]:
    why = why_due(bead, record, session)
    if why is None:
        return _not_due(bead)
    if running(bead.id):
        return "running", ""
    if bead.holders:
        return "blocked", "by " + ", ".join(bead.holders)
    if record is not None and record.status == "failed":
        return "failed", record.reason
    return "ready", why


def _not_due(bead: SeenBead) -> tuple[State, str]:
    if bead.status == "closed":
        return "done", ""
    if bead.status == "in_progress" or (bead.status == "open" and bead.assignee):
        return "others", f"in the hands of {bead.assignee or 'somebody'}"
    return "away", bead.status
