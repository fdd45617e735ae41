"""A process tree is found whole, whatever its shape."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.effects import process_tree

PARENTS = st.dictionaries(st.integers(2, 30), st.integers(1, 30))


@given(PARENTS, st.sets(st.integers(2, 30), max_size=4))
def test_below_is_closed_and_reaches_a_root(
    parents: dict[int, int], roots: set[int]
) -> None:
    rows = {pid: (parent, pid) for pid, parent in parents.items()}
    found = process_tree.below(roots, rows)
    assert roots & rows.keys() <= found
    assert {pid for pid, parent in parents.items() if parent in found} <= found
    assert all(pid in roots or parents[pid] in found | roots for pid in found)


def test_the_table_knows_this_process_and_its_group() -> None:
    assert process_tree.table()[os.getpid()] == (os.getppid(), os.getpgrp())


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("value", "found"), [("a", True), ("a/b", True), ("ab", False), ("", False)]
)
def test_a_mark_is_matched_whole_or_as_a_parent(value: str, found: bool) -> None:
    process = subprocess.Popen(["sleep", "60"], env={"MARK": value})
    try:
        assert process_tree.carriers({process.pid}, b"MARK=a") == (
            {process.pid} if found else set()
        )
    finally:
        process.kill()
        process.wait()
