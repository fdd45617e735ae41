"""Standing: how the beads of a session stand right now."""

from looptasks.core.count import counted
from looptasks.core.fan import Standing, is_ours, levels, standings, waves
from looptasks.plugin.workplace import Workplace


def bead_standings(place: Workplace) -> list[Standing]:
    """Return how the beads of a session stand, wave by wave."""
    seen, record = place.beads.seen(), place.record()
    alive = place.owned or place.lock.owner() is not None

    def running(bead: str) -> bool:
        busy = seen[bead].status == "in_progress"
        return alive and busy and is_ours(seen[bead].assignee, place.session)

    return standings(seen, waves(seen, record), record, place.session, running)


def wave_at_work(beads: list[Standing]) -> tuple[int, int]:
    """Return the wave at work and how many there are."""
    last = max((standing.wave for standing in beads), default=0)
    if not last:
        # All were closed before the session began, such as by a recording.
        seen = {standing.bead.id: standing.bead for standing in beads}
        last = max(levels(seen, seen.keys()).values(), default=0)
    left = [standing.wave for standing in beads if standing.state != "done"]
    return min(left, default=last), last


def closed_of_all(place: Workplace) -> str:
    """Say how many of a session's beads are closed."""
    beads = place.beads.seen().values()
    closed = sum(bead.status == "closed" for bead in beads)
    return f"{closed} of {counted(len(beads), 'bead')} closed"
