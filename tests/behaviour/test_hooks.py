"""`doit hooks`, as Claude Code calls it: a process, JSON on stdin, JSON on stdout."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.bead_project import BeadProject
from tests.support.project import Project, Ran

ODD = 'a "quoted" \\ back\tslash, é 日本 \u2028 \x01 </script> $(rm -rf) {}; '
FOREIGN = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": []}],
    },
}


def hook(project: Project, word: str, asked: Any = "", *more: str) -> Ran:
    """Call a hook the way Claude Code does."""
    text = asked if isinstance(asked, str) else json.dumps(asked)
    done = subprocess.run(
        [sys.executable, "-m", "doit", "hooks", word, *more],
        cwd=project.root,
        env=project.environment(),
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def settings(project: Project) -> Any:
    return json.loads(project.read(".claude", "settings.json"))


def begun(fan: BeadProject, *, failing: bool = True) -> BeadProject:
    """Run the session of the beads, none of which gets done if they are to fail."""
    fan.swarm(attempts=1)
    fan.does("any", "exit 1" if failing else "echo done")
    fan.doit("loop:swarm", "session=s")
    return fan


@pytest.mark.parametrize(
    "asked", [{}, {"stop_hook_active": False}, "", "no json", "[]"]
)
def test_a_stop_is_held_up_while_beads_are_pending(
    fan: BeadProject, asked: Any
) -> None:
    fan.bead("b-1")
    begun(fan)

    ran = hook(fan, "stop", asked)

    assert ran.code == 0, ran
    assert ran.json["decision"] == "block"
    assert "b-1: Do b-1" in ran.json["reason"]


def test_a_stop_that_was_held_up_before_is_let_through(fan: BeadProject) -> None:
    fan.bead("b-1")
    begun(fan)

    assert hook(fan, "stop", {"stop_hook_active": True}) == Ran(0, "", "")


def test_without_a_session_a_stop_is_let_through(fan: BeadProject) -> None:
    fan.bead("b-1")

    assert hook(fan, "stop", {}) == Ran(0, "", "")


def test_without_beads_a_stop_is_let_through(project: Project) -> None:
    project.loop("tidy", max_iterations=1)
    project.step("tidy", "exit 1")
    project.doit("loop:tidy", "session=s")

    assert hook(project, "stop", {}) == Ran(0, "", "")


def test_when_all_beads_are_done_a_stop_is_let_through(fan: BeadProject) -> None:
    fan.bead("b-1")
    begun(fan, failing=False)
    assert fan.status("b-1") == "closed"

    assert hook(fan, "stop", {}) == Ran(0, "", "")


def test_beads_of_another_session_hold_up_nothing(fan: BeadProject) -> None:
    fan.bead("b-1")
    begun(fan, failing=False)
    fan.bead("b-2", labels=["loop/other"])
    fan.bead("b-3", labels=[])

    assert hook(fan, "stop", {}) == Ran(0, "", "")


def test_the_answer_is_json_whatever_the_titles_contain(fan: BeadProject) -> None:
    for number in range(1, 6):
        fan.bead(f"b-{number}", title=f"{ODD}{number}", priority=number % 5)
    begun(fan)

    ran = hook(fan, "stop", {})

    reason = ran.json["reason"]
    assert len(ran.out.splitlines()) == 1
    assert [n for n in range(1, 6) if f"b-{n}: {ODD}{n}" in reason] == [1, 2, 5]
    assert "and 2 more" in reason


def test_a_start_says_one_line_per_unfinished_session(project: Project) -> None:
    project.loop("tidy", max_iterations=2)
    project.step("tidy", "echo one", "exit 1")
    for session in ("a", "b"):
        project.doit("loop:tidy", f"session={session}")
    project.step("tidy", "echo", "echo")
    project.ok("loop:tidy", "session=c")

    ran = hook(project, "start", {})

    assert ran.code == 0
    assert ran.out.splitlines() == [
        f"looptasks session {name}: failed, stage tidy, 1 iteration done; "
        f"next: doit loop:tidy session={name}"
        for name in ("a", "b")
    ]


def test_a_start_names_the_wave_of_beads(fan: BeadProject) -> None:
    fan.bead("b-1")
    fan.bead("b-2", "b-1")
    begun(fan)

    assert ", wave 1 of 2; next: doit loop:swarm session=s" in hook(fan, "start").out


def test_a_start_without_sessions_says_nothing(project: Project) -> None:
    assert hook(project, "start", {}) == Ran(0, "", "")


def test_hooks_join_those_that_are_there_and_leave_them(project: Project) -> None:
    project.write(".claude/settings.json", json.dumps(FOREIGN))

    assert hook(project, "install").out == "hooks installed in .claude/settings.json\n"

    found = settings(project)
    assert found["model"] == "opus"
    assert found["hooks"]["Stop"][0] == FOREIGN["hooks"]["Stop"][0]  # type: ignore[index]
    assert len(found["hooks"]["Stop"]) == 2
    assert len(found["hooks"]["SessionStart"]) == 1
    again = hook(project, "install")
    assert again.out == ".claude/settings.json: nothing to change\n"
    assert settings(project) == found
    assert hook(project, "uninstall").code == 0
    assert settings(project) == FOREIGN


def test_hooks_in_a_project_without_settings_leave_none_behind(
    project: Project,
) -> None:
    hook(project, "install")
    hook(project, "uninstall")

    assert settings(project) == {}


def test_what_was_installed_is_a_command_that_answers(fan: BeadProject) -> None:
    fan.bead("b-1")
    begun(fan)
    hook(fan, "install")
    command = settings(fan)["hooks"]["Stop"][0]["hooks"][0]["command"]

    done = subprocess.run(
        ["sh", "-c", command],
        cwd="/",
        env=fan.environment(CLAUDE_PROJECT_DIR=str(fan.root)),
        input="{}",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert json.loads(done.stdout)["decision"] == "block", done


@pytest.mark.parametrize("broken", ['{"hooks": ', "[1]", "// a comment\n{}"])
def test_settings_that_are_broken_stay_as_they_are(
    project: Project, broken: str
) -> None:
    path = project.write(".claude/settings.json", broken)

    ran = hook(project, "install")

    assert ran.code == 3, ran
    assert ran.err.startswith(".claude/settings.json: is not ")
    assert "\n  fix: " in ran.err
    assert Path(path).read_text() == broken


@pytest.mark.parametrize("words", [("instal",), ("install", "now"), ()])
def test_any_other_word_is_a_mistake(project: Project, words: tuple[str, ...]) -> None:
    ran = project.doit("hooks", *words)

    assert ran.code == 3
    assert "fix: " in ran.err
    assert not project.path(".claude").exists()
