"""Fixtures that several kinds of tests share."""

import signal
from pathlib import Path

import pytest

from tests.support.bead_project import BeadProject
from tests.support.git_repository import ENVIRON, Repository
from tests.support.project import Project

# A test run in the background ignores signals, and so would all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project that uses our loader."""
    return Project(tmp_path / "project")


@pytest.fixture
def fan(tmp_path: Path) -> BeadProject:
    """Return a project whose `loop:swarm` runs once per bead of session `s`."""
    project = BeadProject(tmp_path / "project")
    project.swarm()
    return project


@pytest.fixture
def own_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git see no configuration but a repository's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repository(tmp_path: Path, own_git: None) -> Repository:
    """Return a repository that sees no configuration but its own."""
    del own_git
    return Repository(tmp_path / "project")
