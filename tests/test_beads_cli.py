"""The contract of a tracker's command line: ours, a stub of `bd`, and a real `bd`.

Tried with the real `bd` 0.47.1 and 1.1.0; it is used here when it is on PATH.
"""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.beads_cli import KINDS, BeadsCli


@pytest.fixture(params=KINDS)
def cli(request: pytest.FixtureRequest, tmp_path: Path) -> BeadsCli:
    if request.param == "real" and not shutil.which("bd"):
        pytest.skip("no real `bd` is on PATH")
    return BeadsCli(request.param, tmp_path)


def old(cli: BeadsCli) -> bool:
    return cli.version.startswith("0.")


def test_a_new_bead_is_ready_and_has_what_was_said(cli: BeadsCli) -> None:
    kind = "feature" if old(cli) else "feat"
    made = cli.json(
        *("create", "a = b", "-t", kind, "-p", "P1", "-d", "why", "-l", "x,y")
    )
    assert made["title"] == "a = b"
    shown = cli.show(made["id"])
    assert (shown["status"], shown["priority"]) == ("open", 1)
    assert (shown["issue_type"], shown["description"]) == ("feature", "why")
    assert sorted(shown["labels"]) == ["x", "y"]
    assert cli.ready() == [made["id"]]


def test_flags_may_be_joined_to_their_values(cli: BeadsCli) -> None:
    made = cli.json("create", "t", "--priority=0", "--description=a = b", "--labels=x")
    assert cli.show(made["id"])["priority"] == 0
    assert cli.ready("--label=x") == [made["id"]]


def test_silent_prints_the_id_and_nothing_else(cli: BeadsCli) -> None:
    ran = cli.run("create", "t", "--silent")
    assert ran.out.strip() in cli.ready()
    assert len(ran.out.split()) == 1


def test_an_empty_title_and_a_wrong_priority_are_refused(cli: BeadsCli) -> None:
    cli.refuses("create", "t", "-p", "9")
    cli.refuses("create", "")
    assert cli.ready() == []


def test_a_bare_dependency_makes_the_new_bead_wait(cli: BeadsCli) -> None:
    first = cli.create("first")
    second = cli.create("second", "--deps", first)
    assert cli.ready() == [first]
    (held,) = cli.json("blocked")
    assert (held["id"], held["blocked_by"]) == (second, [first])
    cli.json("close", first, "-r", "done")
    assert cli.ready() == [second]


def test_blocks_in_a_new_beads_dependencies_is_the_other_way_round(
    cli: BeadsCli,
) -> None:
    first = cli.create("first")
    second = cli.create("second", "--deps", f"blocks:{first}")
    if old(cli):
        pytest.skip("0.47 does not reverse it")
    assert cli.ready() == [second]


def test_a_related_bead_holds_nothing(cli: BeadsCli) -> None:
    first = cli.create("first")
    second = cli.create("second", "--deps", f"discovered-from:{first}")
    assert sorted(cli.ready()) == sorted([first, second])


def test_a_blocked_bead_cannot_be_closed_without_force(cli: BeadsCli) -> None:
    first = cli.create("first")
    second = cli.create("second", "--deps", first)
    cli.refuses("close", second)
    assert cli.show(second)["status"] == "open"
    cli.json("close", second, "--force")
    assert cli.show(second)["status"] == "closed"


def test_an_epic_with_an_open_child_cannot_be_closed(cli: BeadsCli) -> None:
    epic = cli.create("epic", "-t", "epic")
    child = cli.create("child", "--parent", epic)
    if old(cli):
        pytest.skip("0.47 closes it")
    cli.refuses("close", epic)
    cli.json("close", child)
    cli.json("close", epic)


def test_a_claimed_bead_is_in_progress_and_somebodys(cli: BeadsCli) -> None:
    id_ = cli.create("t")
    (claimed,) = cli.json("update", id_, "--claim", "--actor", "me")
    assert (claimed["status"], claimed["assignee"]) == ("in_progress", "me")
    assert cli.ready() == []


def test_nobody_can_claim_what_another_has(cli: BeadsCli) -> None:
    id_ = cli.create("t")
    cli.json("update", id_, "--claim", "--actor", "me")
    assert "already claimed by" in cli.refuses(
        "update", id_, "--claim", "--actor", "you"
    )
    assert cli.show(id_)["assignee"] == "me"


def test_claiming_ones_own_again_is_no_error(cli: BeadsCli) -> None:
    id_ = cli.create("t")
    cli.json("update", id_, "--claim", "--actor", "me")
    if old(cli):
        pytest.skip("0.47 refuses it")
    cli.json("update", id_, "--claim", "--actor", "me")


def test_a_released_bead_can_be_claimed_by_another(cli: BeadsCli) -> None:
    id_ = cli.create("t")
    cli.json("update", id_, "--claim", "--actor", "me")
    cli.json("update", id_, "-s", "open", "-a", "")
    assert cli.ready() == [id_]
    cli.json("update", id_, "--claim", "--actor", "you")
    assert cli.show(id_)["assignee"] == "you"


def test_ready_can_claim_the_first(cli: BeadsCli) -> None:
    cli.create("late", "-p", "3")
    urgent = cli.create("urgent", "-p", "0")
    if old(cli):
        pytest.skip("0.47 has no `ready --claim`")
    (taken,) = cli.json("ready", "--claim")
    assert (taken["id"], taken["status"]) == (urgent, "in_progress")


def test_a_child_is_named_after_its_parent_and_has_its_labels(cli: BeadsCli) -> None:
    parent = cli.create("p", "-l", "loop/s")
    child = cli.create("c", "--parent", parent, "-l", "own")
    assert child == f"{parent}.1"
    if old(cli):
        pytest.skip("0.47 inherits no labels")
    assert sorted(cli.show(child)["labels"]) == ["loop/s", "own"]


def test_what_holds_a_parent_holds_its_children(cli: BeadsCli) -> None:
    first = cli.create("first")
    # Not an epic: `bd` 1.x lets an epic wait only for epics.
    parent = cli.create("p", "--deps", first)
    child = cli.create("c", "--parent", parent)
    assert cli.ready() == [first]
    cli.json("close", first)
    assert sorted(cli.ready()) == sorted([parent, child])


def test_a_bead_cannot_depend_on_itself_or_in_a_cycle(cli: BeadsCli) -> None:
    first = cli.create("first")
    second = cli.create("second", "--deps", first)
    cli.refuses("dep", "add", first, first)
    assert "cycle" in cli.refuses("dep", "add", first, second)
    assert cli.ready() == [first]


def test_a_dependency_can_be_added_and_removed(cli: BeadsCli) -> None:
    first, second = cli.create("first"), cli.create("second")
    added = cli.json("dep", "add", first, second)
    assert (added["issue_id"], added["depends_on_id"]) == (first, second)
    assert cli.ready() == [second]
    (needed,) = cli.json("dep", "list", first)
    assert (needed["id"], needed["dependency_type"]) == (second, "blocks")
    cli.json("dep", "remove", first, second)
    assert sorted(cli.ready()) == sorted([first, second])


def test_labels_must_all_fit(cli: BeadsCli) -> None:
    both = cli.create("both", "-l", "x,y")
    one = cli.create("one", "-l", "x")
    assert cli.ready("-l", "x", "-l", "y") == [both]
    # 0.47 lists what has both labels twice.
    assert set(cli.ready("--label-any", "x,y")) == {both, one}
    cli.json("label", "add", one, "y")
    assert sorted(cli.ready("-l", "x", "-l", "y")) == sorted([both, one])
    cli.json("label", "remove", one, "x")
    assert cli.json("label", "list", one) == ["y"]


def test_the_most_urgent_comes_first(cli: BeadsCli) -> None:
    ids = [cli.create(f"p{level}", "-p", str(level)) for level in (3, 0, 4, 1)]
    assert cli.ready() == [ids[1], ids[3], ids[0], ids[2]]


def test_a_deferred_bead_is_not_ready(cli: BeadsCli) -> None:
    id_ = cli.create("t")
    cli.json("update", id_, "--defer", "2099-01-01T00:00:00Z")
    assert cli.ready() == []


def test_a_reopened_bead_is_open_and_no_longer_closed(cli: BeadsCli) -> None:
    id_ = cli.create("t")
    (closed,) = cli.json("close", id_, "-r", "done")
    assert closed["closed_at"]
    assert closed["close_reason"] == "done"
    (opened,) = cli.json("reopen", id_, "-r", "not yet")
    assert opened["status"] == "open"
    assert "closed_at" not in opened
    assert cli.ready() == [id_]


def test_an_update_changes_what_was_said_and_nothing_else(cli: BeadsCli) -> None:
    id_ = cli.create("t", "-l", "x", "-d", "why")
    (after,) = cli.json(
        *("update", id_, "--title", "u", "-p", "0", "--notes", "n"),
        *("--add-label", "y", "--remove-label", "x"),
    )
    assert (after["title"], after["priority"], after["notes"]) == ("u", 0, "n")
    shown = cli.show(id_)
    assert (shown["description"], shown["labels"]) == ("why", ["y"])


def test_several_beads_are_closed_at_once(cli: BeadsCli) -> None:
    ids = [cli.create("a"), cli.create("b")]
    assert [bead["status"] for bead in cli.json("close", *ids)] == ["closed"] * 2
    assert cli.ready() == []
    assert len(cli.json("list", "--all", "-n", "0")) == 2
    assert cli.json("list") == []


def test_an_unknown_bead_is_refused_by_name(cli: BeadsCli) -> None:
    assert "stub-nope" in cli.refuses("show", "stub-nope")
    assert "stub-nope" in cli.refuses("close", "stub-nope")


def test_the_envelope_is_given_when_asked_for(cli: BeadsCli) -> None:
    if old(cli):
        pytest.skip("0.47 has no envelope")
    id_ = cli.create("t")
    said = cli.json("ready", env={"BD_JSON_ENVELOPE": "1"})
    assert said["schema_version"] == 1
    assert [bead["id"] for bead in said["data"]] == [id_]


def test_the_export_is_one_bead_per_line(cli: BeadsCli) -> None:
    first = cli.create("first")
    second = cli.create("second", "--deps", first)
    lines = cli.run("export").out.splitlines()
    beads = {bead["id"]: bead for bead in map(json.loads, lines)}
    assert set(beads) == {first, second}
    (entry,) = beads[second]["dependencies"]
    assert (entry["depends_on_id"], entry["type"]) == (first, "blocks")


def test_people_never_get_an_empty_answer(cli: BeadsCli) -> None:
    assert cli.run("ready").out.strip()


# --- only ours -----------------------------------------------------------------------


@pytest.fixture
def ours(tmp_path: Path) -> BeadsCli:
    return BeadsCli("embedded", tmp_path)


COMMANDS = (
    *("create", "list", "ready", "blocked", "show", "update", "close", "reopen"),
    *("dep", "label", "import", "export", "graph"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_and_is_in_the_overview(
    ours: BeadsCli, command: str
) -> None:
    ran = ours.run(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"usage: looptasks-beads {command}")
    assert "--json" in ran.out
    assert f"\n  {command} " in ours.run("--help").out


def test_a_mistyped_word_is_an_error_with_a_suggestion(ours: BeadsCli) -> None:
    assert "did you mean `ready`?" in ours.run("raedy").err
    assert "did you mean `--label`?" in ours.run("ready", "--lable", "x").err
    assert ours.run("raedy").code == 1


def test_beads_are_found_from_a_folder_below(ours: BeadsCli, tmp_path: Path) -> None:
    id_ = ours.create("t")
    below = ours.folder / "a" / "b"
    below.mkdir(parents=True)
    top, ours.folder = ours.folder, below
    assert ours.ready() == [id_]
    ours.folder = tmp_path
    there = {"BEADS_DIR": str(top / ".beads")}
    assert [bead["id"] for bead in ours.json("ready", env=there)] == [id_]


def test_beads_of_another_project_further_up_are_not_touched(ours: BeadsCli) -> None:
    ours.create("of the outer project")
    inner = ours.folder / "inner"
    (inner / ".git").mkdir(parents=True)
    ours.folder = inner
    assert ours.ready() == []
    assert ours.create("own").startswith("inner-")


def test_what_was_exported_can_be_imported_elsewhere(
    ours: BeadsCli, tmp_path: Path
) -> None:
    first = ours.create("first", "-l", "x")
    ours.create("second", "--deps", first)
    text = ours.run("export").out
    other = BeadsCli("embedded", tmp_path / "other")
    (other.folder / "in.jsonl").write_text(text)
    counts = {"created": 2, "updated": 0, "skipped": 0}
    assert other.json("import", "in.jsonl") == counts
    assert other.run("export").out == text
    assert other.json("import", "-i", "in.jsonl")["skipped"] == 2


def test_the_graph_is_drawn_as_text_and_for_other_tools(ours: BeadsCli) -> None:
    first = ours.create('say "hi"')
    second = ours.create("second", "--deps", first)
    assert "wave 1:" in ours.run("graph").out
    assert f"<- {first} (blocks)" in ours.run("graph").out
    assert f'"{first}" -> "{second}";' in ours.run("graph", "--dot").out
    assert "#quot;hi#quot;" in ours.run("graph", "--mermaid").out
    tree = ours.run("dep", "tree", second).out.splitlines()
    assert first in tree[1]
    assert tree[1].startswith("  ")


def test_a_cycle_in_the_file_is_printed(ours: BeadsCli) -> None:
    first = ours.create("first")
    second = ours.create("second", "--deps", first)
    path = ours.folder / ".beads" / "issues.jsonl"
    beads = [json.loads(line) for line in path.read_text().splitlines()]
    entry = {"issue_id": first, "depends_on_id": second, "type": "blocks"}
    for bead in beads:
        bead.setdefault("dependencies", [entry])
    path.write_text("".join(json.dumps(bead) + "\n" for bead in beads))
    low, high = sorted([first, second])
    assert ours.run("dep", "cycles").out == f"{low} -> {high} -> {low}\n"


def test_the_actor_is_the_session_where_nobody_says_otherwise(ours: BeadsCli) -> None:
    id_ = ours.create("t")
    session = {"BD_ACTOR": "", "LOOP_SESSION": "auth"}
    (bead,) = ours.json("update", id_, "--claim", env=session)
    assert bead["assignee"] == "auth"


def test_a_project_of_bd_is_left_to_bd(ours: BeadsCli, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "bd").write_text('#!/bin/sh\necho "bd was given: $*"\nexit 7\n')
    (tools / "bd").chmod(0o755)
    (ours.folder / ".beads").mkdir()
    (ours.folder / ".beads" / "metadata.json").write_text('{"database": "beads.db"}')
    path = {"PATH": f"{tools}:/usr/bin:/bin"}
    ran = ours.run("ready", "--json", "-n", "0", env=path)
    assert (ran.code, ran.out) == (7, "bd was given: ready --json -n 0\n")
