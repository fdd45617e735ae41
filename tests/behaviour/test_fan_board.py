"""The board of a fan: waves and beads as people and programs see them."""

import json
import re
from typing import Any

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject
from tests.support.crash import until
from tests.support.session_schemas import validator


@pytest.fixture
def board(fan: BeadProject) -> BeadProject:
    """Return a project in the middle of things: one bead failed, one is waited for."""
    fan.bead("good", priority=0)
    fan.bead("bad", priority=1)
    fan.bead("below", "bad", "good")
    fan.bead("hers", status="in_progress", assignee="ann")
    fan.bead("later", "hers")
    fan.does("bad", "exit 1")
    ran = fan.doit(SWARM, SESSION, "budget=9")
    assert ran.code == 1, ran
    return fan


def test_a_session_is_listed_wave_by_wave(board: BeadProject) -> None:
    out = board.ok("list", SESSION).out
    lines = [line.strip() for line in out[out.index("  beads:") :].splitlines()]
    assert lines[0] == "beads: 1 of 5 done"
    assert lines[1] == "wave:1"
    assert lines[2].startswith("failed   bead:bad  Do bad (iteration 1 failed: ")
    assert lines[3] == "others   bead:hers  Do hers (in the hands of ann)"
    assert lines[4:] == [
        "wave:2",
        "blocked  bead:below  Do below (by bad)",
        "blocked  bead:later  Do later (by hers)",
    ]


def test_a_board_is_listed_before_anything_ran(fan: BeadProject) -> None:
    fan.bead("a")
    fan.bead("b", "a")
    out = fan.ok("list", SESSION).out
    assert "wave:1\n    ready    bead:a" in out
    assert "wave:2\n    blocked  bead:b  Do b (by a)" in out


def test_programs_get_the_beads_as_json(board: BeadProject) -> None:
    found = {
        bead["id"]: bead for bead in board.ok("list", SESSION, "--json").json["beads"]
    }
    states = {id_: (bead["wave"], bead["state"]) for id_, bead in found.items()}
    assert states == {
        "good": (1, "done"),
        "bad": (1, "failed"),
        "hers": (1, "others"),
        "below": (2, "blocked"),
        "later": (2, "blocked"),
    }
    assert found["below"]["blockers"] == ["bad", "good"]


def test_a_running_bead_is_listed_as_running(fan: BeadProject) -> None:
    fan.bead("a")
    fan.does("a", 'until [ -e "$home/go" ]; do sleep 0.02; done')
    process = fan.start(SWARM, SESSION)
    until(fan.runs)
    out = fan.ok("list", SESSION).out
    fan.write("go", "")
    process.communicate(timeout=30)
    assert "running  bead:a  Do a" in out


def test_the_board_for_people_says_it_all(board: BeadProject) -> None:
    text = board.session("s", "PROGRESS.md").read_text()
    title, status, *_ = [line for line in text.splitlines() if line]
    assert title == "# s"
    assert "wave 1 of 2" in status
    assert "1 of 5 beads closed" in status
    assert "1 iteration," in status
    assert "of $9.00" in status
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}
    assert list(sections) == ["Completed", "In progress", "Pending", "Metrics"]
    assert "[x] good Do good" in sections["Completed"]
    assert "bad Do bad (failed)" in sections["In progress"]
    assert "hers Do hers (others): in the hands of ann" in sections["In progress"]
    assert "below Do below (blocked): by bad" in sections["Pending"]
    assert "- iterations: 1" in sections["Metrics"]


def wave(project: BeadProject, number: int) -> Any:
    """Return a wave's state, which must fit its schema."""
    state = project.json("s", "waves", str(number), "state.json")
    validator("wave-state").validate(state)
    return state


def test_each_wave_has_a_state_and_a_text(board: BeadProject) -> None:
    first = wave(board, 1)
    assert (first["wave"], first["status"]) == (1, "failed")
    assert {b["id"]: b["state"] for b in first["beads"]} == {
        "good": "done",
        "bad": "failed",
        "hers": "others",
    }
    assert wave(board, 2)["status"] == "pending"
    text = board.session("s", "waves", "1", "progress.md").read_text()
    assert "- [x] good Do good (done)" in text
    assert "- [ ] bad Do bad (failed: " in text


def test_the_files_of_a_bead_fit_the_schemas_of_a_stage(board: BeadProject) -> None:
    for bead in ("good", "bad"):
        validator("stage-state").validate(board.state("s", f"beads/{bead}"))
    validator("iteration-state").validate(board.state("s", "beads/good", 1))
    validator("stage-state").validate(board.state("s", "swarm"))
    for event in board.ledger("s"):
        validator("ledger").validate(event)


def test_waves_are_complete_in_the_end(board: BeadProject) -> None:
    board.beads.close("hers", "done")
    board.does("bad", "true")
    board.ok(SWARM, SESSION)
    assert [wave(board, n)["status"] for n in (1, 2)] == ["complete", "complete"]
    assert "beads: 5 of 5 done" in board.ok("list", SESSION).out


def test_a_status_of_the_session_names_the_wave(board: BeadProject) -> None:
    assert "1 of 2" in board.ok("status", SESSION).out
    assert json.loads(board.ok("status", SESSION, "--json").out)


def test_a_stage_over_beads_is_counted_in_beads(board: BeadProject) -> None:
    listed = board.ok("list", SESSION).out
    shown = board.ok("status", SESSION).out
    assert re.search(r"^  loop:swarm +failed +1 of 5 beads closed$", listed, re.M)
    assert re.search(r"^stage +swarm +failed +1 of 5 beads closed, ", shown, re.M)


def test_all_tasks_say_how_their_beads_stand(board: BeadProject) -> None:
    board.beads.claim("bad", "ann")
    out = board.ok("list", SESSION, "--all").out
    assert re.search(r"^bead:good +.*\(complete\)$", out, re.M), out
    assert re.search(r"^bead:bad +.*\(others: in the hands of ann\)$", out, re.M), out


def test_beads_closed_before_the_session_began_have_waves_nevertheless(
    fan: BeadProject,
) -> None:
    long_ago = {"status": "closed", "closed_at": "2020-01-01T00:00:00Z"}
    fan.bead("a", **long_ago)
    fan.bead("b", "a", **long_ago)
    fan.ok(SWARM, SESSION)
    text = fan.session("s", "PROGRESS.md").read_text()
    assert "wave 2 of 2, 2 of 2 beads closed" in text


def test_two_entries_of_a_session_do_not_share_its_beads(fan: BeadProject) -> None:
    fan.loop("other", "Do ${BEAD_ID}.", each="beads", max_iterations=1)
    fan.bead("a")
    both = fan.doit(SWARM, "loop:other", SESSION)
    assert (both.code, fan.runs()) == (3, [])
    assert "`other` works through the beads of session `s`, and so does" in both.err
    assert "  fix: use another session" in both.err
    fan.ok(SWARM, SESSION)
    later = fan.doit("loop:other", SESSION)
    assert later.code == 3, later
    assert "and so does `swarm` of loop:swarm" in later.err
    assert fan.ok(SWARM, SESSION).code == 0
