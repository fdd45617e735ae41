"""An npm that does not deliver: a reason to skip, in time, and asked only once."""

from pathlib import Path

import pytest

from tests.support.agent_programs import cache_folder, installed
from tests.support.live_processes import alive, pids_in, within


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the npm that will be found: a script, yet to be written."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("LOOPTASKS_AGENT_CACHE", str(tmp_path / "cache"))
    return program


def test_an_npm_that_fails_is_told_once_and_not_asked_again(npm: Path) -> None:
    npm.write_text("#!/bin/sh\necho asked >> asked.log\necho no network >&2\nexit 7\n")
    for _ in range(2):
        with pytest.raises(OSError, match="npm failed with exit code 7: no network"):
            installed()
    assert (cache_folder() / "asked.log").read_text() == "asked\n"


def test_an_npm_that_hangs_is_ended_with_its_children(npm: Path) -> None:
    npm.write_text("#!/bin/sh\nsleep 300 &\necho $! > pids\nwait\n")
    with pytest.raises(OSError, match="npm takes longer than 1 s"):
        installed(patience=1)
    (child,) = pids_in(cache_folder() / "pids")
    assert within(2, lambda: not alive(child))


def test_an_npm_that_leaves_programs_out_has_failed(npm: Path) -> None:
    npm.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(OSError, match=r"node|claude"):
        installed()
    assert not (cache_folder() / "complete").exists()
