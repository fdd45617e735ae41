"""A quick onion: the layers of an onion with an agent inside a warm doit process."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.doit_nursery import Nursery
from tests.support.onion_agent import NAME
from tests.support.onion_model import Shape
from tests.support.project import Project, Ran


class QuickOnion(Project):
    """A project whose pipeline `p` is an onion; it works in session `s`."""

    def __init__(
        self, root: Path, nursery: Nursery, shape: Shape | None = None
    ) -> None:
        super().__init__(root)
        self.nursery = nursery
        shape = shape or Shape()
        self.pipeline("p", *shape.stages(), defaults={"agent": NAME})
        self.write("style.txt", "plain")

    def doit(
        self, *words: str, env: Mapping[str, str] | None = None, kill_at: int = -1
    ) -> Ran:
        """Run doit in the session, to its end or to its n-th change of a file."""
        assert env is None
        return self.nursery.doit(self.root, *words, "session=s", kill_at=kill_at)

    def wish(self, wanted: Mapping[str, Mapping[str, str]]) -> None:
        """Say what is wanted."""
        self.write("wish.json", json.dumps(wanted))

    def edit(self, name: str, change: Mapping[str, Any]) -> None:
        """Change fields of an artifact by hand, as a person would."""
        path = self.session("s", name, "output", f"{name.partition('/')[0]}.json")
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))

    def new_runs(self) -> list[str]:
        """Return whose agents were called since this was last asked, sorted."""
        return sorted(super().new_runs())

    def again(self, *words: str) -> list[str]:
        """Run to the end; return whose agents were called."""
        self.ok(*words, "pipeline:p")
        return self.new_runs()

    def fates(self, *words: str) -> dict[str, str]:
        """Return what `explain` says of each stage and instance."""
        ran = self.ok("explain", "--json", *words)
        found = [stage for entry in ran.json["entries"] for stage in entry["stages"]]
        return {stage["stage"]: stage["fate"] for stage in found}
