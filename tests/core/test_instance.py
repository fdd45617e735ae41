"""Instances: how stages fan out, and who descends from whom."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.instance import Level, Node, Tree, node_of, works
from looptasks.core.pipeline import Pipeline, Stage, loop_from

NAMES = st.text("abc-.", min_size=1, max_size=4)


def stage(name: str, parent: str = "", field: str = "", *after: str) -> Stage:
    loop = loop_from({"name": name}, "")
    return Stage(name, f"stage:{name}", loop, (), "", "", after, parent, field)


@pytest.fixture
def onion() -> Tree:
    stages = (
        stage("plan"),
        stage("spec", "plan", "specs"),
        stage("phase", "spec", "phases"),
        stage("code", "phase"),
        stage("docs", "plan", "specs"),
        stage("sum"),
    )
    return Tree(Pipeline("pipeline:onion", "", stages))


def test_each_layer_adds_its_list_and_a_whole_instance_adds_none(onion: Tree) -> None:
    specs, phases = Level("plan", "specs"), Level("spec", "phases")
    assert onion.levels == {
        "plan": (),
        "spec": (specs,),
        "phase": (specs, phases),
        "code": (specs, phases),
        "docs": (specs,),
        "sum": (),
    }


@pytest.mark.parametrize(
    ("stage", "seen"),
    [
        ("plan", Node("plan")),
        ("spec", Node("spec", ("a",))),
        ("phase", Node("phase", ("a", "x"))),
        ("docs", Node("docs", ("a",))),
        ("sum", Node("sum")),
    ],
)
def test_a_node_sees_of_a_stage_what_is_on_its_own_way(
    onion: Tree, stage: str, seen: Node
) -> None:
    assert onion.seen_from(Node("code", ("a", "x")), stage) == seen


def test_a_wide_stage_sees_a_deep_one_as_a_group(onion: Tree) -> None:
    assert onion.seen_from(Node("docs", ("a",)), "code") == Node("code", ("a",))
    assert not onion.is_instance(Node("code", ("a",)))


def test_depth_and_height_count_layers(onion: Tree) -> None:
    assert [onion.depth(name) for name in ("plan", "spec", "phase", "code")] == [
        0,
        1,
        2,
        3,
    ]
    assert [onion.height(name) for name in ("plan", "spec", "code")] == [3, 2, 0]


@given(st.lists(NAMES, min_size=2, max_size=2), st.lists(NAMES, min_size=2, max_size=2))
def test_only_what_shares_the_way_descends(one: list[str], two: list[str]) -> None:
    tree = Tree(
        Pipeline(
            "",
            "",
            (
                stage("plan"),
                stage("spec", "plan", "specs"),
                stage("phase", "spec", "phases"),
                stage("code", "phase"),
            ),
        )
    )
    code = Node("code", tuple(one))
    assert tree.is_below(code, Node("plan"))
    assert tree.is_below(code, Node("phase", tuple(two))) == (one == two)
    assert tree.is_below(code, Node("spec", (two[0],))) == (one[0] == two[0])
    assert not tree.is_below(Node("spec", (one[0],)), code)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True))
def test_a_name_tells_the_node(path: list[str]) -> None:
    node = Node("spec", tuple(path))
    assert node_of(node.name) == node
    assert node.task == ":".join(["stage", "spec", *path])


@given(st.dictionaries(st.sampled_from("abcd"), st.text(), min_size=1), st.text())
def test_only_a_changed_entry_has_another_digest(
    texts: dict[str, str], other: str
) -> None:
    def artifact(changed: dict[str, str]) -> dict[str, Any]:
        return {"list": [{"name": n, "text": t} for n, t in changed.items()]}

    before = works(artifact(texts), "list")
    name = next(iter(texts))
    after = works(artifact({**texts, name: other}), "list")
    differ = {n for n in texts if before[n].digest != after[n].digest}
    assert differ == ({name} if texts[name] != other else set())
