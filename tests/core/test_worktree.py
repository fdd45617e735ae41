"""Names of worktrees: what the rule takes, git takes; what has one home is known."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looptasks.core.worktree import branch_of, checked_branch, homes, is_home
from looptasks.errors import UsageError

_TEXT = st.text("aZ9._-/@{~^ *:\\é\n", max_size=12)


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
