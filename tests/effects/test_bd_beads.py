"""The adapter of `bd`, with a stub of it and with a real one; and our own tracker."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from looptasks.core.bead_filter import Filter
from looptasks.core.readiness import ready
from looptasks.core.tracker import Tracker, progress
from looptasks.effects.bd_beads import BdBeads, answered
from looptasks.effects.jsonl_beads import JsonlBeads
from looptasks.effects.tracker_choice import tracker, tracker_command
from looptasks.errors import LoopError
from tests.support.beads_cli import KINDS, STUB, BeadsCli


class Place:
    """A tracker as an engine sees it, and its command line to prepare beads with."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.cli = BeadsCli(kind, folder)
        self.tracker: Tracker
        if kind == "embedded":
            self.tracker = JsonlBeads(str(self.cli.folder / ".beads"))
        elif kind == "real":
            self.tracker = BdBeads(str(self.cli.folder))
        else:
            script = folder / "bd"
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STUB}" "$@"\n')
            script.chmod(0o755)
            self.tracker = BdBeads(str(self.cli.folder), str(script))

    def ready(self) -> list[str]:
        return [b["id"] for b in ready(self.tracker.beads(), 0, Filter(labels=("x",)))]


@pytest.fixture(params=KINDS)
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Place:
    if request.param == "real":
        if not shutil.which("bd"):
            pytest.skip("no real `bd` is on PATH")
        for name, value in (("HOME", str(tmp_path)), ("BD_DISABLE_METRICS", "1")):
            monkeypatch.setenv(name, value)
    return Place(request.param, tmp_path)


def test_an_engine_sees_beads_with_their_dependencies(place: Place) -> None:
    first = place.cli.create("first", "-l", "x")
    second = place.cli.create("second", "-l", "x", "--deps", first)
    assert place.ready() == [first]
    place.tracker.close(first, "done")
    assert place.ready() == [second]
    found = progress(place.tracker.beads(), "x", 0)
    assert [b["id"] for b in found.closed] == [first]


def test_a_claim_is_won_once_and_may_be_repeated_by_its_owner(place: Place) -> None:
    id_ = place.cli.create("t", "-l", "x")
    assert place.tracker.claim(id_, "me")["assignee"] == "me"
    with pytest.raises(LoopError, match="already claimed"):
        place.tracker.claim(id_, "you")
    assert place.tracker.claim(id_, "me")["status"] == "in_progress"
    assert place.ready() == []


def test_a_released_bead_is_open_and_nobodys(place: Place) -> None:
    id_ = place.cli.create("t", "-l", "x")
    place.tracker.claim(id_, "me")
    released = place.tracker.release(id_)
    assert (released["status"], released.get("assignee", "")) == ("open", "")
    assert place.ready() == [id_]
    assert place.tracker.claim(id_, "you")["assignee"] == "you"


def test_releasing_a_closed_bead_leaves_it_closed(place: Place) -> None:
    id_ = place.cli.create("t", "-l", "x")
    place.tracker.claim(id_, "me")
    place.tracker.close(id_, "done")
    assert place.tracker.release(id_)["status"] == "closed"


def test_closing_what_is_blocked_is_refused(place: Place) -> None:
    first = place.cli.create("first")
    second = place.cli.create("second", "--deps", first)
    with pytest.raises(LoopError, match="blocked by"):
        place.tracker.close(second, "done")


def test_a_reopened_bead_is_open_and_nobodys(place: Place) -> None:
    id_ = place.cli.create("t", "-l", "x")
    place.tracker.claim(id_, "me")
    place.tracker.close(id_, "done")
    reopened = place.tracker.reopen(id_, "its check failed")
    assert (reopened["status"], reopened.get("assignee", "")) == ("open", "")
    assert place.ready() == [id_]


def test_notes_are_added_and_the_status_set(place: Place) -> None:
    id_ = place.cli.create("t", "--notes", "one")
    assert place.tracker.add_note(id_, "two")["notes"] == "one\ntwo"
    assert place.tracker.set_status(id_, "deferred")["status"] == "deferred"


def test_the_revision_changes_with_the_beads(place: Place) -> None:
    id_ = place.cli.create("t")
    place.tracker.beads()
    before = place.tracker.revision()
    place.tracker.set_status(id_, "blocked")
    place.tracker.beads()
    assert place.tracker.revision() != before


def test_an_unknown_bead_is_refused(place: Place) -> None:
    place.cli.create("t")
    with pytest.raises(LoopError, match="nope"):
        place.tracker.claim("t-nope", "me")


def test_an_answer_may_be_an_array_an_object_or_an_envelope() -> None:
    for text in (
        '[{"id":"a-1"}]',
        '{"id":"a-1"}',
        '{"schema_version":1,"data":[{"id":"a-1"}]}',
        '{"schema_version":1,"data":{"id":"a-1"}}',
    ):
        assert answered(text, "a-1") == {"id": "a-1"}
    for text in ("", "[]", "{}", "No issues", '[{"id":"b-1"}]'):
        assert answered(text, "a-1") is None


def test_bd_is_used_where_it_is_on_the_path_and_owns_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("BEADS_DIR", raising=False)
    (tmp_path / ".beads").mkdir()
    assert isinstance(tracker(str(tmp_path)), JsonlBeads)
    (tmp_path / ".beads" / "metadata.json").write_text('{"database": "beads.db"}')
    assert isinstance(tracker(str(tmp_path)), JsonlBeads)
    (tools / "bd").write_text("#!/bin/sh\n")
    (tools / "bd").chmod(0o755)
    assert isinstance(tracker(str(tmp_path)), BdBeads)
    assert tracker_command(str(tmp_path)) == "bd"


def test_a_program_that_hangs_up_or_is_missing_is_an_error_in_words(
    tmp_path: Path,
) -> None:
    with pytest.raises(LoopError, match="did not run"):
        BdBeads(str(tmp_path), str(tmp_path / "nothing")).beads()


def test_our_command_is_quoted_for_a_shell(tmp_path: Path) -> None:
    command = tracker_command(str(tmp_path))
    assert command.endswith(" -m looptasks.beads")
    said = subprocess.run(
        ["sh", "-c", f"{command} --help"], capture_output=True, check=True
    )
    assert said.stdout.startswith(b"Beads:")
