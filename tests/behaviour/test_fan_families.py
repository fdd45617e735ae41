"""Parents and children in a fan: the parts come before the whole."""

from typing import Any

from tests.support.bead_project import SESSION, SWARM, BeadProject


def child(project: BeadProject, name: str, parent: str, **fields: Any) -> None:
    """Add a bead below another."""
    entry = {"issue_id": name, "depends_on_id": parent, "type": "parent-child"}
    project.bead(name, **{"dependencies": [entry], **fields})


def test_an_epic_is_closed_after_its_children_and_no_agent_works_on_it(
    fan: BeadProject,
) -> None:
    fan.bead("e", issue_type="epic", priority=0)
    child(fan, "e.1", "e")
    child(fan, "e.2", "e")
    fan.bead("after", "e")
    fan.ok(SWARM, SESSION)
    assert sorted(fan.began()[:2]) == ["e.1:1", "e.2:1"]
    assert fan.began()[2:] == ["after:1"]
    assert set(fan.statuses().values()) == {"closed"}
    assert fan.beads.beads().find("e")["close_reason"] == "all its children are closed"
    fan.ok(SWARM, SESSION)
    assert len(fan.began()) == 3


def test_epics_within_epics_are_closed_from_the_inside_out(fan: BeadProject) -> None:
    fan.bead("e", issue_type="epic")
    child(fan, "e.1", "e", issue_type="epic")
    child(fan, "e.1.1", "e.1")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["e.1.1:1"]
    assert set(fan.statuses().values()) == {"closed"}


def test_a_parent_that_is_no_epic_is_worked_on_after_its_children(
    fan: BeadProject,
) -> None:
    fan.bead("p", priority=0)
    child(fan, "p.1", "p")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["p.1:1", "p:1"]


def test_an_epic_without_children_is_a_bead_like_any_other(fan: BeadProject) -> None:
    fan.bead("e", issue_type="epic")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["e:1"]


def test_an_epic_stays_open_while_one_of_its_children_fails(fan: BeadProject) -> None:
    fan.swarm(attempts=1)
    fan.bead("e", issue_type="epic")
    child(fan, "e.1", "e")
    fan.does("e.1", "exit 1")
    ran = fan.doit(SWARM, SESSION)
    assert ran.code == 1, ran
    assert fan.status("e") == "open"


def test_a_child_that_waits_for_its_parent_comes_after_it(fan: BeadProject) -> None:
    fan.bead("p")
    both = [
        {"issue_id": "p.1", "depends_on_id": "p", "type": kind}
        for kind in ("parent-child", "blocks")
    ]
    fan.bead("p.1", dependencies=both, priority=0)
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["p:1", "p.1:1"]


def test_explain_says_that_an_epic_only_closes(fan: BeadProject) -> None:
    fan.bead("e", issue_type="epic")
    child(fan, "e.1", "e")
    out = fan.ok("explain", SWARM, SESSION).out
    assert "bead:e:0001" not in out
    assert "closes after its children, without an agent; after bead:e.1" in out
