"""An artifact's schema: the project's own in `schemas/`, else a shipped one."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from looptasks.core.artifact import entry_lists, with_limits
from looptasks.core.finding import Finding, Place, finding
from looptasks.core.suggestion import choice
from looptasks.effects.declaration_files import Snapshot, read
from looptasks.errors import DeclarationError

OWN = "schemas"
_SHIPPED = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schemas", "artifacts"
)
_SUFFIXES = (".schema.json", ".json")
_FIX = "mend it: https://json-schema.org says what it may hold"

Limits = tuple[int, int] | None


class SchemaFile(NamedTuple):
    """A schema as it stands in its file."""

    path: str
    text: str

    def value(self) -> dict[str, Any]:
        """Return the schema; raise when it is not a JSON object."""
        try:
            value = json.loads(self.text)
        except (ValueError, RecursionError) as error:
            what = f"the schema is not JSON: {error}"
            raise DeclarationError(what, where=self.path, fix=_FIX) from error
        if not isinstance(value, dict):
            what = "the schema is not an object"
            raise DeclarationError(what, where=self.path, fix=_FIX)
        return value


def schema_file(name: str, text: Callable[[str], str | None]) -> SchemaFile | None:
    """Return the schema of a name; `text` reads a file of the project."""
    own = [f"{OWN}/{name}{suffix}" for suffix in _SUFFIXES]
    for path in (*own, f"{_SHIPPED}/{name}{_SUFFIXES[0]}"):
        found = text(path)
        if found is not None:
            return SchemaFile(path, found)
    return None


def schema_names(root: str) -> list[str]:
    """Return the artifacts that a loop here may name."""
    names = set()
    for folder in (os.path.join(root, OWN), _SHIPPED):
        listed = os.listdir(folder) if os.path.isdir(folder) else []
        names |= {_stem(name) for name in listed if name.endswith(_SUFFIXES)}
    return sorted(names)


def _stem(name: str) -> str:
    suffix = next(suffix for suffix in _SUFFIXES if name.endswith(suffix))
    return name.removesuffix(suffix)


@lru_cache(maxsize=64)
def project_schema(root: str, name: str) -> SchemaFile:
    """Return the schema that artifacts of a name must satisfy, as this run sees it."""

    def text(path: str) -> str | None:
        data = read(root, path)
        return None if data is None else data.decode("utf-8-sig", "replace")

    found = schema_file(name, text)
    if found is None:
        what, fix = _unknown(root, name)
        raise DeclarationError(what, fix=fix)
    return found


@lru_cache(maxsize=64)
def lists_of(root: str, name: str) -> tuple[str, ...]:
    """Return the lists of an artifact that stages can fan out over."""
    return entry_lists(project_schema(root, name).value())


def limited(root: str, name: str, limits: Limits) -> dict[str, Any]:
    """Return the schema of a name, with a loop's own limits of entries."""
    return with_limits(project_schema(root, name).value(), limits)


def _unknown(root: str, name: str) -> tuple[str, str]:
    what = f"there is no schema for the artifact `{name[:80]}`"
    fix = f"make `{OWN}/{name[:80]}.schema.json`, or {choice(name, schema_names(root))}"
    return what, fix


def artifact_findings(
    files: Snapshot, settings: Mapping[str, Any], place: Place
) -> Iterator[Finding]:
    """Check what settings say of an artifact."""
    name = settings.get("artifact", "")
    if not name:
        if settings.get("entries"):
            yield _uncounted(place, "there is no `artifact`")
        return
    try:
        found = schema_file(name, files.text)
        if found is None:
            what, fix = _unknown(files.root, name)
            yield finding("L027", place.whole, f"`artifact`: {what}", fix)
            return
        schema = found.value()
        yield from _faults(schema, found.path)
        if settings.get("entries") and not entry_lists(schema):
            why = f"the artifact `{name}` has no list whose entries must have a `name`"
            yield _uncounted(place, why)
    except DeclarationError as error:
        yield finding("L028", error.where, error.what, error.fix)


def _faults(schema: Mapping[str, Any], path: str) -> Iterator[Finding]:
    if path.startswith(_SHIPPED):
        return
    from looptasks.effects.artifact_check import schema_faults  # noqa: PLC0415 - 50 ms

    for what in schema_faults(schema):
        yield finding("L028", path, what, _FIX)


def _uncounted(place: Place, why: str) -> Finding:
    fix = "leave `entries` out, or name an `artifact` with a list"
    return finding("L029", place.whole, f"`entries` counts nothing: {why}", fix)
