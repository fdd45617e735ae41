"""`doit beads`: the tracker through doit, with the command line as it was typed."""

import json

from tests.support.project import Project


def test_a_title_with_an_equal_sign_is_not_lost(project: Project) -> None:
    made = project.ok("beads", "create", "a = b", "--json", "-d", "x=1", "-p", "1").json
    assert (made["title"], made["description"], made["priority"]) == ("a = b", "x=1", 1)
    (found,) = project.ok("beads", "ready", "--json").json
    assert found["title"] == "a = b"


def test_flags_and_help_belong_to_the_tracker(project: Project) -> None:
    assert project.ok("beads", "--help").out.startswith("Beads:")
    told = project.ok("beads", "create", "--help").out
    assert told.startswith("usage: doit beads create TITLE")
    assert project.ok("beads", "ready").out == "No ready work\n"


def test_the_exit_code_and_the_words_are_those_of_the_tracker(project: Project) -> None:
    first = project.ok("beads", "create", "first", "--silent").out.strip()
    project.ok("beads", "create", "second", "--id", "p-2", f"--deps={first}")
    ran = project.doit("beads", "close", "p-2", "--json")
    assert ran.code == 1
    assert json.loads(ran.err)["error"] == f"`p-2` is blocked by `{first}`"
