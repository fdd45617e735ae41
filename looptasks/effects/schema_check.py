"""A schema check: a parsed declaration against its JSON Schema, said in words."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from looptasks.core.finding import Finding, finding
from looptasks.core.layout import dotted
from looptasks.core.suggestion import choice, suggestion

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas")
_SHOWN = 80
_PREFIXES = {"loop": "L", "pipeline": "P"}
# Their own rules say it better, and with a code of their own.
_ELSEWHERE = frozenset({"name"})

Path = tuple[str | int, ...]


class Checked(NamedTuple):
    """What a declaration says where it is right, and which keys were refused."""

    value: dict[str, Any]
    refused: frozenset[Path]
    findings: tuple[Finding, ...]


def check(kind: str, value: Mapping[str, Any], file: str) -> Checked:
    """Check a loop's or a pipeline's mapping against its schema."""
    return _checked(_validator(kind), kind, value, file)


def check_settings(value: Mapping[str, Any]) -> Checked:
    """Check settings that were given for one run, from no file."""
    return _checked(_validator("settings"), "loop", value, "")


def _checked(
    validator: Any,  # noqa: ANN401 - jsonschema is not imported at the top
    kind: str,
    value: Mapping[str, Any],
    file: str,
) -> Checked:
    found: dict[Path, Finding] = {}
    for error in validator.iter_errors(value):
        for path, code, what, fix in _said(error):
            found.setdefault(path, finding(_PREFIXES[kind] + code, file, what, fix))
    refused = frozenset(_setting(path) for path in found)
    return Checked(_without(value, (), refused), refused, tuple(found.values()))


def _validator(kind: str) -> Any:  # noqa: ANN401
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 50 ms
    from referencing import Registry, Resource  # noqa: PLC0415

    loop = _schema("loop")
    registry = Registry().with_resource(
        "loop.schema.json", Resource.from_contents(loop)
    )
    if kind == "settings":
        schema = {k: v for k, v in loop.items() if k != "required"}
    else:
        schema = _schema(kind)
    return Draft202012Validator(schema, registry=registry)


def _schema(kind: str) -> dict[str, Any]:
    path = os.path.join(_FOLDER, f"{kind}.schema.json")
    with open(path, encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    return schema


def _said(error: Any) -> Iterator[tuple[Path, str, str, str]]:  # noqa: ANN401
    path: Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from _unknown_keys(error, path)
    elif error.validator == "required":
        yield from _missing_keys(error, path)
    elif error.validator == "pattern" and path[-1] in _ELSEWHERE:
        return
    elif error.validator == "minItems" and path[-1] in ("stages", "parallel"):
        what = f"`{dotted(path)}` has no stage"
        yield path, "009", what, "add at least one `- loop: NAME`"
    else:
        yield path, "005", *_wrong_value(error, path)


def _unknown_keys(error: Any, path: Path) -> Iterator[tuple[Path, str, str, str]]:  # noqa: ANN401
    known = error.schema["properties"]
    for key in error.instance:
        if key not in known:
            whole = (*path, key)
            what = f"`{dotted(whole)[:_SHOWN]}` is no key of {error.schema['title']}"
            near = suggestion(key, known)
            fix = f"did you mean `{near}`?" if near else choice(key, known)
            yield whole, "004", what, fix


def _missing_keys(error: Any, path: Path) -> Iterator[tuple[Path, str, str, str]]:  # noqa: ANN401
    for key in error.validator_value:
        if key not in error.instance:
            whole = (*path, key)
            what = f"`{dotted(whole)}` is missing"
            code = "009" if key == "stages" else "006"
            example = _example(error.schema["properties"][key], key)
            yield whole, code, what, f"add it, for example {example}"


def _wrong_value(error: Any, path: Path) -> tuple[str, str]:  # noqa: ANN401
    schema = error.schema
    shown = _shown(error.instance)
    what = f"`{dotted(path)}` is `{shown}`, but must be {schema['title']}"
    if error.validator == "enum":
        return what, choice(str(error.instance), schema["enum"])
    key = next((str(step) for step in reversed(path) if isinstance(step, str)), "")
    if "examples" not in schema:
        return what, "correct it, or leave it out"
    return what, f"write for example {_example(schema, key)}"


def _example(schema: Mapping[str, Any], key: str) -> str:
    return f"`{key}: {_shown(schema['examples'][0])}`"


def _shown(value: Any) -> str:  # noqa: ANN401
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _setting(path: Path) -> Path:
    """Return the key, or the whole stage, that a refused value belongs to."""
    place = 0
    for name in ("stages", "parallel"):
        if len(path) > place + 1 and path[place] == name:
            place += 2
    if path[:1] == ("defaults",):
        place = 1
    return path[: place + 1]


def _without(value: Any, path: Path, refused: frozenset[Path]) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {
            key: _without(inner, (*path, key), refused)
            for key, inner in value.items()
            if (*path, key) not in refused
        }
    if isinstance(value, list):
        return [
            None if (*path, i) in refused else _without(inner, (*path, i), refused)
            for i, inner in enumerate(value)
        ]
    return value
