"""A declaration check: reads the files of an entry, and says what they come to."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from looptasks.core.combination import LIMITS, combination_findings
from looptasks.core.finding import Finding, Place, errors, finding
from looptasks.core.lint import (
    lone_fan,
    lone_findings,
    name_finding,
    value_findings,
)
from looptasks.core.settings import layered, settings_digest
from looptasks.core.vocabulary import Vocabulary
from looptasks.effects.artifact_schema import artifact_findings
from looptasks.effects.declaration_files import Available, Snapshot
from looptasks.effects.declared_prompt import judge_text, loop_prompt, with_judge
from looptasks.effects.entry_point_vocabulary import installed
from looptasks.effects.schema_check import Checked, check, check_settings
from looptasks.effects.yaml_text import parse
from looptasks.errors import DeclarationError


class Draft(NamedTuple):
    """What checking an entry came to; without a record it cannot be run."""

    record: dict[str, Any] | None
    findings: tuple[Finding, ...]


class Desk(NamedTuple):
    """What a check works with: files, known words, and settings for this run."""

    files: Snapshot
    words: Vocabulary
    given: Mapping[str, Any] = {}


def desk(root: str, given: Mapping[str, Any]) -> tuple[Desk, tuple[Finding, ...]]:
    """Set up a check, with those of the given settings that can be."""
    words = installed(root)
    checked = check_settings(given) if given else Checked({}, frozenset(), ())
    values = value_findings(checked.value, Place(""), words)
    found = (*checked.findings, *values)
    return Desk(Snapshot(root), words, checked.value), found


class LoopFile(NamedTuple):
    """A loop's files, read and checked by themselves."""

    place: Place
    folder: str
    settings: Mapping[str, Any]
    refused: frozenset[str]
    prompt: str
    findings: tuple[Finding, ...]


def read_mapping(
    files: Snapshot, kind: str, path: str
) -> tuple[Checked | None, tuple[Finding, ...]]:
    """Return what a declaration file says, as far as its schema lets it."""
    letter = kind[0].upper()
    code = f"{letter}001"
    try:
        text = files.text(path)
        if text is None:
            what, fix = "there is no such file", f"make it, with `name:` of the {kind}"
            return None, (finding(code, path, what, fix),)
        code = f"{letter}002"
        value = parse(text, path)
    except DeclarationError as error:
        return None, (finding(code, error.where, error.what, error.fix),)
    if not isinstance(value, dict):
        what = "empty" if value is None else "not a mapping of keys to values"
        fix = f"begin with `name:` of the {kind}"
        return None, (finding(f"{letter}003", path, f"the file is {what}", fix),)
    checked = check(kind, value, path)
    return checked, checked.findings


def read_loop(desk: Desk, found: Available) -> LoopFile:
    """Read a loop's `loop.yaml` and its prompt."""
    desk.files.settle_on(found)
    place = Place(found.path)
    folder = os.path.dirname(found.path)
    checked, findings = read_mapping(desk.files, "loop", found.path)
    if checked is None:
        return LoopFile(place, folder, {}, frozenset(), "", findings)
    where = desk.files, folder, place
    prompt, odd = loop_prompt(*where, "prompt", _prompt_file(checked.value))
    settings, more = with_judge(checked.value, partial(loop_prompt, *where, "judge"))
    findings += (
        *_name_findings(settings, place, found.name),
        *value_findings(settings, place, desk.words),
        *odd,
        *more,
    )
    refused = frozenset(str(path[0]) for path in checked.refused)
    return LoopFile(place, folder, settings, refused, prompt, findings)


def _prompt_file(settings: Mapping[str, Any]) -> str:
    return str(settings.get("prompt", "prompt.md"))


def _name_findings(
    settings: Mapping[str, Any], place: Place, folder: str
) -> Iterator[Finding]:
    name = settings.get("name", folder)
    yield from name_finding(name, place, "L007", "name")
    if name != folder:
        yield from name_finding(folder, place, "L007", "folder")
        what = f"`name` is `{name[:80]}`, but the folder is called `{folder}`"
        fix = (
            f"it runs as `loop:{folder}`: write `name: {folder}`, or rename the folder"
        )
        yield finding("L008", place.file, what, fix)


def loop_draft(desk: Desk, found: Available) -> Draft:
    """Check a loop as a pipeline of one stage."""
    loop = read_loop(desk, found)
    where = os.path.join(loop.folder, _prompt_file(loop.settings))
    alone = (
        *lone_findings(f"{loop.prompt}\n{judge_text(loop.settings)}", where),
        *lone_fan(loop.settings, loop.place.file),
    )
    if errors(loop.findings) and not loop.settings:
        return Draft(None, loop.findings)
    effective = layered({"name": found.name, **loop.settings}, desk.given)
    judged = judge(desk, effective, loop.place, loop, loop.refused)
    findings = (*loop.findings, *judged, *alone)
    if errors(findings):
        return Draft(None, findings)
    stage = stage_record(found.name, found.entry, effective, loop.prompt)
    stage |= {"folder": loop.folder, "inputs": []}
    return Draft(entry_record(desk, found, effective, [stage]), findings)


def judge(
    desk: Desk,
    effective: Mapping[str, Any],
    place: Place,
    loop: LoopFile | None,
    refused: Iterable[str],
) -> Iterator[Finding]:
    """Check effective settings; what is the loop's own fault is said of its file."""
    own: dict[str, Finding] = {}
    if loop is not None:
        found = combination_findings(loop.settings, loop.place.whole, loop.refused)
        own = {f.code: f for f in found}
    for f in combination_findings(effective, place.whole, refused):
        if not (f.code in LIMITS and "max_iterations" in desk.given):
            yield own.get(f.code, f)
    if {"artifact", "entries"}.isdisjoint(refused):
        name = effective.get("artifact")
        is_own = loop is not None and loop.settings.get("artifact") == name
        where = loop.place if loop is not None and is_own else place
        yield from artifact_findings(desk.files, effective, where)


def stage_record(
    name: str, task: str, settings: dict[str, Any], prompt: str
) -> dict[str, Any]:
    """Return what is remembered of a stage."""
    return {
        "name": name,
        "task": task,
        "settings": settings,
        "prompt": prompt,
        "digest": settings_digest(settings),
    }


def entry_record(
    desk: Desk,
    found: Available,
    declared: Mapping[str, Any],
    stages: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return what is remembered of an entry."""
    return {
        "entry": found.entry,
        "description": declared.get("description", ""),
        "stages": stages,
        "files": desk.files.digests,
    }
