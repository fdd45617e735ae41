"""A boxed command changes what is its own and nothing else, and leaves no process."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from looptasks.core.agent_settings import AgentSettings
from looptasks.core.process import Command, Ended
from looptasks.core.sandbox import is_boxed
from looptasks.effects.bubblewrap import BoxedProcesses, why_not
from looptasks.effects.keeper_processes import KeeperProcesses
from looptasks.errors import LoopError
from tests.support.live_processes import any_alive, carrying, within

needs_box = pytest.mark.skipif(bool(why_not()), reason=why_not() or "it works")


@pytest.fixture
def processes() -> Iterator[KeeperProcesses]:
    made = KeeperProcesses()
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a project with git, a home beside it, and something else to spoil."""
    for name in ("home", "project", "other"):
        (tmp_path / name).mkdir()
    git(tmp_path / "project", "init", "-q")
    git(tmp_path / "project", "commit", "-q", "--allow-empty", "-m", "first")
    return tmp_path


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    ran = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return ran.stdout


def run(
    processes: KeeperProcesses,
    place: Path,
    script: str,
    cwd: str = "project",
    *,
    network: bool = True,
) -> Ended:
    command = Command(
        argv=("sh", "-c", script),
        cwd=str(place / cwd),
        stdin="",
        stdout=str(place / "stdout"),
        stderr=str(place / "stderr"),
        env={"HOME": str(place / "home"), "BOX": str(place)},
        timeout=20,
    )
    return BoxedProcesses(processes, network=network).run(command)


@needs_box
def test_only_project_home_and_temp_can_be_written(
    processes: KeeperProcesses, place: Path
) -> None:
    paths = ("project/a", "home/a", "other/a")
    script = (
        f"for f in {' '.join(paths)}; do echo x > {place}/$f; done; echo x > /tmp/a"
    )
    run(processes, place, script)
    assert [(place / path).exists() for path in paths] == [True, True, False]
    assert not Path("/tmp/a").exists()


@needs_box
def test_gits_configuration_and_hooks_cannot_be_changed(
    processes: KeeperProcesses, place: Path
) -> None:
    script = """
        echo x >> .git/config; echo x > .git/hooks/pre-commit; mv .git .git2
        git config core.hooksPath /evil; rm -rf .git/hooks; echo ok > done
    """
    before = (place / "project/.git/config").read_bytes()
    run(processes, place, script)
    assert (place / "project/done").exists()
    assert (place / "project/.git/config").read_bytes() == before
    assert not (place / "project/.git/hooks/pre-commit").exists()
    assert (place / "project/.git").is_dir()


@needs_box
def test_hooks_cannot_be_planted_where_there_were_none(
    processes: KeeperProcesses, place: Path
) -> None:
    subprocess.run(["rm", "-rf", str(place / "project/.git/hooks")], check=True)
    run(processes, place, "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit")
    assert not (place / "project/.git/hooks/pre-commit").exists()


@needs_box
@pytest.mark.parametrize("cwd", ["project", "tree"])
def test_commits_work_inside(processes: KeeperProcesses, place: Path, cwd: str) -> None:
    git(place / "project", "worktree", "add", "-q", str(place / "tree"))
    who = "-c user.name=a -c user.email=a@b"
    script = f"echo x > a && git add a && git {who} commit -qm second"
    ended = run(processes, place, script, cwd)
    assert ended.exit_code == 0, (place / "stderr").read_text()
    assert git(place / cwd, "log", "--format=%s").split() == ["second", "first"]


@needs_box
def test_from_a_worktree_the_main_project_cannot_be_changed(
    processes: KeeperProcesses, place: Path
) -> None:
    (place / "project").rename(place / "home/project")
    git(place / "home/project", "worktree", "add", "-q", str(place / "home/tree"))
    script = "echo x > ../project/a; echo x >> ../project/.git/config; echo x > mine"
    run(processes, place, script, "home/tree")
    assert (place / "home/tree/mine").exists()
    assert not (place / "home/project/a").exists()
    assert "x\n" not in (place / "home/project/.git/config").read_text()


@needs_box
def test_without_network_there_is_none(processes: KeeperProcesses, place: Path) -> None:
    script = "grep -c . /proc/net/dev > links"
    run(processes, place, script, network=False)
    assert (place / "project/links").read_text() == "3\n"  # two of heading, loopback


@needs_box
def test_no_process_outlives_the_box(processes: KeeperProcesses, place: Path) -> None:
    script = "setsid sleep 300 & setsid sh -c 'trap \"\" TERM; sleep 300' & sleep 0.2"
    run(processes, place, script)
    mark = f"BOX={place}"
    assert within(2, lambda: not any_alive(carrying(mark)))


def test_auto_is_boxed_where_that_works_and_open_where_not() -> None:
    assert is_boxed(AgentSettings(sandbox="auto"), "")
    assert not is_boxed(AgentSettings(sandbox="auto"), "not installed")
    assert not is_boxed(AgentSettings(sandbox="none"), "")


def test_a_promise_that_cannot_be_kept_is_an_error_with_a_fix() -> None:
    for wanted in (
        AgentSettings(sandbox="bwrap"),
        AgentSettings(sandbox="auto", network=False),
        AgentSettings(sandbox="none", network=False),
    ):
        with pytest.raises(LoopError) as caught:
            is_boxed(wanted, "`bwrap` is not installed")
        assert "bubblewrap" in caught.value.fix


def test_why_not_is_a_sentence_where_there_is_no_bubblewrap(tmp_path: Path) -> None:
    code = "from looptasks.effects.bubblewrap import why_not; print(why_not())"
    import sys  # noqa: PLC0415

    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "`bwrap` is not installed\n"
