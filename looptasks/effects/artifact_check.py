"""An artifact check: JSON against its schema and our rules, said in words.

Nothing is ever fetched: a `$ref` that leads out of the schema's own file is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from looptasks.core.artifact import entry_lists, list_problems
from looptasks.core.artifact_text import Problem, kind, shown
from looptasks.core.layout import dotted

_TYPES = {
    "string": "a text",
    "array": "a list",
    "object": "an object",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_PATTERNS = {r"\S": "must not be empty"}


def problems(value: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with an artifact, in the order of its parts."""
    validator = _validator(schema)
    found = sorted(validator.iter_errors(value), key=_position)
    said = {p.path: p for error in found for p in _said(error)}
    for name in entry_lists(schema):
        for problem in list_problems(value, name):
            said.setdefault(problem.path, problem)
    return list(said.values())


def schema_faults(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a schema of the user's."""
    maker: Any = validator_for(schema, default=Draft202012Validator)
    try:
        maker.check_schema(schema)
    except SchemaError as error:
        where = f"`{dotted(error.absolute_path)}`: " if error.absolute_path else ""
        yield f"the schema is not valid: {where}{error.message[:200]}"
        return
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource(resource.id() or "", resource)
    yield from _loose_ends(resource, registry.resolver_with_root(resource))


def _loose_ends(resource: Resource[Any], resolver: Any) -> Iterator[str]:  # noqa: ANN401
    contents = resource.contents
    if isinstance(contents, Mapping):
        for key in ("$ref", "$dynamicRef"):
            if isinstance(contents.get(key), str):
                yield from _unresolved(key, contents[key], resolver)
    for inner in resource.subresources():
        yield from _loose_ends(inner, resolver.in_subresource(inner))


def _unresolved(key: str, reference: str, resolver: Any) -> Iterator[str]:  # noqa: ANN401
    try:
        resolver.lookup(reference)
    except Unresolvable:
        yield (
            f"`{key}` is `{shown(reference)}`, which is not in this file: "
            "nothing is fetched, so put it into `$defs`"
        )


def _validator(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401
    maker: Any = validator_for(schema, default=Draft202012Validator)
    # Without a registry of its own it would go to the network for a `$ref`.
    return maker(schema, registry=Registry())


def _position(error: ValidationError) -> list[tuple[int, str]]:
    return [
        (step, "") if isinstance(step, int) else (-1, step)
        for step in error.absolute_path
    ]


def _said(error: Any) -> Iterator[Problem]:  # noqa: ANN401 - its own are too wide
    if error.context:
        error = best_match([error]) or error
    path = dotted(error.absolute_path)
    if error.validator == "required":
        yield from (
            Problem(dotted((*error.absolute_path, key)), "is missing")
            for key in error.validator_value
            if key not in error.instance
        )
    else:
        yield Problem(path, _words(error))


def _words(error: Any) -> str:  # noqa: ANN401 - as above
    limit, found = error.validator_value, error.instance
    match error.validator:
        case "type":
            wanted = [limit] if isinstance(limit, str) else limit
            names = " or ".join(_TYPES.get(name, name) for name in wanted)
            return f"is {kind(found)}, but must be {names}"
        case "enum":
            words = ", ".join(f"`{shown(word)}`" for word in limit)
            return f"is `{shown(found)}`, but must be one of {words}"
        case "minItems":
            return f"must have at least {limit} entries, not {len(found)}"
        case "maxItems":
            return f"must have at most {limit} entries, not {len(found)}"
        case "pattern":
            return _PATTERNS.get(limit, f"is `{shown(found)}`, not like `{limit}`")
        case _:
            return f"is wrong: {shown(error.message)}"
