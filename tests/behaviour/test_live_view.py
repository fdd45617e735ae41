"""The live view, looked at in a real terminal while agents work and afterwards."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.support.bead_project import BeadProject
from tests.support.project import Project
from tests.support.stub_claude import StubClaude, limited, recorded
from tests.support.tmux_pane import HAS_TMUX, PROMPT, Pane, pane

pytestmark = pytest.mark.skipif(not HAS_TMUX, reason="tmux is not on PATH")

# Says something, then waits for its file: `go.LOOP.ITERATION`.
AGENT = """\
cat > /dev/null
echo '{"cost_usd": 0.25}' > "$LOOP_USAGE"
printf '\\033[32m%s is at %s\\033[0m\\n' "$LOOP_TYPE" "$LOOP_ITERATION"
cat said 2> /dev/null
while ! [ -f "go.$LOOP_TYPE.$LOOP_ITERATION" ]; do sleep 0.05; done
"""
COMMAND = "doit loop:tidy session=auth; echo exit $?"
HEAD = r" auth · loop:tidy · \d:\d\d · "


@pytest.fixture
def tidy(project: Project) -> Project:
    """Return a project with a loop of two iterations that wait for a word."""
    project.loop("tidy", max_iterations=2)
    project.step("tidy", AGENT)
    return project


def opened(project: Project, **env: str) -> AbstractContextManager[Pane]:
    return pane(project.root, project.environment(**env))


@pytest.fixture
def terminal(tidy: Project) -> Iterator[Pane]:
    with opened(tidy) as made:
        yield made


def go(project: Project, stage: str, *iterations: int) -> None:
    for iteration in iterations:
        project.write(f"go.{stage}.{iteration}", "")


def timeless(lines: list[str]) -> list[str]:
    """Return lines without how long things took."""
    return [re.sub(r"\d+(\.\d)? s\b", "T", line) for line in lines]


STORY = [
    "loop:tidy:0001 done in T, $0.25",
    "loop:tidy:0002 done in T, $0.25",
    "loop:tidy complete: ran 2 of 2 iterations",
    "complete: loop:tidy in session auth, 2 iterations, $0.50 (ran 2 of 2 iterations); "
    "to look at it: doit status session=auth",
    "exit 0",
    PROMPT,
]


def test_what_an_agent_does_is_seen_while_it_does_it(
    tidy: Project, terminal: Pane
) -> None:
    terminal.type(COMMAND)

    first = terminal.sees("tidy is at 1")
    assert re.fullmatch(HEAD + "no cost yet", first[2])
    assert re.fullmatch(r" ● tidy  0 of 2 done · iteration 1 · \d:\d\d", first[3])
    assert first[4:] == ["   tidy is at 1"]
    assert terminal.is_sane()

    go(tidy, "tidy", 1)
    second = terminal.sees("tidy is at 2")
    assert timeless(second)[1] == STORY[0]
    assert re.fullmatch(HEAD + r"\$0\.25", second[3])
    assert re.fullmatch(r" ● tidy  1 of 2 done · iteration 2 · \d:\d\d", second[4])

    go(tidy, "tidy", 2)
    terminal.sees("exit 0")
    assert timeless(terminal.story())[1:] == STORY
    assert terminal.is_sane()


def test_time_passes_on_the_screen(terminal: Pane) -> None:
    terminal.type(COMMAND)

    terminal.sees("iteration 1 · 0:00")
    terminal.sees("iteration 1 · 0:02")


def test_an_interrupt_leaves_a_clean_terminal(tidy: Project, terminal: Pane) -> None:
    go(tidy, "tidy", 1)
    terminal.type(COMMAND)
    terminal.sees("tidy is at 2")

    terminal.press("C-c")

    terminal.sees("exit 130")
    assert timeless(terminal.story())[1:] == [
        STORY[0],
        "interrupted; to go on: doit loop:tidy session=auth",
        "exit 130",
        PROMPT,
    ]
    assert terminal.is_sane()


@pytest.mark.parametrize("mode", ["", "-n 2", "-n 2 -P process"])
def test_stages_side_by_side_are_seen_side_by_side(project: Project, mode: str) -> None:
    stages = [{"name": name, "prompt": "Look.", "runs": 1} for name in ("a", "b")]
    last = {"name": "last", "prompt": "Sum up.", "runs": 1}
    project.pipeline("p", {"name": "both", "parallel": stages}, last)
    for name in ("a", "b", "last"):
        project.step(name, AGENT)

    with opened(project) as terminal:
        terminal.type(f"doit {mode} pipeline:p session=s; echo exit $?")
        seen = terminal.sees("a is at 1", "b is at 1" if mode else "")
        assert " ○ last  waiting" in seen
        assert (" ○ b     waiting" in seen) == (not mode)
        go(project, "a", 1)
        go(project, "b", 1)
        seen = terminal.sees("last is at 1")
        assert " ✓ a     1 done · ran 1 of 1 iteration" in seen
        go(project, "last", 1)
        terminal.sees("exit 0")
        assert len(terminal.story()) == 1 + 6 + 1 + 2
        assert terminal.is_sane()


def test_what_ordinary_tasks_print_is_not_drawn_over(tidy: Project) -> None:
    tidy.write(
        "dodo.py",
        "def task_noise():\n"
        "    return {'actions': ['echo one; while ! [ -f go.noise ]; do sleep 0.05;"
        " done; echo two'], 'verbosity': 2}\n",
    )
    with opened(tidy) as terminal:
        terminal.type("doit -n 2 loop:tidy noise session=auth; echo exit $?")
        seen = terminal.sees(".  noise", "one")
        assert not any("●" in line for line in seen)
        tidy.write("go.noise", "")
        seen = terminal.sees("tidy is at 1", "two", "●")
        go(tidy, "tidy", 1, 2)
        terminal.sees("exit 0")
        told = [line for line in terminal.story() if "started" not in line]
        assert told[1:4] == [".  noise", "one", "two"]
        assert timeless(told)[4:] == STORY


def test_what_an_agent_prints_cannot_spoil_the_screen(
    tidy: Project, terminal: Pane
) -> None:
    tidy.write("said", "\x1b[2J\x1b[?25l\x1b]0;title\x07calm " + "and long " * 99)

    terminal.type(COMMAND)

    seen = terminal.sees("and long and long")
    assert len(seen) == 5
    assert re.fullmatch(r"   calm (and long )+.*…", seen[4])
    assert terminal.is_sane()


def test_secrets_are_not_seen(tidy: Project, terminal: Pane) -> None:
    tidy.write("said", "export API_KEY=abcdef123456\n")

    terminal.type(COMMAND)

    assert terminal.sees("API_KEY=")[4] == "   export API_KEY=***"


def test_a_terminal_may_become_narrow_and_wide_again(
    tidy: Project, terminal: Pane
) -> None:
    terminal.type(COMMAND)
    terminal.sees("tidy is at 1")

    terminal.resize(20, 10)
    narrow = terminal.sees(" ● tidy 0/2 · 0:")
    assert all(len(line) < 20 for line in narrow if "tidy" in line)
    terminal.resize(80, 24)
    terminal.sees(" ● tidy  0 of 2 done · iteration 1")

    go(tidy, "tidy", 1, 2)
    terminal.sees("exit 0")
    assert timeless(terminal.story())[-6:] == STORY
    assert terminal.is_sane()


def test_a_terminal_without_unicode_gets_ascii(tidy: Project) -> None:
    tidy.write("said", "caf\xe9\n")
    with opened(tidy, PYTHONIOENCODING="ascii") as terminal:
        terminal.type(COMMAND)

        seen = terminal.sees("caf?")

        assert re.fullmatch(r" \* tidy  0 of 2 done, iteration 1, \d:\d\d", seen[3])
        assert "\n".join(seen).isascii()


PLAIN = {
    "in CI": ("CI=true", ""),
    "on a dumb terminal": ("TERM=dumb", ""),
    "in the background": ("", "& wait"),
}


@pytest.mark.parametrize("where", PLAIN)
def test_where_nobody_can_watch_lines_are_plain(
    tidy: Project, terminal: Pane, where: str
) -> None:
    before, after = PLAIN[where]

    terminal.type(f"{before} doit loop:tidy session=auth {after}")

    terminal.sees("loop:tidy:0001 started, iteration 1")
    go(tidy, "tidy", 1, 2)
    terminal.sees("complete: loop:tidy")
    story = terminal.story()
    assert len([line for line in story if " started, " in line]) == 2
    assert not any("●" in line for line in story)


def named(project: Project, *streams: str, **settings: Any) -> None:
    """Let the loop's agent be a `claude` that waits for `go` after its stream."""
    stub = StubClaude(project)
    stub.loop(**settings)
    wait = f"while ! [ -f {project.path('go')} ]; do sleep 0.05; done"
    stub.answers(*streams, after=wait)


def test_of_a_named_agent_the_last_action_and_its_tokens_are_seen(
    project: Project,
) -> None:
    lines = recorded("claude-ok").splitlines()
    named(project, "\n".join(lines[:3]) + "\n")

    with opened(project) as terminal:
        terminal.type(COMMAND)

        seen = terminal.sees("Write /project/a.txt")

        assert re.search(r"iteration 1 · \d:\d\d · 101 tokens$", seen[3])
        assert seen[4:] == ["   Write /project/a.txt"]


def test_a_rate_limit_that_an_agent_waits_for_is_seen(project: Project) -> None:
    named(project, "\n".join(recorded("claude-limit").splitlines()[:2]) + "\n")

    with opened(project) as terminal:
        terminal.type(COMMAND)

        terminal.sees("   waiting: rate limit, next try in 1s")


def test_a_usage_limit_is_counted_down(project: Project) -> None:
    named(project, limited(4102444800), on_limit="wait")
    project.write("go", "")

    with opened(project) as terminal:
        terminal.type(COMMAND)

        terminal.sees("   usage limit until 2100-01-01T00:00:00Z: ")
        terminal.press("C-c")
        terminal.sees("exit 130")


@pytest.mark.parametrize("mode", ["-n 2", "-n 2 -P process"])
def test_beads_in_flight_are_seen_with_their_titles(
    fan: BeadProject, mode: str
) -> None:
    fan.bead("a", title="Lay the ground", priority=0)
    fan.bead("b", title="Put up \x1b[31mwalls", priority=1)
    fan.bead("c", "a", "b", title="Roof it")
    wait = 'until [ -e "$home/go.$me" ]; do sleep 0.05; done'
    fan.does("any", f'echo "$me is at it"; {wait}')

    with opened(fan) as terminal:
        terminal.type(f"doit {mode} loop:swarm session=s; echo exit $?")
        seen = terminal.sees("a is at it", "b is at it")
        assert " ● swarm   0 of 3 done" in seen
        row = r" ● bead:b  0 of 1 done · iteration 1 · \d:\d\d · Put up walls"
        assert any(re.fullmatch(row, line) for line in seen), seen
        fan.write("go.a", "")
        seen = terminal.sees("bead:a complete", "1 of 3 done")
        assert not any("bead:a  0 of 1" in line for line in seen)
        fan.write("go.b", "")
        terminal.sees("c is at it", "2 of 3 done", "Roof it")
        fan.write("go.c", "")
        terminal.sees("exit 0")
        assert terminal.is_sane()
        assert not any("0 of 1 done" in line for line in terminal.story())
