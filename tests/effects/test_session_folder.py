"""A session's folder: derived files come back, superseded ones are kept."""

import json
from pathlib import Path

import pytest

from looptasks.core.stage_record import StageRecord
from looptasks.effects.session_folder import (
    SessionFolder,
    archive_session,
    copy_whole,
    session_names,
    stage_state,
)
from looptasks.errors import StorageError, UsageError
from tests.support.recorded import an_iteration

STAMP = "2026-03-01T10:05:00.123Z"


@pytest.fixture
def folder(tmp_path: Path) -> SessionFolder:
    made = SessionFolder(str(tmp_path), "s")
    for number in (1, 2, 3):
        path = Path(made.iteration("work", number))
        path.mkdir(parents=True)
        (path / "output.md").write_text(f"output {number}")
    return made


def names(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def recorded(count: int) -> StageRecord:
    record = StageRecord("work")
    for number in range(1, count + 1):
        record.put(an_iteration(number), number)
    return record


def test_lost_outputs_are_found(folder: SessionFolder) -> None:
    assert folder.lost("work", 3) == []
    Path(folder.iteration("work", 2, "output.md")).unlink()
    assert folder.lost("work", 4) == [2, 4]


def test_what_derives_from_an_iteration_is_written_again_once(
    folder: SessionFolder,
) -> None:
    progress = Path(folder.stage("work", "progress.md"))
    progress.write_text("# Progress\n")
    for _ in range(2):
        folder.derive("work", an_iteration(2))
    state = json.loads(Path(folder.iteration("work", 2, "state.json")).read_bytes())
    assert (state["iteration"], state["result"]) == (2, "result 2")
    assert progress.read_text().count("### Iteration 2 ") == 1
    assert str(Path(folder.stage("work", "current")).readlink()) == "iterations/0002"
    own = Path(folder.iteration("work", 2, "progress.md")).read_text()
    assert "### Iteration 2 " in own


def test_a_note_that_is_there_already_is_not_added_again(folder: SessionFolder) -> None:
    progress = Path(folder.stage("work", "progress.md"))
    folder.derive("work", an_iteration(1))
    Path(folder.iteration("work", 1, "state.json")).unlink()
    folder.derive("work", an_iteration(1))
    assert progress.read_text().count("### Iteration 1 ") == 1


def test_publishing_hands_on_only_what_is_named_and_deletes_nothing(
    folder: SessionFolder, tmp_path: Path
) -> None:
    folder.publish(recorded(3), {1: "0001.md", 2: "0002.md"})
    output = Path(folder.stage("work", "output"))
    assert names(str(output)) == ["0001.md", "0002.md"]
    folder.publish(recorded(3), {3: "output.md"})
    assert names(str(output)) == ["output.md"]
    assert (output / "output.md").read_text() == "output 3"
    archive = tmp_path / ".loop/archive/s"
    assert names(str(archive)) == ["work-output-0001.md", "work-output-0002.md"]


def test_publishing_the_same_again_touches_nothing(folder: SessionFolder) -> None:
    folder.publish(recorded(3), {3: "output.md"})
    path = Path(folder.stage("work", "output/output.md"))
    before = path.stat().st_ino, path.stat().st_mtime_ns
    folder.publish(recorded(3), {3: "output.md"})
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before


def test_a_stage_goes_to_the_archive_whole_and_twice_under_two_names(
    folder: SessionFolder, tmp_path: Path
) -> None:
    first = folder.archive_stage("work", STAMP)
    assert first == ".loop/archive/s/work-20260301T100500.123Z"
    assert (tmp_path / first / "iterations/0003/output.md").read_text() == "output 3"
    assert folder.archive_stage("work", STAMP) == ""
    Path(folder.stage("work")).mkdir()
    assert folder.archive_stage("work", STAMP) == f"{first}-2"


def test_only_the_iterations_after_a_number_are_superseded(
    folder: SessionFolder,
) -> None:
    folder.archive_iterations("work", 1, 3, STAMP)
    assert names(folder.stage("work", "iterations")) == ["0001"]
    assert names(f"{folder.root}/.loop/archive/s") == [
        "work-0002-20260301T100500.123Z",
        "work-0003-20260301T100500.123Z",
    ]


def test_sessions_are_the_folders_with_a_ledger(tmp_path: Path) -> None:
    assert session_names(str(tmp_path)) == []
    for name in ("b", "a", "archive", "empty", ".cache"):
        (tmp_path / ".loop" / name).mkdir(parents=True)
    for name in ("b", "a", "archive"):
        (tmp_path / ".loop" / name / "ledger.jsonl").touch()
    (tmp_path / ".loop/link").symlink_to("a")
    assert session_names(str(tmp_path)) == ["a", "b"]


def test_a_file_instead_of_the_folder_holds_no_session(tmp_path: Path) -> None:
    (tmp_path / ".loop").touch()
    assert session_names(str(tmp_path)) == []


def test_a_session_goes_to_the_archive_and_never_over_another(tmp_path: Path) -> None:
    found = []
    for number in (1, 2):
        (tmp_path / ".loop/s").mkdir(parents=True)
        (tmp_path / ".loop/s/file").write_text(str(number))
        found.append(archive_session(str(tmp_path), "s", STAMP))
    assert found[0] != found[1]
    assert [(tmp_path / f / "file").read_text() for f in found] == ["1", "2"]


@pytest.mark.parametrize("link", [".loop", ".loop/s"])
def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    place = tmp_path / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="a link stands where"):
        SessionFolder(str(tmp_path), "s")


def test_a_copy_is_whole_and_leaves_nothing_when_it_fails(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"x" * 3_000_000)
    copy_whole(str(source), str(target), durable=True)
    assert target.read_bytes() == source.read_bytes()
    with pytest.raises(StorageError):
        copy_whole(str(tmp_path / "missing"), str(target))
    assert target.read_bytes() == source.read_bytes()
    assert names(str(tmp_path)) == ["source", "target"]


def test_a_running_stage_shows_a_small_head_and_a_stopped_one_its_history() -> None:
    head = stage_state("s", "work", recorded(50), whole=False)
    whole = stage_state("s", "work", recorded(50), whole=True)
    assert head["history"] == []
    assert [entry["iteration"] for entry in whole["history"]] == list(range(1, 51))
    assert head["iteration_completed"] == whole["iteration_completed"] == 50
    assert head["cost_usd"] is None
