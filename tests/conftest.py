"""Fixtures that several kinds of tests share."""

from pathlib import Path

import pytest

from tests.support.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project that uses our loader."""
    return Project(tmp_path / "project")
