"""`at_once`: so many of a stage run side by side, and no more."""

from pathlib import Path

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject

RUNNERS = {
    "serial": (),
    "threads": ("-n", "4"),
    "processes": ("-n", "4", "-P", "process"),
}
BEADS = ("a-1", "a-2", "a-3", "a-4", "a-5")
# Waits for company for a while: who is allowed to come does so.
SOCIABLE = """\
touch "$home/.beads/here.$me"
for i in 1 2 3 4 5; do
    [ "$(ls "$home"/.beads/here.* | wc -l)" -ge 3 ] && break
    sleep 0.1
done
rm "$home/.beads/here.$me"
"""

each_runner = pytest.mark.parametrize("how", RUNNERS)


@pytest.fixture
def fan(tmp_path: Path) -> BeadProject:
    made = BeadProject(tmp_path / "project")
    for name in BEADS:
        made.bead(name)
    made.does("any", SOCIABLE)
    return made


def most(runs: list[str]) -> int:
    """Return how many agents were at work at the same time, at most."""
    now = highest = 0
    for line in runs:
        now += 1 if line[0] == "+" else -1
        highest = max(highest, now)
    return highest


@each_runner
@pytest.mark.parametrize("limit", [1, 2])
def test_no_more_beads_run_at_once_than_allowed_and_all_get_done(
    fan: BeadProject, how: str, limit: int
) -> None:
    fan.swarm(at_once=limit, max_iterations=2, isolation="shared")

    fan.ok(*RUNNERS[how], SWARM, SESSION)

    assert most(fan.runs()) == (1 if how == "serial" else limit)
    assert len(fan.began()) == 2 * len(BEADS)
    assert set(fan.statuses().values()) == {"closed"}


def test_without_a_limit_as_many_run_as_there_are_slots(fan: BeadProject) -> None:
    fan.swarm(isolation="shared")

    fan.ok("-n", "3", SWARM, SESSION)

    assert most(fan.runs()) == 3


def test_what_is_begun_is_finished_before_another_bead_starts(
    fan: BeadProject,
) -> None:
    fan.swarm(at_once=1, max_iterations=2, isolation="shared")

    fan.ok("-n", "4", SWARM, SESSION)

    began = [line.rpartition(":")[0] for line in fan.began()]
    assert began[0::2] == began[1::2]


def test_other_stages_go_on_while_a_stage_is_full(fan: BeadProject) -> None:
    side = {"name": "side", "prompt": "S", "runs": 3, "inputs": []}
    swarm = {
        "name": "swarm",
        "prompt": "Do ${BEAD_ID}.",
        "each": "beads",
        "runs": 1,
        "inputs": [],
        "at_once": 1,
        "isolation": "shared",
    }
    fan.pipeline("p", swarm, side)
    fan.does("side", "true")
    fan.does(
        "any", 'until grep -q -e "-side:3" "$BEADS_DIR/runs.log"; do sleep 0.05; done'
    )

    fan.ok("-n", "3", "pipeline:p", SESSION)

    beads = [line for line in fan.runs() if "side" not in line]
    assert most(beads) == 1
    assert len(beads) == 2 * len(BEADS)


def test_a_bead_that_fails_gives_its_slot_back(fan: BeadProject) -> None:
    fan.swarm(at_once=1, attempts=1, isolation="shared")
    fan.does("a-5", "echo broken >&2; exit 1")

    ran = fan.doit("-n", "3", SWARM, SESSION)

    assert ran.code == 1, ran
    assert sorted(fan.statuses().values()) == ["closed"] * 4 + ["open"]
