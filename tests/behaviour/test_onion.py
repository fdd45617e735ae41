"""The onion in real doit processes: what is repeated when a layer changes."""

from pathlib import Path

import pytest

from tests.support.onion_project import OnionProject

WISH = {
    spec: {f"{spec}{number}": f"do {spec}{number}" for number in (1, 2, 3)}
    for spec in ("a", "b", "c")
}
PHASES = [f"{spec}{number}" for spec in "abc" for number in (1, 2, 3)]


@pytest.fixture
def onion(tmp_path: Path) -> OnionProject:
    """Return a project with three specs of three phases, all done."""
    project = OnionProject(tmp_path / "onion")
    project.wish(WISH)
    project.ok("-n", "2", "pipeline:onion", "session=s")
    assert project.new_runs() == everything()
    return project


def everything() -> list[str]:
    calls = ["plan", *(f"spec:{spec}" for spec in "abc")]
    calls += [f"{kind}:{name}" for kind in ("phase", "code") for name in PHASES]
    return sorted(calls)


def subtree(spec: str) -> list[str]:
    names = [f"{spec}{number}" for number in (1, 2, 3)]
    below = [f"{kind}:{name}" for kind in ("phase", "code") for name in names]
    return sorted([f"spec:{spec}", *below])


def again(project: OnionProject) -> list[str]:
    project.ok("-n", "2", "pipeline:onion", "session=s")
    return project.new_runs()


def test_a_finished_onion_does_nothing(onion: OnionProject) -> None:
    assert again(onion) == []


def test_one_changed_spec_repeats_its_subtree_alone(onion: OnionProject) -> None:
    onion.wish({**WISH, "b": {name: f"{text}!" for name, text in WISH["b"].items()}})
    assert again(onion) == sorted(["plan", *subtree("b")])
    assert again(onion) == []
    assert "coded do b1!" in onion.output("s", "code/b/b1")


def test_an_identical_plan_repeats_nothing(onion: OnionProject) -> None:
    onion.write("wish.json", onion.read("wish.json") + "\n")
    assert again(onion) == ["plan"]
    assert again(onion) == []
