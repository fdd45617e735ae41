"""The schemas of the files under `.loop/`, and which one a file must satisfy."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import looptasks

FOLDER = Path(looptasks.__file__).parent / "schemas"
_ITERATION = r".+/iterations/\d{4}"  # a bead's and an instance's are further down
_KINDS = {
    r"session\.json": "session",
    r"run\.json": "run",
    r"landing\.json": "landing",
    r"waves/\d+/state\.json": "wave-state",
    rf"{_ITERATION}/state\.json": "iteration-state",
    rf"{_ITERATION}/inputs\.json": "inputs",
    rf"{_ITERATION}/(?:judge/)?attempts/\d+/result\.json": "result",
    rf"{_ITERATION}/(?:judge/)?attempts/\d+/usage\.json": "usage",
    rf"{_ITERATION}/(?:judge/)?attempts/\d+/stream\.json": "stream",
    r"gates/.+\.json": "gate",
    r".+/state\.json": "stage-state",
}
# What agents made has a schema of the loop's choice.
_ARTIFACTS = r".+/(output/[^/]+|entries/[^/]+/[^/]+|iterations/.+/artifact)\.json"


def names() -> list[str]:
    """Return the kinds of files that there are schemas for."""
    return sorted(p.name.removesuffix(".schema.json") for p in FOLDER.glob("*.json"))


def schema(kind: str) -> dict[str, Any]:
    """Return the schema of a kind."""
    found: dict[str, Any] = json.loads((FOLDER / f"{kind}.schema.json").read_text())
    return found


def validator(kind: str) -> Draft202012Validator:
    """Return a validator that knows the schemas which others refer to."""
    known = [(f"{name}.schema.json", schema(name)) for name in names()]
    resources = [(name, Resource.from_contents(found)) for name, found in known]
    return Draft202012Validator(
        schema(kind), registry=Registry().with_resources(resources)
    )


def kind_of(path: str) -> str | None:
    """Return the kind of a file, told from its path below the session."""
    return next((k for p, k in _KINDS.items() if re.fullmatch(p, path)), None)


def faults(session: Path) -> Iterator[str]:
    """Yield what is wrong with the JSON files and the ledger of a session."""
    for path in sorted(session.rglob("*.json")):
        name = str(path.relative_to(session))
        if "/current/" in f"/{name}" or re.fullmatch(_ARTIFACTS, name):
            continue
        kind = kind_of(name)
        if kind is None:
            yield f"{name}: there is no schema for it"
        else:
            yield from _said(name, kind, json.loads(path.read_text()))
    lines = (session / "ledger.jsonl").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        yield from event_faults(f"ledger.jsonl:{number}", json.loads(line))


def event_faults(where: str, event: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an event, by the variant that it claims to be."""
    variants = schema("ledger")["$defs"]
    if event.get("event") not in variants:
        yield f"{where}: `{event.get('event')}` is no event"
        return
    base = validator("ledger")
    yield from (
        f"{where}: {error.json_path}: {error.message}"
        for error in base.evolve(schema=variants[event["event"]]).iter_errors(event)
    )


def _said(name: str, kind: str, value: Any) -> Iterator[str]:
    for error in validator(kind).iter_errors(value):
        yield f"{name}: {error.json_path}: {error.message}"
