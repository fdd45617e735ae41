"""The programs that these tests start, and one bench for each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_bench import AgentBench
from tests.support.agent_programs import cache_folder, installed, search_path


@pytest.fixture(scope="session")
def programs() -> Path:
    """Return the folder of the real programs, or skip with the reason."""
    try:
        found = installed()
        search_path(found)
    except OSError as error:
        pytest.skip(f"the real agents cannot be had: {error}")
    return found


@pytest.fixture
def bench(request: pytest.FixtureRequest, programs: Path) -> Iterator[AgentBench]:
    """Return a bench for the agent that the test names."""
    # Not below the temp folder: codex refuses to work from there.
    home = cache_folder() / "homes"
    home.mkdir(exist_ok=True)
    made = AgentBench(request.param, programs, home)
    yield made
    made.close()
