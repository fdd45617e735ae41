"""A layout: the stages of a pipeline file in order, and what each works from."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from looptasks.core.finding import Place
from looptasks.core.prompt import parts, variables


class Placed(NamedTuple):
    """A stage as declared: its place in the file, and its keys that were refused."""

    place: Place
    name: str
    declared: Mapping[str, Any]
    refused: frozenset[str] = frozenset()

    @property
    def inputs(self) -> tuple[str, ...] | None:
        """The inputs that it names; None when it leaves them to its place."""
        named = self.declared.get("inputs")
        if isinstance(named, str):
            return (named,)
        return None if named is None else tuple(named)


class Group(NamedTuple):
    """Stages that run side by side; most groups have one."""

    block: str
    members: tuple[Placed, ...]
    place: Place

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its stages."""
        return tuple(member.name for member in self.members if member.name)


Refused = Collection[tuple[str | int, ...]]


def groups(
    entries: Iterable[Any], file: str, refused: Refused = ()
) -> tuple[Group, ...]:
    """Return a pipeline's stages in groups: a block, or neighbours marked parallel."""
    result: list[Group] = []
    for index, entry in enumerate(entries):
        path: tuple[str | int, ...] = ("stages", index)
        if not isinstance(entry, Mapping):
            continue
        group = _group(entry, file, path, refused)
        if _beside(result, group):
            last = result.pop()
            group = last._replace(members=last.members + group.members)
        result.append(group)
    return tuple(result)


def _group(
    entry: Mapping[str, Any], file: str, path: tuple[str | int, ...], refused: Refused
) -> Group:
    inner = entry.get("parallel")
    place = Place(file, dotted(path))
    if not isinstance(inner, list):
        return Group("", (_placed(entry, file, path, refused),), place)
    members = tuple(
        _placed(stage, file, (*path, "parallel", index), refused)
        for index, stage in enumerate(inner)
        if isinstance(stage, Mapping)
    )
    return Group(entry.get("name", ""), members, place)


def _placed(
    entry: Mapping[str, Any], file: str, path: tuple[str | int, ...], refused: Refused
) -> Placed:
    keys = (bad[-1] for bad in refused if bad[:-1] == path)
    name = entry.get("name") or entry.get("loop") or ""
    place = Place(file, dotted(path))
    return Placed(place, name, entry, frozenset(str(key) for key in keys))


def _beside(result: list[Group], group: Group) -> bool:
    if not result:
        return False
    stages = (*result[-1].members, *group.members)
    return bool(stages) and all(s.declared.get("parallel") is True for s in stages)


def dotted(path: Iterable[str | int]) -> str:
    """Return a path the way people write it.

    >>> dotted(("stages", 2, "completion"))
    'stages[2].completion'
    """
    steps = (f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return "".join(steps).removeprefix(".")


def wiring(
    layout: Iterable[Group], prompts: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the names that each stage works from, as declared or by its place.

    Where a stage does not say, it gets the stages just before it, and whichever
    others its prompt (`${INPUTS.x}`) asks for; what it fans out over comes on top.
    """
    layout = tuple(layout)
    blocks = {group.block: group.names for group in layout if group.block}
    names = {name for group in layout for name in group.names}
    wired: dict[str, tuple[str, ...]] = {}
    before: tuple[str, ...] = ()
    for group in layout:
        for stage in group.members:
            asked = [n for n in asked_for(stage, prompts) if n in names]
            fan = [n for n in asked if n == fanned(stage)]
            mine = stage.inputs
            named = (*before, *asked) if mine is None else (*mine, *fan)
            wired[stage.name] = tuple(dict.fromkeys(_expanded(named, blocks, names)))
        before = group.names
    return wired


def _expanded(
    named: Iterable[str], blocks: Mapping[str, tuple[str, ...]], names: Collection[str]
) -> Iterator[str]:
    for name in named:
        yield from (name,) if name in names else blocks.get(name, (name,))


def asked_for(stage: Placed, prompts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the stages whose output a stage's prompt or fan-out uses by name."""
    fan = fanned(stage)
    return (*parts(prompts.get(stage.name, ""), "INPUTS"), *((fan,) if fan else ()))


def fanned(stage: Placed) -> str:
    """Return the stage that this one fans out over, empty when there is none."""
    each = stage.declared.get("each", "beads")
    return "" if each == "beads" else split(str(each))[0]


def split(each: str) -> tuple[str, str]:
    """Return the stage and the list that an `each` names.

    >>> split("plan.specs"), split("phase")
    (('plan', 'specs'), ('phase', ''))
    """
    stage, _, field = each.partition(".")
    return stage, field


def contents(stage: Placed, wired: Iterable[str], prompt: str) -> tuple[str, ...]:
    """Return the stages whose outputs a stage works from, of all that it waits for.

    One that fans out has an entry to work from; it reads only what it asks for.
    """
    if not fanned(stage):
        return tuple(wired)
    if stage.inputs is not None or "INPUTS" in variables(prompt):
        declared = stage.inputs
        return tuple(n for n in wired if declared is None or n in declared)
    asked = parts(prompt, "INPUTS")
    return tuple(name for name in wired if name in asked)


def with_fans(layout: Iterable[Group], fans: Mapping[str, str]) -> tuple[Group, ...]:
    """Return the layout with each stage's `each`, wherever that was declared."""

    def fan(stage: Placed) -> Placed:
        return stage._replace(
            declared={**stage.declared, "each": fans.get(stage.name, "beads")}
        )

    return tuple(
        group._replace(members=tuple(map(fan, group.members))) for group in layout
    )


def cycle(wired: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return stages that wait for each other, the first one again at the end."""
    from graphlib import CycleError, TopologicalSorter  # noqa: PLC0415 - seldom needed

    try:
        TopologicalSorter(wired).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def in_order(wired: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the stages as declared, but none before those that it works from."""
    left, done = dict(wired), dict[str, None]()
    while left:
        ready = next(n for n, needs in left.items() if all(i in done for i in needs))
        done[ready] = None
        del left[ready]
    return tuple(done)
