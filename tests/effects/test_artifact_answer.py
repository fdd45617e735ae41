"""An agent's artifact is data: read strictly, whatever lies at its path."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from looptasks.core.artifact import Inspection
from looptasks.core.artifact_text import canonical
from looptasks.core.digest import of_bytes
from looptasks.effects.artifact_answer import LARGEST, inspected

PLAN = {
    "title": "Tea",
    "overview": "Make tea.",
    "specs": [{"name": "water", "title": "Water", "description": "Boil it."}],
}
SECRET = "sk-ant-api03-" + "Ab1" * 20


def inspect(
    folder: Path, answer: str = "", limits: tuple[int, int] | None = None
) -> Inspection:
    told = folder / "stdout"
    told.write_text(answer)
    path = str(folder / "artifact.json")
    return inspected(str(folder), ("plan", limits), path, str(told))


def problems(folder: Path, answer: str = "", **more: Any) -> list[str]:
    return [str(problem) for problem in inspect(folder, answer, **more).problems]


def kept(folder: Path) -> str:
    return (folder / "artifact.json").read_text()


@pytest.mark.parametrize("indent", [None, 7])
def test_a_good_artifact_is_kept_in_its_one_form(tmp_path: Path, indent: Any) -> None:
    (tmp_path / "artifact.json").write_text(json.dumps(PLAN, indent=indent))
    found = inspect(tmp_path)
    assert found == Inspection(of_bytes(canonical(PLAN).encode()))
    assert kept(tmp_path) == canonical(PLAN)
    assert inspect(tmp_path) == found


def test_the_block_that_ends_the_answer_is_kept_too(tmp_path: Path) -> None:
    found = inspect(tmp_path, f"Here:\n```json\n{json.dumps(PLAN)}\n```\n")
    assert found.problems == ()
    assert kept(tmp_path) == canonical(PLAN)


def test_the_file_wins_over_the_answer(tmp_path: Path) -> None:
    (tmp_path / "artifact.json").write_text(canonical(PLAN))
    assert problems(tmp_path, "```json\n{}\n```") == []
    (tmp_path / "artifact.json").write_text("{")
    assert "not JSON" in problems(tmp_path, f"```json\n{canonical(PLAN)}```")[0]


def test_none_at_all_is_a_problem_that_says_where_it_belongs(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, "I am done, believe me.")
    assert said.startswith(f"there is none: write it to `{tmp_path}/artifact.json`")


def test_what_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(canonical(PLAN))
    (tmp_path / "artifact.json").symlink_to(tmp_path / "other.json")
    (said,) = problems(tmp_path)
    assert "it is a link" in said


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_read(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "artifact.json")
    (said,) = problems(tmp_path)
    assert "it is not a file" in said


def test_what_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "artifact.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert problems(tmp_path)[0].endswith("it is larger than 4 MiB")


def test_what_is_not_utf_8_is_said(tmp_path: Path) -> None:
    (tmp_path / "artifact.json").write_bytes(b'{"a": "\xff"}')
    assert problems(tmp_path) == ["it is not UTF-8 (byte 8)"]


def test_no_secret_is_kept(tmp_path: Path) -> None:
    (tmp_path / "artifact.json").write_text(json.dumps({**PLAN, "risks": [SECRET]}))
    assert inspect(tmp_path).digest
    assert SECRET not in kept(tmp_path)
    (tmp_path / "artifact.json").write_text(f'{{"broken": "{SECRET}"')
    assert not inspect(tmp_path).digest
    assert SECRET not in kept(tmp_path)


def test_every_problem_is_said_with_its_path(tmp_path: Path) -> None:
    specs: list[Any] = [
        {"name": "a", "title": 3, "description": "x", "dependencies": ["b"]},
        {"name": "A", "title": "y", "description": " "},
        {"name": "output", "title": "y"},
    ]
    (tmp_path / "artifact.json").write_text(json.dumps({"title": "x", "specs": specs}))
    assert problems(tmp_path) == [
        "`overview` is missing",
        "`specs[0].title` is a number, but must be a text",
        "`specs[1].description` must not be empty",
        "`specs[2].description` is missing",
        "`specs[1].name` is `A`, the name of `specs[0]` (case does not count)",
        "`specs[2].name` is `output`, "
        "which is a file or folder of every stage: choose another",
        "`specs[0].dependencies[0]` is `b`, which is no name in `specs`",
    ]


def test_more_fields_than_asked_for_are_welcome(tmp_path: Path) -> None:
    more = {**PLAN, "mood": {"good": True}}
    (tmp_path / "artifact.json").write_text(json.dumps(more))
    assert problems(tmp_path) == []


def test_a_loop_may_ask_for_other_numbers_of_entries(tmp_path: Path) -> None:
    (tmp_path / "artifact.json").write_text(json.dumps(PLAN))
    said = problems(tmp_path, limits=(2, 3))
    assert said == ["`specs` must have at least 2 entries, not 1"]


def test_a_project_has_its_own_idea_of_a_plan(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    own = {"required": ["dish"], "properties": {"dish": {"enum": ["soup", "pie"]}}}
    (tmp_path / "schemas/plan.json").write_text(json.dumps(own))
    (tmp_path / "artifact.json").write_text('{"dish": "cake"}')
    said = problems(tmp_path)
    assert said == ["`dish` is `cake`, but must be one of `soup`, `pie`"]
    (tmp_path / "artifact.json").write_text('{"dish": "pie"}')
    assert problems(tmp_path) == []
