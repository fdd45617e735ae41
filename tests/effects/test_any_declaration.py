from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from looptasks.effects import yaml_declarations as declarations
from looptasks.errors import DeclarationError
from tests.support.declared_project import LOOP, PIPELINE, planned, schema, write

KEYS = st.sampled_from([*schema("loop")["properties"], "stages", "loop", "runs", "<<"])
ODD = """5|-1|0|x|[]|{}|[a]|{a: b}|~|1h|'${X}'|../x|*a|&a [1]|true|.nan|1e400|!!x y
|all-items|plateau|validated|{command: x}|{replay: /x}|[{loop: plan}]|"\\0"
|[{parallel: [{}]}]|[{name: a, prompt: x, inputs: a}]"""
VALUES = st.sampled_from(ODD.replace("\n", "").split("|"))
LINES = st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]}: {pair[1]}")


@pytest.fixture
def root(tmp_path: Path) -> str:
    return planned(tmp_path)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """Return a good file with lines and characters put in, taken out or repeated."""
    lines = draw(st.sampled_from([LOOP, PIPELINE])).splitlines()
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(lines)))
        cut = draw(st.integers(0, 2))
        lines[place : place + cut] = draw(st.lists(LINES, max_size=2))
    text = "\n".join(lines)
    if draw(st.booleans()):
        place = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 8))
        text = text[:place] + draw(st.text(max_size=4)) + text[place + cut :]
    return text


def outcome(root: str, entry: str) -> str:
    """Return the stages that an entry has, or why it has none."""
    try:
        return repr(declarations.load(root, entry).stages)
    except DeclarationError as error:
        return str(error)


@settings(
    max_examples=500,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(mutations() | st.text() | st.lists(LINES).map("\n".join))
@example("stages: [{parallel: [5]}]")
@example("name: all\nstages: [{loop: plan, name: 5}, {parallel: true}]")
def test_any_file_is_accepted_or_refused_in_words(root: str, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    write(root, "loops/plan/loop.yaml", data)
    write(root, "pipelines/odd.yaml", data)
    for entry in ("loop:plan", "pipeline:odd", "pipeline:all"):
        assert outcome(root, entry).strip()
    for finding in declarations.lint(root):
        assert finding.where
        assert finding.fix
