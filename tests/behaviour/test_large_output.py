"""An agent that prints a gigabyte costs disk, not memory."""

import json
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crash import CrashProject, finished, nap
from tests.support.thorough import THOROUGH

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SIZE = 1 << 30
LIMIT = 100  # megabytes
# By far the fastest way to a gigabyte of text: a small file, many times over.
LINES = "yes 'a line that says nothing much, and says it again' | head -c {size}"
ONE_LINE = "head -c {size} /dev/zero | tr '\\0' x"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[CrashProject]:
    if shutil.disk_usage(tmp_path).free < 6 * SIZE:
        pytest.skip("there is no room for some gigabytes")
    made = CrashProject(tmp_path)
    yield made
    made.end_all()
    shutil.rmtree(made.folder)


class Peak:
    """The largest resident sets that a project's Python processes have had."""

    def __init__(self, project: CrashProject) -> None:
        self.megabytes: dict[str, int] = {}
        self._project = project
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            for pid in self._project.processes():
                self._look(Path("/proc", str(pid)))

    def _look(self, folder: Path) -> None:
        try:
            command = folder.joinpath("cmdline").read_bytes()
            status = folder.joinpath("status").read_text()
        except OSError:
            return
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        if found and b"python" in command:
            who = "keeper" if b"effects.keeper" in command else "doit"
            peak = int(found[1]) // 1024
            self.megabytes[who] = max(self.megabytes.get(who, 0), peak)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("printing", "size"),
    [(LINES, SIZE if THOROUGH else SIZE // 4), (ONE_LINE, SIZE // 4)],
    ids=["lines", "one-long-line"],
)
def test_output_of_any_size_needs_no_hundred_megabytes(
    project: CrashProject, printing: str, size: int
) -> None:
    text = f"{printing.format(size=size)}\necho\necho 'PLATEAU: yes'\n"
    project.script("agent.sh", f"#!/bin/sh\n{text}")
    project.loop(
        completion="plateau",
        min_iterations=1,
        consensus=1,
        output_parse="plateau:PLATEAU",
        validate="true",
    )
    with Peak(project) as peak:
        ran = finished(project.start("loop:work", "session=s"), 300)
    assert ran.code == 0, ran
    assert peak.megabytes.keys() == {"doit", "keeper"}
    assert max(peak.megabytes.values()) < LIMIT, peak.megabytes
    output = project.path("s", "work/iterations/0001/output.md")
    assert output.stat().st_size > size
    (event,) = project.events("s", "iteration")
    assert event["parsed"] == {"plateau": "yes"}
    state = json.loads(project.path("s", "work/state.json").read_bytes())
    assert state["status"] == "complete"


def test_the_next_stage_is_shown_a_part_of_a_large_output(
    project: CrashProject,
) -> None:
    project.script(
        "agent.sh",
        "#!/bin/sh\n[ $LOOP_TYPE = big ] || { wc -c; exit; }\n"
        f"{LINES.format(size=SIZE // 16)}\n",
    )
    stages = [
        {"name": "big", "prompt": "Print.", "runs": 1},
        {"name": "next", "prompt": "Read ${INPUTS}", "runs": 1},
    ]
    project.pipeline("all", stages)
    with Peak(project) as peak:
        ran = finished(project.start("pipeline:all", "session=s"), 300)
        nap(0.2)
    assert ran.code == 0, ran
    assert max(peak.megabytes.values()) < LIMIT, peak.megabytes
    count = int(project.path("s", "next/output/output.md").read_text())
    assert 1000 < count < 1_000_000


def test_a_check_that_prints_without_end_costs_no_memory(
    project: CrashProject,
) -> None:
    project.loop(max_iterations=2, attempts=1, validate=LINES.format(size=SIZE // 16))
    with Peak(project) as peak:
        ran = finished(project.start("loop:work", "session=s"), 300)
    assert ran.code == 0, ran
    assert max(peak.megabytes.values()) < LIMIT, peak.megabytes
