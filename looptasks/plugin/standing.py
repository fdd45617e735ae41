"""Standing: how the beads of a session stand right now."""

from looptasks.core.fan import Standing, is_ours, standings, waves
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
    left = [standing.wave for standing in beads if standing.state != "done"]
    return min(left, default=last), last
