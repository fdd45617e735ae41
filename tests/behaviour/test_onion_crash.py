"""Crashes of an onion: `kill -9` while work that no longer holds is cleared away.

`LOOPTASKS_ONION_KILLS=N` tries more instants, or fewer; 0 means all of them.
"""

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crash import until
from tests.support.doit_nursery import Nursery
from tests.support.live_processes import carrying
from tests.support.onion_agent import onion_environment
from tests.support.onion_model import Shape
from tests.support.project import Ran
from tests.support.quick_onion import QuickOnion

KILLS = int(os.environ.get("LOOPTASKS_ONION_KILLS", "25"))
BEFORE = {"a": {"x": "red"}, "b": {"x": "red", "y": "blue"}, "c": {"x": "red"}}
AFTER = {"a": {"x": "red"}, "b": {"x": "red", "z": "green"}, "d": {"x": "red"}}
MARK = f"ONION_CRASH={os.urandom(8).hex()}"


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Return a warm doit that knows the agent, all its processes marked."""
    name, _, value = MARK.partition("=")
    env = onion_environment(tmp_path_factory.mktemp("known")) | {name: value}
    with Nursery(env) as made:
        yield made


class Crashing(QuickOnion):
    """An onion that is done, with another wish; it can be brought back to that."""

    def __init__(self, folder: Path, nursery: Nursery, *mode: str) -> None:
        shape = Shape(code_reads_spec=True, total=True)
        super().__init__(folder / "project", nursery, shape)
        self.mode = mode
        self.idle = len(carrying(MARK))
        self.wish(BEFORE)
        self.again()
        self.wish(AFTER)
        self.kept = folder / "kept"
        shutil.copytree(self.root, self.kept, symlinks=True)

    def run(self, kill_at: int = -1) -> Ran:
        """Run the pipeline, maybe not to its end."""
        ran = self.doit(*self.mode, "pipeline:p", kill_at=kill_at)
        until(lambda: len(carrying(MARK)) <= self.idle)
        return ran

    def back(self) -> None:
        """Bring everything back to where it was before the wish changed."""
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root, symlinks=True)

    def outcome(self) -> dict[str, Any]:
        """Return all that must not depend on when a run was killed."""
        state = self.ok("status", "--json").json
        told = ("stage", "status", "iterations", "reason")
        return {
            "status": state["status"],
            "stages": sorted(tuple(s[k] for k in told) for s in state["stages"]),
            "files": self._files(),
            "archived": self._archived(),
            "finished": self._finished(),
        }

    def _files(self) -> set[str]:
        """Return what lies in the session: names, and contents without times."""
        top, found = self.session("s"), set()
        for path in top.rglob("*"):
            name = str(path.relative_to(top))
            if path.is_dir() or re.search(r"attempts/|/current|\.tmp$|^[^/]*$", name):
                continue
            told = re.search(r"(^|/)(output|entries)/|artifact\.json$", name)
            found.add(f"{name} {path.read_text() if told else ''}")
        return found

    def _archived(self) -> Counter[str]:
        """Return what was handed on once, and is in the archive."""
        top = self.path(".loop", "archive", "s")
        return Counter(
            f"{re.sub(r'-[0-9TZ.]+(-[0-9]+)?/', '/', str(path.relative_to(top)))}"
            f" {path.read_text()}"
            for path in top.rglob("output/*.*")
        )

    def _finished(self) -> int:
        """Return how many agents came to their end."""
        found = self.path(".loop").rglob("result.json")
        return sum(json.loads(p.read_text())["how"] == "exit" for p in found)


@pytest.mark.parametrize("mode", [(), ("-n2",)])
def test_a_kill_while_work_is_invalidated_changes_nothing_of_the_end(
    tmp_path: Path, nursery: Nursery, mode: tuple[str, ...]
) -> None:
    crashing = Crashing(tmp_path, nursery, *mode)
    ran = crashing.run(kill_at=0)
    assert ran.code == 0, ran
    wanted = crashing.outcome()
    assert wanted["status"] == "complete"
    changes = Path(f"{crashing.root}.changes").read_text().split()
    instants = list(range(1, len(changes) + 1))
    if KILLS:
        instants = sorted(random.Random(5).sample(instants, KILLS))
    for at in instants:
        crashing.back()
        killed = crashing.run(kill_at=at)
        why = f"{at} of {len(changes)}: {changes[at - 1]}"
        assert killed.code in (-9, 0) if mode else killed.code == -9, why
        ran = crashing.run()
        assert ran.code == 0, (why, ran)
        now = crashing.outcome()
        for name, value in wanted.items():
            assert now[name] == value, f"{why}: {name}"
        again = crashing.run()
        assert "nothing to do" in again.out, (why, again)
