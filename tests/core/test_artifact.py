"""An artifact is read strictly, has one form, and its entries can stand in a graph."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.artifact import (
    RESERVED,
    entries,
    entry_lists,
    list_problems,
    with_limits,
)
from looptasks.core.artifact_markdown import markdown
from looptasks.core.artifact_text import Problem, canonical, parsed
from looptasks.core.fenced_block import last_block

texts = st.text(st.characters(codec="utf-8"), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | texts
numbers = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | numbers,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
    ),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=5)


@given(objects)
def test_an_artifact_survives_being_written_and_read(value: dict[str, Any]) -> None:
    assert parsed(canonical(value)) == value
    assert canonical(parsed(canonical(value))) == canonical(value)


@given(objects, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_the_blanks_do_not_count(
    value: dict[str, Any], chance: Any
) -> None:
    keys = list(value)
    chance.shuffle(keys)
    other = json.dumps({key: value[key] for key in keys}, indent=7)
    assert canonical(parsed(other)) == canonical(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON: Expecting value (line 1, column 1)"),
        (
            '{"a": 1,\n "b"}',
            "it is not JSON: Expecting ':' delimiter (line 2, column 5)",
        ),
        ('{"a": NaN}', "it is not JSON: there is no number `NaN`"),
        ('{"a": -Infinity}', "it is not JSON: there is no number `-Infinity`"),
        ('{"a": 1e999}', "the number `1e999` is too large"),
        ('{"b": {"a": 1, "a": 1}}', "`a` stands twice in the same object"),
        ("[]", "it must be an object, not a list"),
        ('"{}"', "it must be an object, not a text"),
        ("null", "it must be an object, not null"),
        ('{"a": "\\ud800"}', "a text in it holds half a character (a lone surrogate)"),
    ],
)
def test_what_is_not_taken_is_said(text: str, said: str) -> None:
    assert str(parsed(text)) == said


@pytest.mark.parametrize("depth", [60, 100_000])
def test_what_is_nested_too_deep_is_refused(depth: int) -> None:
    assert isinstance(parsed('{"a": ' + "[" * depth + "]" * depth + "}"), Problem)


@given(st.text())
def test_no_text_makes_the_reader_fail(text: str) -> None:
    assert isinstance(parsed(text), dict | Problem)


def spec(name: str, *dependencies: str) -> dict[str, Any]:
    return {"name": name, "dependencies": list(dependencies)}


def problems(*listed: Any) -> list[str]:
    return [str(problem) for problem in list_problems({"specs": [*listed]}, "specs")]


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ([spec("a"), spec("A")], "`specs[1].name` is `A`, the name of `specs[0]` "),
        ([spec("a/b")], "`specs[0].name` is `a/b`, but must be "),
        ([spec("a\n")], "`specs[0].name` is `a`, but must be "),
        ([spec("")], "`specs[0].name` is ``, but must be "),
        ([spec("0012")], "`specs[0].name` is `0012`, but must have a letter"),
        ([spec("Output")], "`specs[0].name` is `Output`, which is a file or folder"),
        ([spec("a", "b")], "`specs[0].dependencies[0]` is `b`, which is no name in"),
        ([spec("a", "a")], "`specs` wait for each other: `a` → `a`"),
        ([spec("a", "b"), spec("b", "a")], "`specs` wait for each other: `"),
        (
            [{"name": "a", "dependencies": {"b": 1}}],
            "`specs[0].dependencies` must be a list of names of `specs`",
        ),
    ],
)
def test_what_a_schema_cannot_say_is_checked(listed: list[Any], said: str) -> None:
    (found,) = problems(*listed)
    assert found.startswith(said)


names = st.sampled_from(["a", "b", "c", "d"])
graphs = st.lists(st.tuples(names, st.lists(names, max_size=3)), max_size=4)


@given(graphs)
def test_a_list_without_problems_can_be_put_in_order(
    drawn: list[tuple[str, list[str]]],
) -> None:
    listed = [spec(name, *needs) for name, needs in drawn]
    known = {name for name, _ in drawn}
    unique = len(known) == len(drawn)
    closed = all(need in known for _, needs in drawn for need in needs)
    assert (problems(*listed) == []) == (unique and closed and in_order(dict(drawn)))


def in_order(needs: Mapping[str, list[str]]) -> bool:
    """Whether all can be done one after the other: tried out, not reasoned."""
    left = dict(needs)
    while ready := [n for n, wanted in left.items() if not {*wanted} & {*left}]:
        for name in ready:
            del left[name]
    return not left


def test_entries_come_in_the_order_of_their_list() -> None:
    found = entries({"specs": [spec("b", "a", "a"), spec("a"), 3, {}]}, "specs")
    assert [(e.name, e.dependencies) for e in found] == [("b", ("a",)), ("a", ())]
    assert found[0].value == spec("b", "a", "a")
    assert entries({"specs": 3}, "specs") == ()


NAMED = {"type": "array", "items": {"required": ["name"]}}


@pytest.mark.parametrize(
    ("schema", "lists"),
    [
        ({}, ()),
        ({"properties": {"a": NAMED, "b": {"type": "array"}}}, ("a",)),
        ({"properties": {"a": {"items": {"$ref": "#/$defs/x"}}}}, ()),
        (
            {
                "properties": {"a": {"items": {"$ref": "#/$defs/x"}}},
                "$defs": {"x": {"required": ["name"]}},
            },
            ("a",),
        ),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, ()),
        ({"properties": {"a": True, "b": {"items": True}}}, ()),
    ],
)
def test_a_list_is_one_of_entries_when_they_must_have_a_name(
    schema: dict[str, Any], lists: tuple[str, ...]
) -> None:
    assert entry_lists(schema) == lists


def test_limits_replace_those_of_the_lists_of_entries_only() -> None:
    plain = {"type": "array", "minItems": 9}
    schema = {"properties": {"a": {**NAMED, "maxItems": 2}, "b": plain}}
    limited = with_limits(schema, (3, 7))["properties"]
    assert limited == {"a": {**NAMED, "minItems": 3, "maxItems": 7}, "b": plain}
    assert with_limits(schema, None) == schema
    assert schema["properties"]["a"]["maxItems"] == 2


def test_reserved_names_are_told_in_small_letters() -> None:
    assert {name.lower() for name in RESERVED} == RESERVED


PLAN = {
    "title": "A plan",
    "overview": "First this.\nThen that.",
    "specs": [
        {"name": "db", "title": "Tables", "description": "Make them."},
        {**spec("api", "db"), "title": "Calls", "description": "Offer them."},
    ],
    "risks": ["time"],
}
RENDERED = """\
# A plan

First this.
Then that.

## Specs

### 1. Tables (`db`)

Make them.

### 2. Calls (`api`)

Offer them.

**Dependencies:** `db`

## Risks

- time
"""
PHASE = {
    "name": "tables",
    "title": "Tables",
    "objective": "They are there.",
    "validation_command": "make check",
    "success_criteria": ["green"],
    "tasks": [{"description": "Write it", "file": "a.sql", "action": "create"}],
}
RENDERED_PHASE = """\
# Tables (`tables`)

They are there.

**Validation command:** `make check`

## Tasks

- Write it (action: `create`, file: `a.sql`)

## Success criteria

- green
"""


@pytest.mark.parametrize(
    ("artifact", "rendered"), [(PLAN, RENDERED), (PHASE, RENDERED_PHASE)]
)
def test_people_get_it_as_markdown(artifact: dict[str, Any], rendered: str) -> None:
    assert markdown(artifact, "plan") == rendered


@given(objects)
def test_any_object_can_be_rendered_and_keeps_its_texts(value: dict[str, Any]) -> None:
    rendered = markdown(value, "thing")
    assert rendered.startswith("# ")
    assert rendered == markdown(json.loads(canonical(value)), "thing")
    for inner in value.values():
        if isinstance(inner, str):
            assert inner.strip() in rendered or " ".join(inner.split()) in rendered


@given(objects, st.sampled_from(["", "text\n", "```\ncode\n```\n", "```json\n{}\n"]))
def test_the_block_that_ends_an_answer_is_found(
    value: dict[str, Any], before: str
) -> None:
    answer = f"{before}\n```json\n{canonical(value)}```\n \n"
    assert parsed(last_block(answer, "json") or "") == value


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "{}",
        "```\n{}\n```",
        "```json\n{}",
        "```json\n{}\n```\nand more",
        "```json\n{}\n```\n```python\nx = {}\n```",
        "```json {}```",
    ],
)
def test_what_does_not_end_with_a_json_block_has_none(answer: str) -> None:
    assert last_block(answer, "json") is None


def test_a_fence_may_be_longer_and_have_another_sign() -> None:
    assert last_block("~~~~JSON\n{}\n~~~~~\r\n", "json") == "{}"
    assert last_block("````json\r\n{}\r\n````", "json") == "{}"
