"""Landing: the last task of an entry brings the result of its instances home."""

import os
from collections.abc import Sequence

from doit.task import Task

from looptasks.core.landing import NOTE
from looptasks.core.pipeline import Pipeline
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
    known = record.landing
    if not place.owned and known is not None and known["state"] == "manual":
        return  # said before, and still so
    names = [stage.name for stage in pipeline.stages]
    if any(record.stage(name).status != "complete" for name in names) or place.news():
        return
    reads = [path for stage in pipeline.stages for path in stage.loop.reads]
    before = place.digests(reads)
    from looptasks.plugin.result_branch import land  # noqa: PLC0415 - git is seldom

    fans = [stage.loop for stage in pipeline.stages if stage.parent]
    how = "manual" if any(loop.merge == "manual" for loop in fans) else "auto"
    try:
        place.hold()
        landing = land(place, [loop.validate for loop in fans], how, {})
    except LoopError as error:
        state, reason, command = "blocked", str(error), ""
    else:
        state, reason, command = landing
    after = place.digests(reads)
    changed = {
        path: [before.get(path), after.get(path)]
        for path in {*before, *after}
        if before.get(path) != after.get(path)
    }
    place.event(
        "landing",
        entry=pipeline.entry,
        state=state,
        reason=reason,
        command=command,
        changed=changed,
        durable=True,
    )
