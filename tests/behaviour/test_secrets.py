"""Secrets: what looks like one reaches neither our files nor the screen."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.crash import CrashProject, until
from tests.support.project import Project
from tests.support.stub_claude import StubClaude, recorded

KEY = "sk-ant-REDACTED"
PLAIN = "correct-horse-battery-staple"
AGENT = "tool.looptasks.agents.claude"


def test_a_key_in_environment_output_and_prompt_is_in_no_file_and_on_no_screen(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    (tmp_path / "agent.sh").write_text(
        "#!/bin/sh\ncat\n"
        f'echo "my key is {KEY}"\necho "$SHOP_TOKEN" >&2\n'
        'echo "note $SHOP_TOKEN" >> "$(sed -n s/^notes=//p p.txt)"\n'
    )
    (tmp_path / "agent.sh").chmod(0o755)
    folder = tmp_path / "loops" / "x"
    folder.mkdir(parents=True)
    (folder / "loop.yaml").write_text(
        "name: x\ncompletion: validated\nmax_iterations: 1\n"
        "validate: echo $SHOP_TOKEN\n"
        "output_parse: 'answer:ANSWER'\n"
        "agent: {command: sh -c 'cat > p.txt && ./agent.sh && cat p.txt'}\n"
    )
    (folder / "prompt.md").write_text(
        f"notes=${{PROGRESS_FILE}}\nuse {KEY}\nANSWER: {KEY}\n"
    )
    ran = project.doit("loop:x", "session=s", env={"SHOP_TOKEN": PLAIN})
    assert ran.code == 0, ran.out + ran.err
    for path in (tmp_path / ".loop").rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert KEY.encode() not in content, path
            assert PLAIN.encode() not in content, path
    assert KEY not in ran.out + ran.err
    assert PLAIN not in ran.out + ran.err
    kept = tmp_path / ".loop" / "s" / "x" / "iterations" / "0001" / "output.md"
    assert "my key is" in kept.read_text()


# Says all it knows, then waits to be killed; where `go` lies it says so again and ends.
TALKER = f"""\
#!/bin/sh
cat
echo "my key is {KEY} and $SHOP_TOKEN" | tee -a /dev/stderr
notes=$(ls -d .loop/s/work/progress.md) && echo "note {KEY}" >> "$notes"
echo "half $SHOP_TOKEN" > "$LOOP_USAGE"
echo "$LOOP_SESSION $LOOP_TYPE $LOOP_ITERATION" >> calls.log
while [ ! -e go ]; do sleep 0.02; done
"""


@pytest.fixture
def crashed(tmp_path: Path) -> Iterator[CrashProject]:
    made = CrashProject(tmp_path, TALKER)
    made.env["SHOP_TOKEN"] = PLAIN
    made.loop(max_iterations=1, restart_on=["prompt"])
    made.write("loops/work/prompt.md", f"Use {KEY}.\n")
    yield made
    made.end_all()


def leaks(project: CrashProject) -> set[str]:
    home = project.folder / ".loop"
    files = [path for path in home.rglob("*") if path.is_file()]
    return {p.name for p in files if any(k in p.read_text() for k in (KEY, PLAIN))}


def kill_at_once(pids: list[int]) -> None:
    """Kill processes that would otherwise see each other die."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


@pytest.mark.parametrize("whom", ["doit", "doit and its keeper"])
@pytest.mark.parametrize("change", [False, True])
def test_what_a_killed_run_left_is_cleaned_by_the_next_one(
    crashed: CrashProject, whom: str, change: bool
) -> None:
    process = crashed.start("loop:work", "session=s")
    until(crashed.called)
    found = {"stdout", "stderr", "prompt.md", "progress.md", "usage.json"}
    assert leaks(crashed) == found
    kill_at_once([process.pid] if whom == "doit" else crashed.processes())
    assert crashed.is_quiet()
    ended = crashed.path("s", "work/iterations/0001/attempts/1/result.json")
    assert ended.exists() == (whom == "doit")
    process.communicate()
    (crashed.folder / "go").touch()
    if change:
        # What was begun goes to the archive, and no agent looks at it again.
        crashed.write("loops/work/prompt.md", f"Use {KEY} again.\n")

    ran = crashed.run("loop:work", "session=s")

    assert ran.code == 0, ran
    assert leaks(crashed) == set()
    assert [e["verdict"] for e in crashed.events("s", "attempt")][:1] == (
        [] if change else ["interrupted"]
    )


def test_keys_that_only_the_settings_know_are_secrets_too(project: Project) -> None:
    said = f'echo "it is $SHOP_TOKEN" >&2\necho "say $SHOP_TOKEN {PLAIN}"'
    stub = StubClaude(project, more=f'[{AGENT}.variables]\nSHOP_TOKEN = "{PLAIN}"\n')
    stub.loop(max_iterations=1, output_parse="answer:ANSWER")
    stub.answers(recorded("claude-ok").replace("All done.", f"ANSWER: it is {PLAIN}"))
    text = project.read("answers/1")
    project.write("answers/1", f"{said}\n{text}")

    ran = project.ok("loop:tidy", "session=s")
    tail = [project.ok("tail", "session=s", *more).out for more in ([], ["--json"])]

    folder = project.session("s", "tidy/iterations/0001")
    assert "it is ***" in (folder / "attempts/1/stderr").read_text()
    assert (folder / "output.md").read_text() == "ANSWER: it is ***"
    files = [path for path in project.path(".loop").rglob("*") if path.is_file()]
    assert [path for path in files if PLAIN in path.read_text()] == []
    assert "answer=it is" in ran.out
    assert PLAIN not in "".join([ran.out, ran.err, *tail])


def test_a_key_of_the_settings_is_not_told_while_it_is_printed(
    project: Project,
) -> None:
    stub = StubClaude(project, more=f'[{AGENT}.variables]\nSHOP_TOKEN = "{PLAIN}"\n')
    stub.loop(max_iterations=1)
    hold = "while [ ! -e go ]; do sleep 0.02; done"
    stub.answers(recorded("claude-ok"), before=f'echo "say {PLAIN}"\n{hold}')
    stdout = project.session("s", "tidy/iterations/0001/attempts/1/stdout")

    with project.start("loop:tidy", "session=s") as doit:
        until(lambda: stdout.exists() and PLAIN in stdout.read_text())
        tail = project.start("tail", "session=s", "--json")
        first = [tail.stdout.readline() if tail.stdout else "" for _ in range(1)]
        project.write("go", "")
        out, _ = doit.communicate(timeout=30)
        more, _ = tail.communicate(timeout=30)
    assert doit.returncode == 0, out
    assert "say ***" in first[0]
    assert PLAIN not in "".join([*first, more, out])
