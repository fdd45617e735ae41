"""Fan-out: one loop per bead, in the order that blockers and priorities dictate."""

import json
from collections.abc import Sequence

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject


def times(fan: BeadProject) -> dict[str, int]:
    """Return where in the order of things each agent began (`+a`) and ended (`-a`)."""
    return {line.partition(":")[0]: place for place, line in enumerate(fan.runs())}


def diamond(fan: BeadProject) -> None:
    """Add a, then b and c after it, then d after both."""
    fan.bead("a")
    fan.bead("b", "a")
    fan.bead("c", "a")
    fan.bead("d", "b", "c")


@pytest.mark.parametrize("workers", [(), ("-n", "2"), ("-n", "4")])
def test_no_bead_runs_before_its_blockers(
    fan: BeadProject, workers: Sequence[str]
) -> None:
    diamond(fan)
    ran = fan.ok(*workers, SWARM, SESSION)
    when = times(fan)
    for later, earlier in ("ba", "ca", "db", "dc"):
        assert when[f"-{earlier}"] < when[f"+{later}"]
    assert set(fan.statuses().values()) == {"closed"}
    assert "all 4 beads are closed" in ran.last


def test_tasks_are_named_after_beads_and_their_iterations(fan: BeadProject) -> None:
    fan.swarm(completion="validated", validate="test -f made", max_iterations=3)
    fan.bead("a")
    fan.does("a.2", "touch made")
    out = fan.ok(SWARM, SESSION).out
    assert "bead:a:0001 " in out
    assert "bead:a:0002 " in out
    assert "\nbead:a complete" in out
    assert fan.state("s", "beads/a", 2)["validation"]["exit_code"] == 0
    assert fan.state("s", "beads/a")["status"] == "complete"


def test_a_bead_starts_when_its_own_blockers_are_done_not_the_whole_wave(
    fan: BeadProject,
) -> None:
    fan.bead("slow")
    fan.bead("fast")
    fan.bead("after", "fast")
    fan.does(
        "slow", 'until grep -q "^-after" "$BEADS_DIR/runs.log"; do sleep 0.02; done'
    )
    fan.ok("-n", "2", SWARM, SESSION)
    when = times(fan)
    assert when["-after"] < when["-slow"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_most_urgent_beads_get_the_slots(
    fan: BeadProject, workers: Sequence[str]
) -> None:
    for name, priority in (("low", 4), ("mid", 2), ("top", 0), ("high", 1)):
        fan.bead(name, priority=priority)
    fan.does("any", "sleep 0.2")
    fan.ok(*workers, SWARM, SESSION)
    began = [name.partition(":")[0] for name in fan.began()]
    if workers:
        assert (set(began[:2]), set(began[2:])) == ({"top", "high"}, {"mid", "low"})
    else:
        assert began == ["top", "high", "mid", "low"]


def test_a_bead_that_an_agent_adds_joins_the_same_run(fan: BeadProject) -> None:
    fan.bead("a")
    fan.bead("z", "a")
    fan.does("a", "bd create New -l loop/s --id p-new")
    fan.ok(SWARM, SESSION)
    assert sorted(fan.began()) == ["a:1", "p-new:1", "z:1"]


def test_a_blocker_that_an_agent_adds_holds_a_bead_in_the_same_run(
    fan: BeadProject,
) -> None:
    fan.bead("a", priority=0)
    fan.bead("b", priority=1)
    fan.bead("c", priority=2)
    fan.does("a", "bd dep add b c")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "c:1", "b:1"]


def test_a_new_priority_counts_in_the_same_run(fan: BeadProject) -> None:
    fan.bead("a", priority=0)
    fan.bead("b", "a", priority=1)
    fan.bead("c", "a", priority=2)
    fan.does("a", "bd update c -p 0")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "c:1", "b:1"]


def test_a_bead_that_somebody_closes_is_not_run(fan: BeadProject) -> None:
    fan.bead("a", priority=0)
    fan.bead("b", priority=1)
    fan.bead("c", "b")
    fan.does("a", "BD_ACTOR=ann bd close b -r 'not needed'")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "c:1"]


def test_a_bead_that_somebody_puts_off_is_not_run_nor_what_rests_on_it(
    fan: BeadProject,
) -> None:
    fan.bead("a", priority=0)
    fan.bead("b", priority=1)
    fan.bead("c", "b")
    fan.does("a", "bd update b --status deferred")
    ran = fan.doit(SWARM, SESSION)
    assert (ran.code, fan.began()) == (1, ["a:1"]), ran
    assert "`c` waits for `b`" in ran.last


def test_a_bead_deferred_to_a_later_day_is_not_run(fan: BeadProject) -> None:
    fan.bead("a")
    fan.bead("b", defer_until="2999-01-01T00:00:00Z")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_bead_in_other_hands_is_waited_for(
    fan: BeadProject, workers: Sequence[str]
) -> None:
    fan.bead("a", priority=0)
    fan.bead("b", priority=1)
    fan.bead("c", "b")
    fan.does("a", "sleep 0.1; BD_ACTOR=ann bd update b --claim; sleep 0.1")
    if workers:
        fan.bead("0", priority=0)
        fan.does("0", "sleep 0.8")
    ran = fan.doit(*workers, SWARM, SESSION)
    assert ran.code == 4, ran
    assert "`b` by ann" in ran.last
    assert not {"b:1", "c:1"} & set(fan.began())
    fan.beads.close("b", "done by hand")
    fan.new_runs()
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["c:1"]


def test_what_a_person_finishes_meanwhile_frees_beads_in_the_same_run(
    fan: BeadProject,
) -> None:
    fan.bead("hers", status="in_progress", assignee="ann")
    fan.bead("after", "hers")
    fan.bead("a")
    fan.does("a", "BD_ACTOR=ann bd close hers -r done")
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["a:1", "after:1"]


def test_a_new_bead_in_other_hands_is_not_called_complete(fan: BeadProject) -> None:
    fan.bead("a")
    fan.ok(SWARM, SESSION)
    fan.bead("b", status="in_progress", assignee="ann")
    ran = fan.doit(SWARM, SESSION)
    assert ran.code == 4, ran


def test_a_failed_bead_lets_others_go_on_and_its_dependents_rest(
    fan: BeadProject,
) -> None:
    fan.bead("bad", priority=0)
    fan.bead("below", "bad", priority=0)
    fan.bead("good", priority=3)
    fan.does("bad", "exit 1")
    ran = fan.doit(SWARM, SESSION)
    assert (ran.code, fan.began()) == (1, ["bad:1", "bad:1", "bad:1", "good:1"]), ran
    assert ran.last.startswith("failed: swarm: 1 bead failed: bad: ")
    assert fan.statuses() == {
        "bad": "open",
        "below": "open",
        "good": "closed",
    }
    fan.does("bad", "true")
    fan.new_runs()
    fan.ok(SWARM, SESSION)
    assert fan.began() == ["bad:1", "below:1"]


def test_a_cycle_is_printed_before_anything_runs(fan: BeadProject) -> None:
    fan.bead("a", "c")
    fan.bead("b", "a")
    fan.bead("c", "b")
    fan.bead("free")
    ran = fan.doit(SWARM, SESSION)
    assert (ran.code, fan.runs()) == (3, [])
    assert "beads wait for each other: " in ran.err
    for arrow in ("a -> c", "c -> b", "b -> a"):
        assert arrow in ran.err.replace("`", "")
    assert "Traceback" not in ran.err


def test_a_cycle_that_an_agent_makes_ends_the_run_in_words(fan: BeadProject) -> None:
    fan.bead("a", priority=0)
    fan.bead("b", "c")
    fan.bead("c")
    entry = {"issue_id": "c", "depends_on_id": "b", "type": "blocks"}
    change = json.dumps([entry])
    fan.does(
        "a",
        "python3 - <<'END'\nimport json, os\n"
        "path = os.environ['BEADS_DIR'] + '/issues.jsonl'\n"
        "beads = [json.loads(line) for line in open(path)]\n"
        f"[b.update(dependencies={change}) for b in beads if b['id'] == 'c']\n"
        "open(path, 'w').writelines(json.dumps(b) + '\\n' for b in beads)\nEND",
    )
    ran = fan.doit(SWARM, SESSION)
    assert ran.code == 3, ran
    assert "beads wait for each other" in ran.err
    assert "Traceback" not in ran.err
    assert fan.began() == ["a:1"]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("bead:b", ["a:1", "b:1"]),
        ("bead:a", ["a:1"]),
        ("bead:d", ["a:1", "b:1", "c:1", "d:1"]),
        ("wave:1", ["a:1"]),
        ("wave:2", ["a:1", "b:1", "c:1"]),
    ],
)
def test_a_bead_or_wave_by_name_runs_what_it_needs_and_no_more(
    fan: BeadProject, task: str, expected: list[str]
) -> None:
    fan.bead("o", status="closed")
    fan.ok(SWARM, SESSION)
    diamond(fan)
    ran = fan.ok(task, SESSION)
    assert sorted(fan.began()) == expected, ran
    assert ran.command == f"doit {SWARM} {SESSION}"


def test_one_iteration_of_a_bead_by_name_stops_there(fan: BeadProject) -> None:
    fan.swarm(max_iterations=3)
    fan.bead("o", status="closed")
    fan.ok(SWARM, SESSION)
    fan.bead("a")
    fan.bead("b", "a")
    fan.ok("bead:b:0002", SESSION)
    assert fan.began() == ["a:1", "a:2", "a:3", "b:1", "b:2"]
    assert fan.status("b") != "closed"
    fan.ok("bead:b:0001", SESSION)
    fan.ok(SWARM, SESSION)
    assert fan.began()[5:] == ["b:3"]


@pytest.mark.parametrize("task", ["bead:nope", "wave:7", "bead:nope:0001"])
def test_a_bead_or_wave_that_is_not_there_is_said_in_words(
    fan: BeadProject, task: str
) -> None:
    fan.bead("a")
    fan.ok(SWARM, SESSION)
    ran = fan.doit(task, SESSION)
    assert ran.code == 3
    assert "session `s` has no " in ran.err


def test_a_failed_bead_asked_for_by_name_fails_the_run(fan: BeadProject) -> None:
    fan.bead("o", status="closed")
    fan.ok(SWARM, SESSION)
    fan.bead("a")
    fan.does("a", "exit 1")
    ran = fan.doit("bead:a", SESSION)
    assert ran.code == 1
    assert ran.last.startswith("failed: bead:a: ")


def test_a_stage_may_make_the_beads_that_the_next_one_works_on(
    fan: BeadProject,
) -> None:
    fan.pipeline(
        "all",
        {"name": "plan", "prompt": "Plan.", "runs": 1},
        {"name": "build", "loop": "swarm"},
        {"name": "tell", "prompt": "Tell of ${INPUTS.build}.", "runs": 1},
    )
    fan.write(".beads/issues.jsonl", "")
    fan.does("plan", "bd create A -l loop/s --id p-a; bd create B -l loop/s --id p-b")
    fan.ok("pipeline:all", SESSION)
    assert fan.began()[0] == "plan:1"
    assert sorted(fan.began()[1:3]) == ["p-a:1", "p-b:1"]
    assert fan.began()[3:] == ["tell:1"]
    assert "p-a: A (closed)" in fan.output("s", "build")
    assert "build/output" in fan.prompt("s", "tell", 1)
    assert fan.ok("pipeline:all", SESSION).last.startswith("nothing to do")


def test_agents_know_their_bead(fan: BeadProject) -> None:
    fan.swarm("Do ${BEAD_ID}: ${BEAD}\nby ${BD} for ${ITEM}")
    fan.bead("a", description="Paint it red")
    fan.does("a", 'echo "$LOOP_BEAD|$BD_ACTOR|$BEADS_DIR|$LOOP_SESSION"')
    fan.ok(SWARM, SESSION)
    home = fan.path(".beads")
    assert fan.output("s", "beads/a").strip() == f"a|loop/s/a|{home}|s"
    prompt = fan.prompt("s", "beads/a", 1)
    assert "Do a: " in prompt
    assert "Paint it red" in prompt
    assert "-m looptasks.beads" in prompt
