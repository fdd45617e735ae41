"""A gate waits for a person's word: nothing passes without it, and none is lost."""

import json
import signal
from pathlib import Path

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject
from tests.support.live_processes import within
from tests.support.onion_project import OnionProject
from tests.support.project import Project, Ran
from tests.support.session_schemas import faults

ASKED = (
    "waiting: plan waits for your word; "
    "to go on: doit approve plan session=s && doit pipeline:p session=s"
)


@pytest.fixture
def gated(project: Project) -> Project:
    """A plan with a gate, and work that rests on it."""
    project.pipeline(
        "p",
        {"name": "plan", "prompt": "Plan. ${FEEDBACK}", "runs": 1, "gate": "user"},
        {"name": "work", "prompt": "${INPUTS}", "runs": 1},
    )
    return project


def run(project: Project, *words: str) -> Ran:
    return project.doit("pipeline:p", "session=s", *words)


def waiting(project: Project) -> Ran:
    ran = run(project)
    assert (ran.code, ran.last) == (4, ASKED), ran
    return ran


def told(project: Project, *words: str, code: int = 0) -> Ran:
    ran = project.doit(*words, "session=s")
    assert ran.code == code, ran
    return ran


def test_nothing_downstream_starts_before_the_approval(gated: Project) -> None:
    ran = waiting(gated)
    assert gated.new_runs() == ["plan:1"]
    assert not gated.session("s", "plan", "output").exists()
    assert ran.out.splitlines()[-7:-1] == [
        "plan waits for your word:",
        "  plan says 1",
        "  all of it: .loop/s/plan/iterations/0001/output.md",
        "  doit approve plan session=s",
        '  doit reject plan session=s reason="…"',
        '  doit iterate plan session=s feedback="…"',
    ]
    waiting(gated)
    assert gated.new_runs() == []
    assert gated.shell(ran.command).code == 0
    assert gated.new_runs() == ["work:1"]
    assert list(faults(gated.session("s"))) == []


def test_an_approval_is_kept_in_a_file_and_in_the_ledger(gated: Project) -> None:
    waiting(gated)
    said = told(gated, "approve", "plan", "by=ann", "reason=fine", "--json").json
    (event,) = gated.ledger("s", "gate")
    kept = gated.json("s", "gates", "plan.json")
    for found in (said, event, kept):
        assert (found["decision"], found["by"]) == ("approve", "ann")
        assert found["reason"] == "fine"
        assert found["digest"] == gated.state("s", "plan", 1)["output"]
    assert said["at"] == event["at"] == kept["at"]
    assert said["next"] == "doit pipeline:p session=s"
    assert list(faults(gated.session("s"))) == []


def test_a_rejected_stage_has_failed_and_stays_so(gated: Project) -> None:
    waiting(gated)
    told(gated, "reject", "reason=too long", "by=bob")
    for _ in range(2):
        ran = run(gated)
        assert ran.code == 1
        assert ran.last.startswith("failed: plan: rejected by bob: too long; ")
    assert gated.runs() == ["plan:1"]
    assert gated.state("s", "plan")["status"] == "failed"
    assert gated.json("s", "gates", "plan.json")["reason"] == "too long"
    told(gated, "iterate", "plan", "feedback=shorter")
    waiting(gated)
    assert gated.runs() == ["plan:1", "plan:2"]


def test_feedback_brings_one_more_iteration_that_knows_it(gated: Project) -> None:
    waiting(gated)
    said = told(gated, "iterate", "feedback=name the tables", "by=ann")
    assert "name the tables" in said.out
    waiting(gated)
    assert gated.new_runs() == ["plan:1", "plan:2"]
    notes = gated.session("s", "plan", "progress.md").read_text()
    assert notes.count("## User feedback") == 1
    assert "name the tables" in notes
    assert "(ann, " in notes
    assert "name the tables" in gated.prompt("s", "plan", 2)
    own = gated.session("s", "plan", "iterations", "0002", "progress.md").read_text()
    assert "name the tables" in own
    told(gated, "approve")
    assert run(gated).code == 0
    assert list(faults(gated.session("s"))) == []


def test_feedback_reaches_an_agent_whose_prompt_has_no_place_for_it(
    project: Project,
) -> None:
    project.loop("x", "Just work.", max_iterations=1)
    project.ok("loop:x", "session=s")
    told(project, "iterate", "loop:x", "feedback=mind the gap")
    project.ok("loop:x", "session=s")
    assert project.prompt("s", "x", 1) == "Just work."
    assert project.prompt("s", "x", 2).startswith("Just work.\n\n## User feedback\n\n")
    assert "mind the gap" in project.prompt("s", "x", 2)


def test_the_same_content_is_asked_again_after_feedback(gated: Project) -> None:
    gated.step("plan", "echo always the same")
    waiting(gated)
    told(gated, "iterate", "feedback=other")
    waiting(gated)
    told(gated, "approve")
    assert run(gated).code == 0
    told(gated, "iterate", "plan", "feedback=other")
    waiting(gated)


def test_changed_content_is_asked_again_and_equal_content_is_not(
    project: Project,
) -> None:
    project.write("idea.md", "one")
    project.step("plan", "cat plan.txt")
    project.write("plan.txt", "A")
    project.pipeline(
        "p",
        {
            "name": "plan",
            "prompt": "x",
            "runs": 1,
            "gate": "user",
            "reads": ["idea.md"],
        },
    )
    waiting(project)
    told(project, "approve")
    assert run(project).code == 0
    project.write("idea.md", "two")
    assert run(project).code == 0
    assert project.new_runs() == ["plan:1", "plan:1"]
    project.write("idea.md", "three")
    project.write("plan.txt", "B")
    waiting(project)
    project.write("idea.md", "four")
    project.write("plan.txt", "A")
    assert run(project).code == 0
    assert len(project.ledger("s", "gate")) == 1


def test_the_second_answer_is_told_who_was_first(gated: Project) -> None:
    waiting(gated)
    told(gated, "approve", "by=ann")
    late = told(gated, "reject", "plan", "reason=no", "by=bob", code=3)
    assert "`plan` was already answered: approved by ann at 20" in late.err
    assert run(gated).code == 0
    done = told(gated, "reject", "plan", "reason=no", code=3)
    assert "does not wait for an answer, it is complete (approved by ann" in done.err


def test_of_many_answers_at_once_exactly_one_counts(gated: Project) -> None:
    waiting(gated)
    ways = [["approve"], ["reject", "reason=no"], ["iterate", "feedback=more"]] * 2
    processes = [
        gated.start(*way[:1], "plan", *way[1:], "session=s", f"by=p{number}")
        for number, way in enumerate(ways)
    ]
    outs = [process.communicate(timeout=60)[0] for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 3, 3, 3, 3, 3], outs
    first = codes.index(0)
    (event,) = gated.ledger("s", "gate")
    assert event["by"] == f"p{first}"
    assert gated.json("s", "gates", "plan.json")["by"] == f"p{first}"
    for number, out in enumerate(outs):
        assert f"by p{first} at " in out, (number, out)


def test_an_answer_survives_a_kill_and_is_heard_once(gated: Project) -> None:
    waiting(gated)
    told(gated, "iterate", "feedback=name the tables")
    gated.write("steps/plan.2", "touch started; sleep 60\n")
    running = gated.start("pipeline:p", "session=s")
    assert within(20, gated.path("started").exists)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=30)
    gated.write("steps/plan.2", "echo better\n")
    waiting(gated)
    notes = gated.session("s", "plan", "progress.md").read_text()
    assert notes.count("name the tables") == 1
    assert "name the tables" in gated.prompt("s", "plan", 2)
    assert len(gated.ledger("s", "iteration")) == 2
    told(gated, "approve")
    gated.session("s", "gates", "plan.json").unlink()  # as if killed before it
    gated.forget_doit("s")
    assert run(gated).code == 0
    assert gated.json("s", "gates", "plan.json")["decision"] == "approve"
    assert gated.new_runs().count("plan:2") == 2


def test_feedback_given_while_the_agent_works_is_for_the_next_one(
    project: Project,
) -> None:
    project.loop("x", "${FEEDBACK}", max_iterations=1)
    project.ok("loop:x", "session=s")
    told(project, "iterate", "x", "feedback=one")
    project.write(
        "steps/x.2", "touch started; while [ ! -e go ]; do sleep 0.05; done\n"
    )
    running = project.start("loop:x", "session=s")
    assert within(20, project.path("started").exists)
    said = told(project, "iterate", "x", "feedback=two")
    assert "is running (pid " in said.out
    project.write("go", "")
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert project.runs() == ["x:1", "x:2", "x:3"]
    assert "two" not in project.prompt("s", "x", 2)
    assert "two" in project.prompt("s", "x", 3)


def test_approve_yes_is_recorded_as_what_it_is_and_not_remembered(
    gated: Project,
) -> None:
    assert run(gated, "approve=yes").code == 0
    assert gated.new_runs() == ["plan:1", "work:1"]
    (event,) = gated.ledger("s", "gate")
    assert event["by"] == "approve=yes on the command line"
    assert event["decision"] == "approve"
    told(gated, "iterate", "plan", "feedback=other")
    waiting(gated)
    assert run(gated, "approve=yes").code == 0
    assert list(faults(gated.session("s"))) == []


def test_the_environment_approves_nothing(gated: Project) -> None:
    env = {"LOOP_APPROVE": "yes", "APPROVE": "yes", "CI": "true"}
    assert gated.doit("pipeline:p", "session=s", env=env).code == 4


def test_approve_yes_does_not_overrule_a_rejection(gated: Project) -> None:
    waiting(gated)
    told(gated, "reject", "reason=no")
    assert run(gated, "approve=yes").code == 1


def test_stages_beside_a_gate_run_on(project: Project) -> None:
    gate = {"prompt": "x", "runs": 1, "gate": "user"}
    project.pipeline(
        "p",
        {"parallel": [{"name": "a", **gate}, {"name": "b", **gate}]},
        {"name": "free", "prompt": "x", "runs": 2, "inputs": []},
    )
    ran = project.doit("--continue", "pipeline:p", "session=s")
    assert ran.code == 4, ran
    assert ran.last.startswith("waiting: a, b wait for your word; to go on: ")
    assert sorted(project.new_runs()) == ["a:1", "b:1", "free:1", "free:2"]
    which = told(project, "approve", code=3)
    assert "`doit approve a session=s`, `doit approve b session=s`" in which.err
    assert project.shell(ran.command).code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["approve", "pla"], "has no stage `pla` (did you mean `plan`?)"),
        (["approve", "work"], "`work` does not wait for an answer, it is pending"),
        (["iterate", "work", "feedback=x"], "`work` has no iterations yet"),
        (["reject", "plan"], 'fix: say it: `doit reject plan session=s reason="…"`'),
        (["reject", "plan", "reason= "], "`reason=` is missing or empty"),
        (["iterate", "plan"], 'doit iterate plan session=s feedback="…"'),
        (["approve", "plan", "work"], "`approve` takes no `work`"),
        (["approve", "plan", "why=x"], "nobody reads the variable `why`"),
    ],
)
def test_a_mistaken_answer_says_how_it_is_done(
    gated: Project, words: list[str], says: str
) -> None:
    waiting(gated)
    ran = told(gated, *words, code=3)
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert gated.ledger("s", "gate") == gated.ledger("s", "feedback") == []


@pytest.mark.parametrize("name", ["plan", "stage:plan", ""])
def test_a_stage_has_several_names(gated: Project, name: str) -> None:
    waiting(gated)
    told(gated, "approve", *([name] if name else []))
    assert run(gated).code == 0


def test_the_gate_is_shown_wherever_one_looks(gated: Project) -> None:
    waiting(gated)
    way = "waits for your word: doit approve plan session=s"
    for command in ("list", "status", "explain"):
        assert way in told(gated, command).out
    assert way in gated.session("s", "PROGRESS.md").read_text()
    status = told(gated, "status", "--json").json
    assert status["status"] == "waiting"
    assert ASKED.endswith(f"to go on: {status['next']}")
    (gate,) = status["gates"]
    assert gate["commands"][0] == "doit approve plan session=s"
    listed = told(gated, "list", "--json").json
    assert listed["gates"] == [gate]
    (entry,) = told(gated, "explain", "--json").json["entries"]
    assert entry["stages"][0]["gate"] == gate["digest"]
    assert entry["stages"][1]["gate"] is None
    told(gated, "approve", "by=ann")
    assert "approved by ann" in told(gated, "status").out
    assert told(gated, "status", "--json").json["gates"] == []


def test_an_artifact_is_shown_by_title_overview_and_entries(gated: Project) -> None:
    plan = {
        "title": "Logins",
        "overview": "Who may come in.",
        "specs": [
            {"name": "db", "title": "Tables", "description": "x"},
            {"name": "api", "title": "Routes", "description": "x"},
        ],
        "risks": ["none"],
    }
    gated.write("plan.json", json.dumps(plan))
    waiting(gated)
    folder = gated.session("s", "plan", "iterations", "0001")
    (folder / "artifact.json").write_text(json.dumps(plan))
    shown = waiting(gated).out.splitlines()
    start = shown.index("plan waits for your word:")
    assert shown[start + 1 : start + 8] == [
        "  Logins",
        "  Who may come in.",
        "  specs:",
        "    - db: Tables",
        "    - api: Routes",
        "  risks: 1",
        "  all of it: .loop/s/plan/iterations/0001/artifact.md",
    ]


def test_a_running_session_heeds_an_answer_in_the_same_run(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "plan", "prompt": "x", "runs": 1, "gate": "user", "inputs": []},
        {"name": "work", "prompt": "x", "runs": 1, "inputs": ["plan"]},
        {"name": "slow", "prompt": "x", "runs": 1, "inputs": []},
    )
    project.step("slow", "while [ ! -e go ]; do sleep 0.05; done")
    words = ("-n", "2", "--continue", "pipeline:p", "session=s")
    running = project.start(*words)

    def asked() -> bool:
        path = project.session("s", "ledger.jsonl")
        return path.exists() and bool(project.ledger("s", "stop"))

    assert within(20, asked)
    told(project, "approve", "plan")
    project.write("go", "")
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert sorted(project.runs()) == ["plan:1", "slow:1", "work:1"]


def test_a_gate_waits_however_long_and_however_often(gated: Project) -> None:
    waiting(gated)
    ledger = gated.session("s", "ledger.jsonl")
    old = ledger.read_text().replace('"at":"20', '"at":"19')
    ledger.write_text(old)
    for _ in range(3):
        waiting(gated)
    assert gated.ledger("s", "gate") == []


def test_a_loop_of_its_own_can_have_a_gate(project: Project) -> None:
    project.loop("x", max_iterations=2, gate="user")
    ran = project.doit("loop:x", "session=s")
    assert ran.code == 4
    assert ran.command == "doit approve x session=s && doit loop:x session=s"
    assert project.shell(ran.command).code == 0
    assert project.runs() == ["x:1", "x:2"]


def test_long_feedback_is_kept_whole(gated: Project) -> None:
    waiting(gated)
    long = "x" * 100_000
    told(gated, "iterate", f"feedback={long}")
    (event,) = gated.ledger("s", "gate")
    assert event["feedback"] == long
    assert gated.json("s", "gates", "plan.json")["feedback"] == long


def test_each_bead_has_its_own_gate_and_hears_feedback_when_closed(
    tmp_path: Path,
) -> None:
    project = BeadProject(tmp_path / "beads")
    project.swarm(max_iterations=1, gate="user")
    project.bead("first")
    project.bead("second", "first")
    assert project.doit(SWARM, SESSION).code == 4
    assert project.began() == ["first:1"]
    told(project, "approve", "bead:first")
    assert project.doit(SWARM, SESSION).code == 4
    assert project.began() == ["first:1", "second:1"]
    project.ok(SWARM, SESSION, "approve=yes")
    told(project, "iterate", "bead:second", "feedback=more")
    assert project.doit(SWARM, SESSION).code == 4
    assert project.began() == ["first:1", "second:1", "second:2"]
    assert project.state("s", "beads/second")["iteration_completed"] == 2


@pytest.fixture
def onion(tmp_path: Path) -> OnionProject:
    """A plan and two specs with gates, and nothing run yet."""
    project = OnionProject(tmp_path / "onion")
    project.layers(plan={"gate": "user"}, spec={"gate": "user"})
    project.wish({name: {f"{name}1": "one"} for name in ("a", "b")})
    return project


def peel(project: OnionProject, *words: str) -> Ran:
    return project.doit("pipeline:onion", "session=s", *words)


def test_instances_have_gates_of_their_own(onion: OnionProject) -> None:
    ran = peel(onion)
    assert ran.code == 4
    assert ran.last.startswith("waiting: plan waits for your word; ")
    shown = ran.out.splitlines()
    start = shown.index("plan waits for your word:")
    lines = ["  T", "  O", "  specs:", "    - a: a", "    - b: b"]
    assert shown[start + 1 : start + 6] == lines
    assert onion.new_runs() == ["plan"]
    told(onion, "approve")
    ran = peel(onion)
    assert ran.code == 4
    assert ran.last.startswith("waiting: spec:a, spec:b wait for your word; ")
    assert onion.new_runs() == ["spec:a", "spec:b"]
    told(onion, "approve", "stage:spec:a")
    ran = peel(onion)
    assert ran.last.startswith("waiting: spec:b waits for your word; ")
    assert onion.new_runs() == ["code:a1", "phase:a1"]
    assert onion.json("s", "gates", "spec", "a.json")["decision"] == "approve"
    told(onion, "iterate", "spec:b", "feedback=more")
    assert peel(onion).code == 4
    assert onion.new_runs() == ["spec:b"]
    assert onion.shell(peel(onion).command).code == 0
    assert onion.new_runs() == ["code:b1", "phase:b1"]


def test_an_onion_approved_on_the_command_line_runs_through(
    onion: OnionProject,
) -> None:
    assert peel(onion, "approve=yes").code == 0
    assert len(onion.ledger("s", "gate")) == 3
    assert len(onion.new_runs()) == 7
    told(onion, "iterate", "plan", "feedback=better")
    assert peel(onion, "approve=yes").code == 0
    assert onion.new_runs() == ["plan"]
