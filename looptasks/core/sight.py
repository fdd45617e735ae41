"""A sight: what was seen of the project, and what that makes stale."""

from collections.abc import Mapping
from typing import NamedTuple

from looptasks.core.completion import Evidence
from looptasks.core.digest import MISSING
from looptasks.core.pipeline import Loop
from looptasks.core.stage_record import StageRecord


class Sight(NamedTuple):
    """What was seen of the project just before deciding.

    `inputs` and `reads` map names to digests; `known_reads` says how the session left
    the files in `reads`. `missing` are files of `writes` that do not exist.
    `stale` are reasons of another kind to start again; `since` is how many iterations
    there were before this run.
    """

    inputs: Mapping[str, str] = {}
    reads: Mapping[str, str] = {}
    known_reads: Mapping[str, str] = {}
    missing: tuple[str, ...] = ()
    evidence: Evidence = Evidence()
    forced: bool = False
    stale: tuple[str, ...] = ()
    since: int = 0


def staleness(loop: Loop, record: StageRecord, sight: Sight) -> tuple[str, ...]:
    """Say which inputs changed since the stage worked from them."""
    before, now = relevant(loop, record.inputs), relevant(loop, sight.inputs)
    reasons = _changes("input", before, now)
    if "inputs" in loop.restart_on and has_settled(record):
        known = {**sight.reads, **sight.known_reads}
        reasons += _changes("file", known, sight.reads)
    return reasons


def has_settled(record: StageRecord) -> bool:
    """Tell whether work rests on its inputs; a check before the first agent may do."""
    return bool(record.iterations) or record.status == "complete"


def relevant(loop: Loop, inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs whose change makes finished iterations stale.

    `prompt` and `config` stand for themselves; everything else is an input proper.
    """
    return {
        name: digest
        for name, digest in inputs.items()
        if (name if name in ("prompt", "config") else "inputs") in loop.restart_on
    }


def _changes(
    noun: str, before: Mapping[str, str], now: Mapping[str, str]
) -> tuple[str, ...]:
    if before == now:
        return ()  # thousands of instances ask, and hardly any has changed
    return tuple(
        f"{noun} `{name}` {_verb(before.get(name, MISSING), now.get(name, MISSING))}"
        for name in sorted({*before, *now})
        if before.get(name, MISSING) != now.get(name, MISSING)
    )


def _verb(before: str, now: str) -> str:
    if before == MISSING:
        return "appeared"
    return "is gone" if now == MISSING else "changed"
