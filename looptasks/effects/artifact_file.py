"""An artifact's files: what a stage hands on, and one file per entry of its lists."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from looptasks.core.artifact import entries
from looptasks.core.artifact_text import Problem, canonical, parsed
from looptasks.core.digest import of_bytes, of_value
from looptasks.core.stage_record import StageRecord
from looptasks.effects.artifact_schema import Limits, limited, lists_of, project_schema
from looptasks.effects.files import (
    make_folder,
    read_bytes,
    storing,
    write_if_changed,
    write_whole,
)
from looptasks.effects.session_folder import SessionFolder
from looptasks.errors import LoopError

_CHECKED, _PUBLISHED = ".checked", ".published"


def read_artifact(
    folder: SessionFolder, stage: str, name: str, limits: Limits = None
) -> dict[str, Any] | None:
    """Return the artifact that a stage hands on; raise when somebody broke it.

    What was once checked is known by its digest: most runs need no schema.
    """
    path = folder.stage(stage, "output", f"{name}.json")
    data = read_bytes(path)
    if data is None:
        return None
    note, seal = folder.stage(stage, "entries", _CHECKED), _seal(folder, name, limits)
    seal = of_value([seal, of_bytes(data)])
    if read_bytes(note) == seal.encode():
        value: dict[str, Any] = json.loads(data)
        return value
    value = _checked(data, folder, path, (name, limits))
    with suppress(LoopError):  # it is only a shortcut
        make_folder(os.path.dirname(note))
        write_whole(note, seal.encode())
    return value


def _seal(folder: SessionFolder, name: str, limits: Limits) -> str:
    schema = project_schema(folder.root, name).text
    return of_value([schema, list(limits) if limits else None])


def _checked(
    data: bytes, folder: SessionFolder, path: str, kind: tuple[str, Limits]
) -> dict[str, Any]:
    from looptasks.effects.artifact_check import problems  # noqa: PLC0415 - 50 ms

    value = parsed(data.decode("utf-8-sig", "replace"))
    if isinstance(value, Problem):
        raise _broken(path, folder, str(value))
    found = problems(value, limited(folder.root, *kind))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise _broken(path, folder, f"{found[0]}{more}")
    return value


def _broken(path: str, folder: SessionFolder, why: str) -> LoopError:
    return LoopError(
        f"the artifact cannot be used: {why}",
        where=os.path.relpath(path, folder.root),
        fix="mend the file; or remove it and run `doit forget` on its stage",
    )


def publish_artifact(
    folder: SessionFolder, record: StageRecord, name: str, limits: Limits = None
) -> None:
    """Hand on the last iteration's artifact; what a person made of it since stays."""
    stage, last = record.name, record.iterations[-1]
    output = folder.stage(stage, "output", f"{name}.json")
    note = folder.stage(stage, "entries", _PUBLISHED)
    if read_bytes(note) != last.artifact.encode() or not os.path.exists(output):
        source = folder.iteration(stage, last.number, "artifact.json")
        data = read_bytes(source)
        if data is None or of_bytes(data) != last.artifact:
            raise _lost(folder, source)
        known = {last.artifact.encode(), read_bytes(note)}
        edited = of_bytes(read_bytes(output) or data).encode() not in known
        folder.clear_output(stage, () if edited else (f"{name}.json", f"{name}.md"))
        write_if_changed(output, data)
        make_folder(os.path.dirname(note))
        write_whole(note, last.artifact.encode())
    value = read_artifact(folder, stage, name, limits)
    write_entries(folder, stage, name, value or {})


def _lost(folder: SessionFolder, path: str) -> LoopError:
    return LoopError(
        "the artifact of the last iteration is gone, or no longer what it was",
        where=os.path.relpath(path, folder.root),
        fix="put it back, or make it again: `doit forget` on that iteration",
    )


def write_entries(
    folder: SessionFolder, stage: str, name: str, artifact: Mapping[str, Any]
) -> None:
    """Write what derives from an artifact, touching only what differs."""
    from looptasks.core.artifact_markdown import markdown  # noqa: PLC0415 - seldom

    text = markdown(artifact, name)
    write_if_changed(folder.stage(stage, "output", f"{name}.md"), text.encode())
    for field in lists_of(folder.root, name):
        wanted = {f"{e.name}.json": e.value for e in entries(artifact, field)}
        place = folder.stage(stage, "entries", field)
        make_folder(place)
        for stale in set(os.listdir(place)).difference(wanted):
            with storing(place), suppress(FileNotFoundError):
                os.unlink(os.path.join(place, stale))
        for file, value in wanted.items():
            write_if_changed(os.path.join(place, file), canonical(value).encode())
