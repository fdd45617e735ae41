"""Landing: the last task of an entry brings the result of its instances home."""

import os
from collections.abc import Sequence

from doit.task import Task

from looptasks.core.landing import NOTE, Landing
from looptasks.core.pipeline import Pipeline
from looptasks.core.record import Event
from looptasks.errors import LoopError
from looptasks.plugin.graph import IO
from looptasks.plugin.workplace import Workplace


def landing_task(place: Workplace, pipeline: Pipeline, stages: Sequence[str]) -> Task:
    """Return the task that lands the result once all stages are through."""
    action = (land_result, [place, pipeline])
    name = f"_land:{pipeline.entry}"
    return Task(name, [action], task_dep=list(stages), io=IO)


def land_result(place: Workplace, pipeline: Pipeline) -> None:
    """Land the result if everything is complete; the ledger says what came of it."""
    if not os.path.exists(place.folder.file(NOTE)):
        return
    record = place.record()
    names = [stage.name for stage in pipeline.stages]
    if any(record.stage(name).status != "complete" for name in names) or place.news():
        return
    reads = [path for stage in pipeline.stages for path in stage.loop.reads]
    before = place.digests(reads)
    from looptasks.plugin.result_branch import land  # noqa: PLC0415 - git is seldom

    fans = [stage.loop for stage in pipeline.stages if stage.parent]
    how = "manual" if any(loop.merge == "manual" for loop in fans) else "auto"
    try:
        landing = land(place, [loop.validate for loop in fans], how, {})
    except LoopError as error:
        landing = Landing("blocked", str(error))
    if not place.owned and landing == _known(record.landing):
        return  # said before, and still so
    place.hold()
    after = place.digests(reads)
    changed = {
        path: [before.get(path), after.get(path)]
        for path in {*before, *after}
        if before.get(path) != after.get(path)
    }
    place.event(
        "landing",
        entry=pipeline.entry,
        changed=changed,
        durable=True,
        **landing._asdict(),
    )


def _known(event: Event | None) -> Landing | None:
    if event is None:
        return None
    return Landing(event["state"], event["reason"], event["command"])
