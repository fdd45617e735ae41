"""Lint of pipelines: rules from a layout to findings, one code per rule."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from looptasks.core import prompt as prompts
from looptasks.core.finding import Finding, Place, finding
from looptasks.core.layout import Group, Placed, cycle, fanned, split
from looptasks.core.lint import name_finding
from looptasks.core.suggestion import choice

Wired = Mapping[str, tuple[str, ...]]


def shape_findings(
    layout: Sequence[Group], loops: Collection[str]
) -> Iterator[Finding]:
    """Check each stage by itself, and the names of all."""
    yield from _same_names(layout)
    for group in layout:
        if group.block:
            key = group.place.key("name")
            yield from name_finding(group.block, group.place, "P007", key)
        for stage in group.members:
            yield from _stage_findings(stage, loops)


def file_findings(
    declared: Mapping[str, Any], place: Place, stem: str
) -> Iterator[Finding]:
    """Check the pipeline's own name against its file."""
    name = declared.get("name")
    if not isinstance(name, str):
        return
    yield from name_finding(name, place, "P007", "name")
    if name != stem:
        what = f"`name` is `{name[:80]}`, but the file is called `{stem}`"
        fix = f"it runs as `pipeline:{stem}`: write `name: {stem}`, or rename the file"
        yield finding("P008", place.file, what, fix)


def _stage_findings(stage: Placed, loops: Collection[str]) -> Iterator[Finding]:
    yield from _sources(stage, loops)
    name = stage.name
    if name:
        key = stage.place.key("name" if "name" in stage.declared else "loop")
        yield from name_finding(name, stage.place, "P007", key)
    elif stage.refused.isdisjoint({"name", "loop", "parallel"}):
        what = f"`{stage.place.prefix}` has no `name`"
        fix = "add a `name`: it becomes the stage's folder and task"
        yield finding("P006", stage.place.file, what, fix)
    runs, most = (stage.declared.get(k) for k in ("runs", "max_iterations"))
    if None not in (runs, most) and runs != most:
        what = f"`runs` is `{runs}`, but `max_iterations` is `{most}`"
        fix = "keep one of `runs` and `max_iterations`: they mean the same"
        yield finding("P017", stage.place.whole, what, fix)


def _sources(stage: Placed, loops: Collection[str]) -> Iterator[Finding]:
    loop, prompt = (stage.declared.get(key) for key in ("loop", "prompt"))
    whole = stage.refused.isdisjoint({"loop", "prompt", "parallel"})
    if whole and (loop is None) == (prompt is None):
        which = "neither `loop` nor `prompt`" if loop is None else "`loop` and `prompt`"
        fix = "give it one of them: `loop: NAME`, or `prompt:` with a text"
        yield finding("P010", stage.place.whole, f"the stage has {which}", fix)
    if loop is not None and loop not in loops:
        what = f"{stage.place.says('loop', loop)} is no loop"
        known = sorted(loops)
        fix = choice(loop, known) if known else f"make `loops/{loop[:80]}/loop.yaml`"
        yield finding("P012", stage.place.file, what, fix)


def _same_names(layout: Sequence[Group]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    named = [(g.block, g.place) for g in layout if g.block]
    named += [(s.name, s.place) for g in layout for s in g.members if s.name]
    for name, place in named:
        first = seen.setdefault(name.lower(), place.prefix)
        if first != place.prefix:
            what = f"`{place.prefix}` is called `{name[:80]}`, and so is `{first}`"
            fix = "give it a `name` of its own (upper and lower case count as one)"
            yield finding("P011", place.file, what, fix)


def has_same_names(layout: Sequence[Group]) -> bool:
    """Tell whether a name in the layout could mean two stages."""
    return next(_same_names(layout), None) is not None


def wiring_findings(
    layout: Sequence[Group], wired: Wired, texts: Mapping[str, str]
) -> Iterator[Finding]:
    """Check what the stages work from."""
    names = [name for group in layout for name in group.names]
    blocks = [group.block for group in layout if group.block]
    for group in layout:
        for stage in group.members:
            yield from _unknown_inputs(stage, [*names, *blocks])
            yield from _asked_inputs(stage, wired, names, texts)
    known = {name: [i for i in inputs if i in wired] for name, inputs in wired.items()}
    if ring := cycle(known):
        path = " → ".join(f"`{name}`" for name in ring)
        what = f"stages wait for each other: {path}"
        where = layout[0].place.file
        yield finding("P016", where, what, "take one of them out of an `inputs`")


def fan_findings(fans: Sequence[Placed]) -> Iterator[Finding]:
    """Check that only one stage works through the beads: each has one folder."""
    for stage in fans[1:]:
        first, name = fans[0].name, stage.name
        what = f"`{name}` has `each: beads`, and so has `{first}`"
        fix = "keep one of them; a second look at beads is a pipeline of its own"
        yield finding("P020", stage.place.whole, what, fix)


def artifact_findings(
    layout: Sequence[Group], artifacts: Mapping[str, str]
) -> Iterator[Finding]:
    """Check that a list which is fanned out over can be in an artifact."""
    for stage in (member for group in layout for member in group.members):
        above, field = split(str(stage.declared.get("each", "beads")))
        if field and above in artifacts and not artifacts[above]:
            what = f"`each: {above}.{field}` needs an artifact, and `{above}` has none"
            fix = f"add `artifact: NAME` to `{above}`, or use `each: {above}`"
            yield finding("P021", stage.place.whole, what, fix)


def _unknown_inputs(stage: Placed, known: Sequence[str]) -> Iterator[Finding]:
    for name in stage.inputs or ():
        if name not in known:
            what = f"{stage.place.says('inputs', name)} is no stage"
            yield finding("P013", stage.place.file, what, choice(name, known))


def _asked_inputs(
    stage: Placed, wired: Wired, names: Sequence[str], texts: Mapping[str, str]
) -> Iterator[Finding]:
    text = texts.get(stage.name, "")
    inputs = wired.get(stage.name, ())
    asked = [("P014", f"${{INPUTS.{n}}}", n) for n in prompts.parts(text, "INPUTS")]
    if fan := fanned(stage):
        asked.append(("P018", f"each: {stage.declared['each']}", fan))
    for code, words, name in asked:
        if name not in names:
            what = f"`{words[:80]}` asks for `{name[:80]}`, which is no stage"
            yield finding(code, stage.place.whole, what, choice(name, names))
        elif name == stage.name:
            what = f"`{words[:80]}` asks for the stage itself"
            yield finding(code, stage.place.whole, what, "name an earlier stage")
        elif name not in inputs:
            what = f"`{words[:80]}` asks for `{name}`, which is not among its `inputs`"
            yield finding(code, stage.place.whole, what, f"add `{name}` to `inputs`")
    if not inputs and "INPUTS" in prompts.variables(text):
        what = f"stage `{stage.name}` uses `${{INPUTS}}`, but has no inputs"
        fix = "name its `inputs`, or take `${INPUTS}` out of the prompt"
        yield finding("P015", stage.place.whole, what, fix)
