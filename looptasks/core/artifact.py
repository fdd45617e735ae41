"""An artifact: what a stage hands on as JSON, and the entries that it lists."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from looptasks.core.artifact_text import DEEPEST, Problem, shown
from looptasks.core.layout import cycle

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Files and folders of a stage; the case does not count, as on some file systems.
RESERVED = frozenset(
    {"output", "iterations", "entries", "current", "state.json", "progress.md"}
)


class Entry(NamedTuple):
    """One entry of an artifact's list: what an instance of a stage works from."""

    name: str
    dependencies: tuple[str, ...]
    value: Mapping[str, Any]


def entry_lists(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the lists of an artifact whose entries must have a name."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    return tuple(
        key for key, inner in properties.items() if _is_entry_list(inner, schema)
    )


def _is_entry_list(declared: Any, schema: Mapping[str, Any]) -> bool:  # noqa: ANN401
    declared = _resolved(declared, schema)
    items = _resolved(declared.get("items"), schema)
    required = items.get("required")
    return isinstance(required, Sequence) and "name" in required


def _resolved(value: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ANN401
    """Return a part of a schema, or the definition of its own that it refers to."""
    for _ in range(DEEPEST):
        if not isinstance(value, Mapping):
            return {}
        reference = value.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return value
        value = schema
        for step in reference[2:].split("/"):
            value = value.get(step) if isinstance(value, Mapping) else None
    return {}


def with_limits(
    schema: Mapping[str, Any], entries: tuple[int, int] | None
) -> dict[str, Any]:
    """Return a schema whose lists of entries have other limits."""
    if entries is None:
        return dict(schema)
    least, most = entries
    properties = dict(schema.get("properties", {}))
    for name in entry_lists(schema):
        declared = _resolved(properties[name], schema)
        properties[name] = {**declared, "minItems": least, "maxItems": most}
    return {**schema, "properties": properties}


def entries(artifact: Mapping[str, Any], name: str) -> tuple[Entry, ...]:
    """Return the entries of a list, in its order; what is no entry is left out."""
    found = artifact.get(name)
    listed = found if isinstance(found, list) else []
    objects = [entry for entry in listed if isinstance(entry, dict)]
    named = [entry for entry in objects if isinstance(entry.get("name"), str)]
    return tuple(Entry(e["name"], _dependencies(e), e) for e in named)


def _dependencies(entry: Mapping[str, Any]) -> tuple[str, ...]:
    found = entry.get("dependencies")
    listed = found if isinstance(found, list) else []
    return tuple(dict.fromkeys(name for name in listed if isinstance(name, str)))


def list_problems(artifact: Mapping[str, Any], name: str) -> Iterator[Problem]:
    """Yield what a schema cannot say of a list of entries: names and their order."""
    found = artifact.get(name)
    seen: dict[str, str] = {}
    for number, entry in enumerate(found if isinstance(found, list) else []):
        path = f"{name}[{number}]"
        own = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(own, str):
            yield from name_problems(own, f"{path}.name")
            first = seen.setdefault(own.lower(), path)
            if first != path:
                what = f"is `{shown(own)}`, the name of `{first}` (case does not count)"
                yield Problem(f"{path}.name", what)
    yield from _dependency_problems(artifact, name)


def name_problems(name: str, path: str) -> Iterator[Problem]:
    """Say why a name cannot be a folder, a file and a task."""
    if not NAME.fullmatch(name):
        what = "but must be at most 64 letters, digits, `.`, `_`, `-`, no sign first"
    elif name.isdecimal():
        what = "but must have a letter: numbers are names of iterations"
    elif name.lower() in RESERVED:
        what = "which is a file or folder of every stage: choose another"
    else:
        return
    yield Problem(path, f"is `{shown(name)}`, {what}")


def _dependency_problems(artifact: Mapping[str, Any], name: str) -> Iterator[Problem]:
    found = artifact.get(name)
    known = {entry.name: entry.dependencies for entry in entries(artifact, name)}
    for number, entry in enumerate(found if isinstance(found, list) else []):
        if not isinstance(entry, dict) or "dependencies" not in entry:
            continue
        path = f"{name}[{number}].dependencies"
        if not _is_names(entry["dependencies"]):
            yield Problem(path, f"must be a list of names of `{name}`")
            continue
        for index, other in enumerate(entry["dependencies"]):
            if other not in known:
                what = f"is `{shown(other)}`, which is no name in `{name}`"
                yield Problem(f"{path}[{index}]", what)
    inner = {name: [d for d in needs if d in known] for name, needs in known.items()}
    if ring := cycle(inner):
        path = " → ".join(f"`{shown(step)}`" for step in ring)
        yield Problem(name, f"wait for each other: {path}")


def _is_names(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


class Inspection(NamedTuple):
    """What checking an iteration's artifact came to: only a good one has a digest."""

    digest: str = ""
    problems: tuple[Problem, ...] = ()
