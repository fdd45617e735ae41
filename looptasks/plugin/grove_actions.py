"""Actions of a grove: the end of a stage that has instances."""

from collections.abc import Sequence
from typing import Any

from doit.exceptions import TaskFailed

from looptasks.core.count import all_of
from looptasks.core.digest import of_value
from looptasks.core.instance import node_of
from looptasks.core.pipeline import Stage
from looptasks.core.step import Stop
from looptasks.effects.files import make_folder, write_if_changed
from looptasks.errors import LoopError
from looptasks.plugin.workplace import Workplace


def close_grove(place: Workplace, stage: Stage, names: Sequence[str]) -> Any:
    """Say how a stage ended, once none of its instances can go on."""
    from looptasks.plugin.closing import close  # noqa: PLC0415 - not for a no-op

    if place.news():
        place.resting[stage.name] = "something new comes first"
        return {"summary": f"rests: {place.resting[stage.name]}"}
    try:
        place.hold()
        stop = _stop(place, names)
        make_folder(place.folder.stage(stage.name))
        if stop.status == "complete":
            _hand_on(place, stage, names)
        close(place, stage, stop)
    except LoopError as error:
        return TaskFailed(str(error))
    # Others go on, whatever became of it: what rests on it will look.
    return {"summary": f"{stop.status}: {stop.reason}"}


def _stop(place: Workplace, names: Sequence[str]) -> Stop:
    record = place.record()
    open_ = {n: record.stage(n) for n in names if record.stage(n).status != "complete"}
    for status in ("failed", "waiting", "paused"):
        found = {n: stage for n, stage in open_.items() if stage.status == status}
        if found:
            words = "; ".join(
                f"{node_of(name).task}: {stage.reason.partition(chr(10))[0]}"
                for name, stage in found.items()
            )
            return Stop(status, f"{len(found)} of {len(names)} {status}: {words}")
    if open_:
        name = node_of(next(iter(open_))).task
        return Stop("waiting", f"{len(open_)} of {len(names)} not begun, first {name}")
    return Stop("complete", all_of(len(names), "instance", "complete"))


def _hand_on(place: Workplace, stage: Stage, names: Sequence[str]) -> None:
    """Write what a later stage gets: where each instance's output is, and which."""
    lines = []
    for name in sorted(names):  # the order of entries is no content
        outputs = place.folder.outputs(name)
        digest = of_value(outputs)[:12]
        lines.append(f"- {node_of(name).task} ({digest}): {', '.join(outputs)}")
    text = "\n".join(lines) + "\n"
    folder = place.folder.stage(stage.name, "output")
    make_folder(folder)
    write_if_changed(f"{folder}/output.md", text.encode())
    header = f"# Progress of {stage.name} in {place.session}\n\n{text}"
    write_if_changed(place.folder.stage(stage.name, "progress.md"), header.encode())
