"""Signals, slots and order among instances."""

from pathlib import Path

import pytest

from tests.support.live_processes import within
from tests.support.onion_project import OnionProject

RUN = ("pipeline:onion", "session=s")
WISH = {spec: {f"{spec}{n}": f"do {spec}{n}" for n in (1, 2)} for spec in ("a", "b")}
RUNNERS = {"serial": (), "threads": ("-n", "2")}

each_runner = pytest.mark.parametrize("how", RUNNERS)


@pytest.fixture
def onion(tmp_path: Path) -> OnionProject:
    """Return a project of two specs with two phases each, of which nothing is done."""
    project = OnionProject(tmp_path / "onion")
    project.wish(WISH)
    return project


def below(*specs: str) -> list[str]:
    return [
        f"{kind}:{s}{n}" for s in specs for kind in ("phase", "code") for n in (1, 2)
    ]


def pause_while_planning(project: OnionProject, how: str, selector: str) -> str:
    """Pause something while the plan is being made; return how the run ended."""
    project.write("gates/spec.a", "")
    project.write("gates/spec.b", "")
    process = project.start(*RUNNERS[how], *RUN)
    log = project.path("runs.log")
    assert within(30, lambda: log.exists() and "spec:" in log.read_text())
    project.ok("pause", selector, "session=s")
    project.path("gates", "spec.a").unlink()
    project.path("gates", "spec.b").unlink()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 4, out
    return str(out)


@each_runner
def test_what_rests_on_one_instance_is_paused_and_nothing_else(
    onion: OnionProject, how: str
) -> None:
    out = pause_while_planning(onion, how, "descendants:stage:spec:a")

    expected = sorted(["plan", "spec:a", "spec:b", *below("b")])
    assert onion.new_runs() == expected
    command = out.splitlines()[-1].rpartition("to go on: ")[2]
    assert command.startswith("doit resume descendants:spec:a session=s && doit ")
    assert onion.shell(command).code == 0
    assert onion.new_runs() == sorted(below("a"))


@each_runner
def test_a_whole_layer_is_paused(onion: OnionProject, how: str) -> None:
    pause_while_planning(onion, how, "stage:code")

    made = sorted(["plan", "spec:a", "spec:b", *below("a", "b")])
    assert onion.new_runs() == [run for run in made if not run.startswith("code")]
    acks = {event["stage"] for event in onion.ledger("s", "ack")}
    assert acks == {f"code/{spec}/{spec}{n}" for spec in "ab" for n in (1, 2)}


def test_what_depends_on_a_sibling_rests_on_it(onion: OnionProject) -> None:
    onion.wish({**WISH, "_after": {"b": ["a"]}})
    pause_while_planning(onion, "threads", "descendants:spec:a")

    assert onion.new_runs() == ["plan", "spec:a"]


def test_an_instance_that_is_not_in_the_plan_is_refused(onion: OnionProject) -> None:
    onion.write("gates/spec.a", "")
    process = onion.start(*RUN)
    log = onion.path("runs.log")
    assert within(30, lambda: log.exists() and "spec:a" in log.read_text())
    ran = onion.doit("pause", "stage:spec:bb", "session=s")
    assert (ran.code, onion.ledger("s", "signal")) == (3, [])
    assert "did you mean `spec:b`" in ran.err
    onion.ok("pause", "stage:spec:b", "session=s")
    onion.ok("resume", "session=s")
    onion.path("gates", "spec.a").unlink()
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_the_innermost_work_gets_the_next_slot(onion: OnionProject) -> None:
    onion.ok(*RUN)

    calls = onion.path("runs.log").read_text().split()
    assert calls == [
        "plan",
        "spec:a",
        *(f"{kind}:a{n}" for n in (1, 2) for kind in ("phase", "code")),
        "spec:b",
        *(f"{kind}:b{n}" for n in (1, 2) for kind in ("phase", "code")),
    ]


def test_a_declared_priority_changes_who_gets_it(onion: OnionProject) -> None:
    onion.layers(spec={"priority": 1000})
    onion.ok(*RUN)

    calls = onion.path("runs.log").read_text().split()
    assert calls[:3] == ["plan", "spec:a", "spec:b"]


def test_only_so_many_instances_of_a_layer_run_at_once(onion: OnionProject) -> None:
    onion.layers(spec={"at_once": 1})
    onion.write("gates/spec.a", "")
    onion.write("gates/spec.b", "")
    process = onion.start("-n", "3", *RUN)
    log = onion.path("runs.log")
    assert within(30, lambda: log.exists() and "spec:" in log.read_text())
    assert not within(1, lambda: log.read_text().count("spec:") > 1)
    onion.path("gates", "spec.a").unlink()
    onion.path("gates", "spec.b").unlink()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
