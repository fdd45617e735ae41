"""No change of a file is a bad moment to be killed; with artifact and judge neither."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.behaviour.test_kill import SITE
from tests.support.crash import CrashProject, torn_files
from tests.support.thorough import instants

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
AGENT = """\
#!/bin/sh
echo "$LOOP_SESSION $LOOP_TYPE$LOOP_ROLE $LOOP_ITERATION" >> calls.log
if [ -n "$LOOP_ROLE" ]; then echo APPROVED; exit; fi
cat > "$LOOP_ARTIFACT" <<'END'
{"title": "Tea", "overview": "Make it.", "specs": [
  {"name": "water", "title": "Water", "description": "Boil it."},
  {"name": "leaves", "title": "Leaves", "description": "Add them."}]}
END
"""


@pytest.fixture
def project(tmp_path: Path) -> CrashProject:
    made = CrashProject(tmp_path, AGENT)
    made.loop(completion="validated", artifact="plan", judge="judge.md")
    made.write("loops/work/judge.md", "Judge it.")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(SITE)
    made.env |= {
        "PYTHONPATH": f"{tmp_path}/site{os.pathsep}{made.env['PYTHONPATH']}",
        "KILL_REPORT": str(tmp_path / "changes"),
        "KILL_TORN": "",
    }
    return made


def test_no_kill_pays_twice_or_leaves_half_an_artifact(project: CrashProject) -> None:
    for session in ("cold", "warm"):
        ran = project.run("loop:work", f"session={session}", env={"KILL_AT": "0"})
        assert ran.code == 0, ran
    changes = Path(project.env["KILL_REPORT"]).read_text().split()
    assert changes.count("write") > 10
    for at in instants(len(changes), 4):
        check_killed_at(project, at, f"{at}: {changes[at - 1]}")


def check_killed_at(project: CrashProject, at: int, why: str) -> None:
    words = ("loop:work", f"session=s{at}")
    killed = project.run(*words, env={"KILL_AT": str(at)})
    assert killed.code == -9, (why, killed)
    assert project.is_quiet(), why
    ran = project.run(*words)
    assert ran.code == 0, (why, ran)
    assert torn_files(project) == [], why
    assert len(project.events(f"s{at}", "iteration")) == 1, why
    stage = project.path(f"s{at}", "work")
    assert (stage / "output/plan.json").exists(), why
    entries = {path.name for path in (stage / "entries/specs").iterdir()}
    assert entries == {"water.json", "leaves.json"}, why
    iteration = stage / "iterations/0001"
    for role, folder in (("", iteration), ("judge", iteration / "judge")):
        ends = [end_of(attempt) for attempt in (folder / "attempts").iterdir()]
        assert ends.count("exit") == 1, (why, role, ends)
        assert project.calls()[f"s{at} work{role} 1"] <= len(ends), (why, role)


def end_of(attempt: Path) -> str:
    path = attempt / "result.json"
    return str(json.loads(path.read_text())["how"]) if path.exists() else "nothing"
