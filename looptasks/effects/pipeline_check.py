"""A pipeline check: a pipeline's file with the loops that its stages name."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from looptasks.core.finding import Finding, Place, errors
from looptasks.core.layout import (
    Group,
    Placed,
    contents,
    fanned,
    groups,
    in_order,
    split,
    wiring,
    with_fans,
)
from looptasks.core.lint import value_findings
from looptasks.core.lint_pipeline import (
    artifact_findings,
    fan_findings,
    file_findings,
    has_same_names,
    shape_findings,
    wiring_findings,
)
from looptasks.core.settings import layered, of_stage
from looptasks.effects.declaration_check import (
    Desk,
    Draft,
    LoopFile,
    entry_record,
    judge,
    read_loop,
    read_mapping,
    stage_record,
)
from looptasks.effects.declaration_files import Available
from looptasks.effects.declared_prompt import inline_prompt, judge_text, with_judge


class Cast(NamedTuple):
    """A stage with everything that it is made of."""

    stage: Placed
    loop: LoopFile | None
    prompt: str
    settings: dict[str, Any]
    findings: tuple[Finding, ...]

    @property
    def texts(self) -> str:
        """All that has variables to be filled in."""
        return f"{self.prompt}\n{judge_text(self.settings)}"


def pipeline_draft(
    desk: Desk, found: Available, loops: Mapping[str, Available]
) -> Draft:
    """Check a pipeline, with the loops that its stages name."""
    desk.files.settle_on(found)
    checked, findings = read_mapping(desk.files, "pipeline", found.path)
    if checked is None:
        return Draft(None, findings)
    declared, place = checked.value, Place(found.path)
    layout = groups(declared.get("stages", ()), found.path, checked.refused)
    lost = frozenset(str(p[-1]) for p in checked.refused if p[0] == "defaults")
    top = Place(found.path, "defaults")
    ask = partial(inline_prompt, desk.files, top, "judge")
    base, odd = with_judge(declared.get("defaults", {}), ask)
    findings += (
        *file_findings(declared, place, found.name),
        *odd,
        *value_findings(base, top, desk.words),
        *shape_findings(layout, loops),
    )
    shelf = _shelf(desk, layout, loops)
    casts = [_cast(desk, stage, base, shelf) for g in layout for stage in g.members]
    findings += tuple(f for cast in casts for f in _cast_findings(desk, cast, lost))
    return _wired_draft(desk, found, declared, (layout, casts, findings))


def _shelf(
    desk: Desk, layout: Sequence[Group], loops: Mapping[str, Available]
) -> dict[str, LoopFile]:
    used = {stage.declared.get("loop") for g in layout for stage in g.members}
    return {name: read_loop(desk, loops[name]) for name in loops if name in used}


def _cast(
    desk: Desk,
    stage: Placed,
    defaults: Mapping[str, Any],
    shelf: Mapping[str, LoopFile],
) -> Cast:
    loop = shelf.get(stage.declared.get("loop", ""))
    where = desk.files, stage.place
    own, odd = with_judge(
        of_stage(stage.declared), partial(inline_prompt, *where, "judge")
    )
    below = loop.settings if loop else {}
    settings = layered({"name": stage.name, **below}, defaults, own, desk.given)
    if loop is not None:
        return Cast(stage, loop, loop.prompt, settings, (*loop.findings, *odd))
    text = str(stage.declared.get("prompt", ""))
    prompt, findings = inline_prompt(*where, "prompt", text)
    return Cast(stage, None, prompt, settings, (*findings, *odd))


def _cast_findings(desk: Desk, cast: Cast, lost: frozenset[str]) -> Iterator[Finding]:
    stage = cast.stage
    yield from cast.findings
    yield from value_findings(of_stage(stage.declared), stage.place, desk.words)
    if cast.loop is None and "loop" in stage.declared:
        return
    if cast.loop is not None and not cast.loop.settings:
        return
    refused = lost | stage.refused | (cast.loop.refused if cast.loop else lost)
    if "runs" in refused:
        refused |= {"max_iterations"}
    yield from judge(desk, cast.settings, stage.place, cast.loop, refused)


def _wired_draft(
    desk: Desk,
    found: Available,
    declared: Mapping[str, Any],
    parts: tuple[Sequence[Group], Sequence[Cast], tuple[Finding, ...]],
) -> Draft:
    layout, casts, findings = parts
    fans = {c.stage.name: c.settings["each"] for c in casts if "each" in c.settings}
    layout = with_fans(layout, fans)
    beads = [cast.stage for cast in casts if fans.get(cast.stage.name) == "beads"]
    findings += tuple(fan_findings(beads))
    artifacts = {c.stage.name: str(c.settings.get("artifact", "")) for c in casts}
    findings += tuple(artifact_findings(layout, artifacts))
    prompts = {cast.stage.name: cast.texts for cast in casts}
    wired = wiring(layout, prompts)
    if layout and not has_same_names(layout):
        findings += tuple(wiring_findings(layout, wired, prompts))
    if errors(findings):
        return Draft(None, findings)
    by_name = {cast.stage.name: cast for cast in casts}
    placed = {s.name: s for group in layout for s in group.members}
    stages = [
        _record(by_name[name], placed[name], wired[name]) for name in in_order(wired)
    ]
    return Draft(entry_record(desk, found, declared, stages), findings)


def _record(cast: Cast, stage: Placed, wired: tuple[str, ...]) -> dict[str, Any]:
    name = cast.stage.name
    record = stage_record(name, f"stage:{name}", cast.settings, cast.prompt)
    folder = os.path.normpath(cast.loop.folder) if cast.loop else ""
    parent, field = split(str(stage.declared["each"])) if fanned(stage) else ("", "")
    inputs = contents(stage, wired, cast.texts)
    return record | {
        "folder": folder,
        "inputs": list(inputs),
        "after": list(wired),
        "parent": parent,
        "field": field,
    }
