"""An onion's model: brute force, from contents alone, which instances must run."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.onion_agent import PROMPT, artifact, text

Path = tuple[str, ...]
LISTS = {"plan": "specs", "spec": "phases"}


class Shape(NamedTuple):
    """How the pipeline goes; the four layers are always there."""

    style_for: str = ""
    code_reads_spec: bool = False
    docs: bool = False
    total: bool = False
    in_order: bool = False
    whole: bool = True

    @property
    def kinds(self) -> list[str]:
        """The stages in their order."""
        docs = ["docs"] if self.docs else []
        phase = ["phase"] if self.whole else []
        return ["plan", "spec", *docs, *phase, "code", *(["sum"] if self.total else [])]

    def each(self, kind: str) -> str:
        """Return over what a stage fans out."""
        code = "phase" if self.whole else "spec.phases"
        ways = {"spec": "plan.specs", "docs": "plan.specs", "phase": "spec.phases"}
        return {**ways, "code": code}.get(kind, "")

    def parent(self, kind: str) -> str:
        """Return the stage whose artifact a stage works from."""
        return self.each(kind).partition(".")[0]

    def inputs(self, kind: str) -> list[str]:
        """Return the stages that a stage is declared to read."""
        if kind == "code" and self.code_reads_spec:
            return ["spec"]
        return ["code"] if kind == "sum" else []

    def rests_on(self, kind: str) -> list[str]:
        """Return a stage and all that it rests on, in their order."""
        above = [other for other in (self.parent(kind), *self.inputs(kind)) if other]
        found = {kind, *(name for other in above for name in self.rests_on(other))}
        return [name for name in self.kinds if name in found]

    def stages(self) -> Iterator[dict[str, Any]]:
        """Yield the declarations."""
        for kind in self.kinds:
            stage: dict[str, Any] = {"name": kind, "runs": 1, "attempts": 1}
            stage |= {"prompt": PROMPT, "inputs": self.inputs(kind)}
            if each := self.each(kind):
                stage |= {"each": each, "prompt": PROMPT + "${ITEM}"}
            if kind in ("plan", "spec", "phase"):
                stage |= {"artifact": kind}
            if kind in LISTS:
                stage |= {"entries": [1, 9]}
            reads = ["wish.json"] if kind == "plan" else []
            reads += ["style.txt"] if kind == self.style_for else []
            if kind == "code" and self.in_order:
                stage |= {"in_order": True}
            yield {**stage, "reads": reads}


class Done:
    """What an instance has made: from what, and what it hands on by now."""

    def __init__(self, source: object, made: str) -> None:
        self.source = source
        self.made = made
        self.output = made
        self.forgotten = False

    @property
    def value(self) -> Any:
        """What it hands on."""
        return json.loads(self.output)


class Model:
    """A session of an onion."""

    def __init__(self, shape: Shape, wish: str) -> None:
        self.shape = shape
        self.wish = wish
        self.style = "plain"
        self.done: dict[str, Done] = {}
        self.failing: set[str] = set()

    def nodes(self, kind: str) -> Iterator[Path]:
        """Yield the paths of the instances of a stage, as the artifacts say now."""
        parent, _, field = self.shape.each(kind).partition(".")
        if not parent:
            yield ()
            return
        for path in self.nodes(parent):
            above = self.done.get(_name(parent, path))
            if above is None:
                continue
            if not field:
                yield path
                continue
            yield from ((*path, entry["name"]) for entry in above.value[field])

    def names(self) -> set[str]:
        """Return all instances that there are by now."""
        return {_name(kind, p) for kind in self.shape.kinds for p in self.nodes(kind)}

    def run(self, *, until: str = "") -> list[str]:
        """Bring all up to a stage up to date; return whose agents are called."""
        calls, stuck = [], set[str]()
        for kind in self.shape.rests_on(until) if until else self.shape.kinds:
            for path in self._in_order(kind):
                name = _name(kind, path)
                if self._waits(kind, path, stuck):
                    stuck.add(name)
                elif self._is_due(kind, path):
                    calls.append(name)
                    self._make(kind, path)
                    stuck |= {name} & self.failing
        self._retire()
        return sorted(calls)

    def _in_order(self, kind: str) -> list[Path]:
        """Return the instances of a stage, each after those that it depends on."""
        found: list[Path] = []
        waiting = list(self.nodes(kind))
        while waiting:
            for path in waiting:
                if not any(o in waiting for o in self._siblings(kind, path)):
                    break
            waiting.remove(path)
            found.append(path)
        return found

    def _siblings(self, kind: str, path: Path) -> list[Path]:
        """Return the instances that come first by the order of entries."""
        found = []
        for index in range(len(path)):
            above = self.done[_name(("plan", "spec")[index], path[:index])].value
            entries = {e["name"]: e for e in above[LISTS[("plan", "spec")[index]]]}
            first = list(entries[path[index]].get("dependencies", []))
            if self.shape.in_order and kind == "code" and index == len(path) - 1:
                names = list(entries)
                first += names[: names.index(path[index])][-1:]
            heads = [(*path[:index], name) for name in first]
            found += [o for o in self.nodes(kind) if o[: index + 1] in heads]
        return found

    def _waits(self, kind: str, path: Path, stuck: set[str]) -> bool:
        before = [(kind, p) for p in self._siblings(kind, path)]
        for other in (self.shape.parent(kind), *self.shape.inputs(kind)):
            if other:
                before += [(other, p) for p in self.nodes(other) if _meet(p, path)]
        if kind == "sum" and any(not name.startswith("docs/") for name in stuck):
            return True
        return any(_name(*one) in stuck for one in before)

    def _is_due(self, kind: str, path: Path) -> bool:
        known = self.done.get(_name(kind, path))
        if known is None or known.forgotten:
            return True
        return known.source != self._source(kind, path)

    def _source(self, kind: str, path: Path) -> object:
        style = self.style if kind == self.shape.style_for else ""
        if kind == "plan":
            return self.wish, style
        entry = json.dumps(self._entry(kind, path), sort_keys=True)
        read = {
            _name(other, p): self.done[_name(other, p)].output
            for other in self.shape.inputs(kind)
            for p in self.nodes(other)
            if _meet(p, path)
        }
        return entry, style, read

    def _entry(self, kind: str, path: Path) -> Mapping[str, Any]:
        parent, _, field = self.shape.each(kind).partition(".")
        if not parent:
            return json.loads(self.wish) if kind == "plan" else {}
        value: Any = self.done[_name(parent, path[:-1] if field else path)].value
        return (
            next(e for e in value[field] if e["name"] == path[-1]) if field else value
        )

    def _make(self, kind: str, path: Path) -> None:
        name, source = _name(kind, path), self._source(kind, path)
        known = self.done.get(name)
        same = known is not None and known.source == source
        if name in self.failing:
            if not same:
                self.done.pop(name, None)
            return
        made = _made(kind, path, self._entry(kind, path))
        if same and known is not None and known.made == made:
            known.forgotten = False  # what a person made of it stays
        else:
            self.done[name] = Done(source, made)

    def _retire(self) -> None:
        there = self.names()
        for name in [*self.done]:
            path = tuple(name.split("/")[1:])
            if name not in there and self._is_gone(path):
                del self.done[name]

    def _is_gone(self, path: Path) -> bool:
        """Tell whether the entry is gone, and not only being made."""
        for index in range(len(path)):
            above = self.done.get(_name(("plan", "spec")[index], path[:index]))
            if above is None:
                return False
            field = LISTS[("plan", "spec")[index]]
            if path[index] not in [entry["name"] for entry in above.value[field]]:
                return True
        return False


def _made(kind: str, path: Path, entry: Mapping[str, Any]) -> str:
    made = artifact(kind, path[-1] if path else "", entry)
    if made is None:
        return text(kind, entry if kind != "sum" else {})
    return canonical(made)


def canonical(value: object) -> str:
    """Return an artifact as it is handed on."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2) + "\n"


def _name(kind: str, path: Path) -> str:
    return "/".join((kind, *path))


def _meet(one: Path, other: Path) -> bool:
    count = min(len(one), len(other))
    return one[:count] == other[:count]
