"""Names of worktrees: what the rule takes, git takes; what has one home is known."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looptasks.core.worktree import (
    branch_of,
    checked_branch,
    homes,
    is_home,
    is_instance,
    is_of,
    tree_name,
)
from looptasks.errors import UsageError

_TEXT = st.text("aZ9._+=-/@{~^ *:\\é\n", max_size=12)
_ENTRY = st.one_of(
    st.from_regex(r"[ab1][ab1._-]{0,3}(\.lock)?", fullmatch=True),
    st.just("a" * 64),
)
_STAGE = st.lists(_ENTRY, min_size=1, max_size=5).map("/".join)


@settings(max_examples=60, deadline=None)
@given(_TEXT)
def test_git_takes_every_name_that_the_rule_takes(name: str) -> None:
    try:
        branch = branch_of("s", name)
    except UsageError:
        return
    command = ("git", "check-ref-format", f"refs/heads/{branch}")
    assert subprocess.run(command, check=False).returncode == 0


@given(_TEXT)
def test_no_name_leaves_its_folder_or_reads_as_an_option(name: str) -> None:
    try:
        checked_branch(name)
    except UsageError:
        return
    assert not name.startswith(("-", "/", "."))
    assert ".." not in name


@given(st.sampled_from(["", "shop/", "a/b/"]), st.text("ab/.", max_size=6))
def test_a_path_below_a_home_has_that_home(prefix: str, inner: str) -> None:
    assert all(is_home(f"{home}/{inner}", prefix) for home in homes(prefix))


@pytest.mark.parametrize("path", ["f", ".loops/x", "a/.loop/x", "x.beads", ".beadsy"])
def test_a_path_beside_the_homes_is_work(path: str) -> None:
    assert not is_home(path, "shop/")


@settings(max_examples=60, deadline=None)
@given(_STAGE)
def test_git_takes_the_name_of_every_instance(stage: str) -> None:
    name = tree_name(stage)
    assert is_instance(name)
    branch = branch_of("s", name)
    for path in (branch, f"loop/s/archive/{name}-1"):
        command = ("git", "check-ref-format", f"refs/heads/{path}")
        assert subprocess.run(command, check=False).returncode == 0


@given(_STAGE, _STAGE)
def test_two_instances_never_share_a_name(one: str, other: str) -> None:
    assert (tree_name(one) == tree_name(other)) == (one == other)


@given(_STAGE)
def test_a_bead_never_has_the_name_of_an_instance(stage: str) -> None:
    bead = stage.replace("/", ".")
    assert tree_name(f"beads/{bead}") == bead
    assert not is_instance(bead)


@given(st.lists(st.sampled_from(["a", "a.b", "a.", "ab"]), min_size=1, max_size=4))
def test_a_stage_has_what_is_below_it_and_nothing_else(parts: list[str]) -> None:
    tree = tree_name("/".join(parts))
    for length in range(1, len(parts) + 1):
        assert is_of(tree, "/".join(parts[:length]))
        assert not is_of(tree, "/".join([*parts[: length - 1], "other"]))
