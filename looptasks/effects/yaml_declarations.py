"""Declarations in YAML: found, read, checked and resolved to pipelines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from looptasks.core.pipeline import Pipeline, Stage, loop_from
from looptasks.core.vocabulary import Vocabulary
from looptasks.effects import declaration_cache as cache
from looptasks.effects.declaration_files import Available, available, unfinished
from looptasks.errors import DeclarationError

# Checking costs imports (yaml, jsonschema) that a cached load must not pay, so what
# needs them is imported where it is called.
if TYPE_CHECKING:
    from looptasks.core.finding import Finding
    from looptasks.effects.declaration_check import Draft

__all__ = ["Available", "available", "describe", "lint", "load", "settings"]

KINDS = ("loop", "pipeline")


def load(
    root: str, entry: str, *, overrides: Mapping[str, Any] | None = None
) -> Pipeline:
    """Return the pipeline that `loop:NAME` or `pipeline:NAME` means.

    `overrides` win over every file; those that are None count as not given.
    """
    record = _record(root, entry, overrides or {})
    stages = tuple(_stage(stage) for stage in record["stages"])
    return Pipeline(entry, record["description"], stages)


def settings(
    root: str, entry: str, *, overrides: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Return each stage's settings as declared, also those that no Loop holds."""
    record = _record(root, entry, overrides or {})
    return {stage["name"]: stage["settings"] for stage in record["stages"]}


def describe(root: str, found: Available) -> str:
    """Return the description in one line; of a broken file, who says what is wrong."""
    try:
        record = _record(root, found.entry, {})
    except DeclarationError:
        return f"(broken: `doit lint {found.entry}` says why)"
    return " ".join(record["description"].split())


def lint(root: str, names: Iterable[str] = ()) -> "list[Finding]":
    """Return what is wrong or odd in the project's declarations, or in named ones."""
    shelf = available(root)
    chosen = _chosen(root, shelf, tuple(names))
    drafts = [_draft(root, found, shelf, {}) for found in chosen]
    return list(dict.fromkeys(f for draft in drafts for f in draft.findings))


def _stage(record: Mapping[str, Any]) -> Stage:
    return Stage(
        name=record["name"],
        task=record["task"],
        loop=loop_from(record["settings"], record["prompt"]),
        inputs=tuple(record["inputs"]),
        folder=record["folder"],
        digest=record["digest"],
        after=tuple(record.get("after", ())),
        parent=record.get("parent", ""),
        field=record.get("field", ""),
    )


def _record(root: str, entry: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: value for key, value in overrides.items() if value is not None}
    record = cache.recall(root, entry, given)
    if record is not None and _is_known(record, root):
        return record
    record = _checked(root, entry, given)
    cache.remember(root, entry, given, record)
    return record


def _is_known(record: Mapping[str, Any], root: str) -> bool:
    """Tell whether names that packages provided when it was checked are still there."""
    ours = Vocabulary()
    if all(ours.knows(stage["settings"]) for stage in record["stages"]):
        return True
    from looptasks.effects.entry_point_vocabulary import installed  # noqa: PLC0415

    words = installed(root)
    return all(words.knows(stage["settings"]) for stage in record["stages"])


def _checked(root: str, entry: str, given: dict[str, Any]) -> dict[str, Any]:
    from looptasks.core.finding import errors, refusal  # noqa: PLC0415

    shelf = available(root)
    draft = _draft(root, _found(root, entry, shelf), shelf, given)
    # A loop that needs a pipeline's stage is fine as a declaration, but cannot run.
    found = errors(
        f._replace(severity="error") if f.code == "L025" else f for f in draft.findings
    )
    if found or draft.record is None:
        raise refusal(found)
    return draft.record


def _draft(
    root: str, found: Available, shelf: Sequence[Available], given: Mapping[str, Any]
) -> "Draft":
    from looptasks.effects.declaration_check import desk, loop_draft  # noqa: PLC0415
    from looptasks.effects.pipeline_check import pipeline_draft  # noqa: PLC0415

    work, refused = desk(root, given)
    if found.kind == "loop":
        draft = loop_draft(work, found)
    else:
        loops = {other.name: other for other in shelf if other.kind == "loop"}
        draft = pipeline_draft(work, found, loops)
    return draft._replace(findings=(*refused, *draft.findings))


def _found(root: str, entry: str, shelf: Iterable[Available]) -> Available:
    known = {found.entry: found for found in shelf}
    known |= {found.entry: found for found in _ghosts(root)}
    if entry in known:
        return known[entry]
    raise _unknown(entry, tuple(known))


def _ghosts(root: str) -> Iterator[Available]:
    for name in unfinished(root):
        yield Available("loop", name, f"loops/{name}/loop.yaml", shipped=False)


def _unknown(entry: str, known: tuple[str, ...]) -> DeclarationError:
    from looptasks.core.suggestion import choice  # noqa: PLC0415

    kind, _, name = entry.partition(":")
    twins = [f"{other}:{name}" for other in KINDS if f"{other}:{name}" in known]
    if twins:
        fix = f"did you mean `{twins[0]}`?"
    elif known:
        alike = [k for k in known if k.startswith(f"{kind}:")]
        fix = choice(entry, alike or known)
    else:
        fix = "make one: `loops/NAME/loop.yaml` with `name: NAME`, and a `prompt.md`"
    noun = kind if kind in KINDS else "loop or pipeline"
    return DeclarationError(f"there is no {noun} `{name or entry}`", fix=fix)


def _chosen(
    root: str, shelf: Sequence[Available], names: tuple[str, ...]
) -> list[Available]:
    everything = [*shelf, *_ghosts(root)]
    if not names:
        return [found for found in everything if not found.shipped]
    chosen = []
    for name in names:
        matching = [f for f in everything if name in (f.name, f.entry)]
        if not matching:
            known = [f.entry if ":" in name else f.name for f in everything]
            raise _unknown(name, tuple(dict.fromkeys(known)))
        chosen += matching
    return chosen
