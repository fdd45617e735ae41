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


@pytest.fixture(scope="session")
def paces() -> dict[str, float]:
    """Return how long each agent takes for an answer here and now, once it is known."""
    return {}


@pytest.fixture
def bench(
    request: pytest.FixtureRequest, programs: Path, paces: dict[str, float]
) -> Iterator[AgentBench]:
    """Return a bench for the agent that the test names."""
    # Not below the temp folder: codex refuses to work from there.
    homes = cache_folder() / "homes"
    homes.mkdir(exist_ok=True)
    made = AgentBench(request.param, programs, homes)
    try:
        if made.name not in paces:
            made.run([{"text": "ok"}])
            paces[made.name] = made.seconds
        made.pace = paces[made.name]
        yield made
        made.check_end()
    finally:
        made.close()


@pytest.fixture
def more_benches(bench: AgentBench, programs: Path) -> Iterator[list[AgentBench]]:
    """Return benches of the same agent, for what can be tried at the same time."""
    made = [AgentBench(bench.name, programs, bench.place.parent) for _ in range(7)]
    try:
        yield made
        for one in made:
            one.check_end()
    finally:
        for one in made:
            one.close()
