"""What a stage hands on: the JSON, its markdown, and a file per entry."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from looptasks.core.artifact_text import canonical
from looptasks.core.digest import of_bytes
from looptasks.core.stage_record import StageRecord
from looptasks.effects.artifact_file import (
    publish_artifact,
    read_artifact,
    write_entries,
)
from looptasks.effects.session_folder import SessionFolder
from looptasks.errors import LoopError
from tests.support.recorded import an_iteration

STAGE = "spec/tea"


def plan(**specs: str) -> dict[str, Any]:
    listed = [
        {"name": name, "title": name, "description": text}
        for name, text in specs.items()
    ]
    return {"title": "Tea", "overview": "Make it.", "specs": listed}


class Desk:
    """A stage whose iterations made these artifacts."""

    def __init__(self, root: Path) -> None:
        self.folder = SessionFolder(str(root), "s")
        self.record = StageRecord(STAGE)
        self.root = root

    def publish(self, artifact: dict[str, Any]) -> None:
        number = len(self.record.iterations) + 1
        path = Path(self.folder.iteration(STAGE, number, "artifact.json"))
        path.parent.mkdir(parents=True)
        data = canonical(artifact).encode()
        path.write_bytes(data)
        self.record.put(an_iteration(number, artifact=of_bytes(data)), number)
        self.again()

    def again(self) -> None:
        publish_artifact(self.folder, self.record, "plan")

    def path(self, *names: str) -> Path:
        return Path(self.folder.stage(STAGE, *names))

    def entries(self) -> list[str]:
        return self.names("entries", "specs")

    def names(self, *names: str) -> list[str]:
        return sorted(path.name for path in self.path(*names).iterdir())

    def times(self) -> dict[str, int]:
        files = [p for p in self.path().rglob("*") if p.is_file()]
        return {str(p): p.stat().st_mtime_ns for p in files}

    def read(self) -> Any:
        return read_artifact(self.folder, STAGE, "plan")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_stage_hands_on_json_and_markdown_and_entries(desk: Desk) -> None:
    made = plan(water="boil", leaves="add")
    desk.publish(made)
    assert desk.names("output") == ["plan.json", "plan.md"]
    assert desk.path("output", "plan.json").read_text() == canonical(made)
    assert desk.path("output", "plan.md").read_text().startswith("# Tea\n")
    assert desk.entries() == ["leaves.json", "water.json"]
    water = desk.path("entries", "specs", "water.json").read_text()
    assert water == canonical(made["specs"][0])
    assert desk.read() == made


def test_the_same_again_touches_nothing(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    before = desk.times()
    desk.again()
    assert desk.times() == before


def test_only_entries_that_differ_are_touched(desk: Desk) -> None:
    desk.publish(plan(water="boil", leaves="add", milk="pour"))
    before = desk.times()
    desk.publish(plan(milk="pour", leaves="add more", lemon="cut"))
    assert desk.entries() == ["leaves.json", "lemon.json", "milk.json"]
    after = desk.times()
    changed = {
        name
        for name in desk.entries()
        for path in [str(desk.path("entries", "specs", name))]
        if before.get(path) != after[path]
    }
    assert changed == {"leaves.json", "lemon.json"}


def test_a_name_may_change_its_case(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    desk.publish(plan(Water="boil"))
    assert desk.entries() == ["Water.json"]


def test_what_a_person_made_of_it_stays_until_there_is_a_new_one(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    edited = plan(water="boil", sugar="stir")
    desk.path("output", "plan.json").write_text(json.dumps(edited))
    desk.again()
    assert desk.read() == edited
    assert desk.entries() == ["sugar.json", "water.json"]
    assert "sugar" in desk.path("output", "plan.md").read_text()
    desk.publish(plan(water="cool"))
    assert desk.entries() == ["water.json"]
    archive = desk.root / ".loop/archive/s"
    kept = [json.loads(p.read_text()) for p in archive.rglob("*plan.json")]
    assert kept == [edited]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is not JSON"),
        ('{"title": "x"}', "`overview` is missing (and 1 more)"),
        (json.dumps(plan(output="x")), "a file or folder of every stage"),
    ],
)
def test_what_a_person_broke_is_said_with_where_and_fix(
    desk: Desk, text: str, said: str
) -> None:
    desk.publish(plan(water="boil"))
    desk.path("output", "plan.json").write_text(text)
    with pytest.raises(LoopError) as caught:
        desk.read()
    assert caught.value.where == ".loop/s/spec/tea/output/plan.json"
    assert said in caught.value.what
    assert caught.value.fix


def test_no_artifact_is_none(desk: Desk) -> None:
    assert desk.read() is None


def test_a_lost_artifact_is_not_published_as_another(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    desk.record.put(an_iteration(2, artifact="0" * 64), 2)
    with pytest.raises(LoopError) as caught:
        desk.again()
    assert caught.value.where.endswith("iterations/0002/artifact.json")
    assert desk.read() == plan(water="boil")


READ = """
import sys
from looptasks.effects.artifact_file import read_artifact
from looptasks.effects.session_folder import SessionFolder
assert read_artifact(SessionFolder(sys.argv[1], "s"), "spec/tea", "plan")
print("jsonschema" in sys.modules)
"""


def slowly(desk: Desk) -> bool:
    """Whether reading it in a new process needs a schema check."""
    words = [sys.executable, "-c", READ, str(desk.root)]
    return subprocess.check_output(words, text=True).strip() == "True"


def test_what_was_checked_once_is_not_checked_again(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    assert not slowly(desk)
    desk.path("output", "plan.json").write_text(json.dumps(plan(water="cool")))
    assert slowly(desk)
    assert not slowly(desk)


def test_another_schema_asks_for_another_check(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    (desk.root / "schemas").mkdir()
    (desk.root / "schemas/plan.json").write_text('{"required": ["dish"]}')
    done = subprocess.run(
        [sys.executable, "-c", READ, str(desk.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "`dish` is missing" in done.stderr


def test_entries_can_be_written_again(desk: Desk) -> None:
    desk.publish(plan(water="boil"))
    desk.path("entries", "specs", "water.json").unlink()
    write_entries(desk.folder, STAGE, "plan", desk.read())
    assert desk.entries() == ["water.json"]
