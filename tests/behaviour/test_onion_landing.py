"""Code instances in worktrees: they meet on the result branch, which lands at last."""

from pathlib import Path

import pytest

from tests.support.git_repository import Repository
from tests.support.onion_project import OnionProject
from tests.support.session_schemas import faults

RUN = ("-n", "2", "pipeline:onion", "session=s")
RESULT = "loop/s/result"
IGNORED = "/.loop/\n/gates/\n/steps/\n/runs.log\n__pycache__/\n"
# Does what `steps/ITEM.ITERATION` or `steps/any` says, in the instance's own worktree.
CODER = """\
#!/bin/sh
home=HOME
echo "code:$LOOP_ITEM" >> "$home/runs.log"
step="$home/steps/$LOOP_ITEM.$LOOP_ITERATION"
[ -f "$step" ] || step="$home/steps/any"
. "$step"
"""


class Landing(OnionProject):
    """An onion of one spec with the phases `a` and `b`, in a clean repository."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("coder.sh", CODER.replace("HOME", str(root))).chmod(0o755)
        self.write(".gitignore", IGNORED)
        self.wish({"x": {"a": "do a", "b": "do b"}})
        self.does("any", 'echo "$LOOP_ITEM" > "$LOOP_ITEM.txt"')
        self.repository = Repository(root)
        self.coded()

    def does(self, step: str, text: str) -> None:
        """Script what a coder does."""
        self.write(f"steps/{step}", f"{text}\n")

    def coded(self, prompt: str = "Code.\n${FEEDBACK}", **settings: object) -> None:
        """Declare how the code layer works."""
        own = {"agent": {"command": "./coder.sh"}, "prompt": prompt}
        rule = {"completion": "validated", "validate": "true", "runs": 3}
        self.layers(code={**own, **rule, **settings})
        self.repository.commit("declared")


@pytest.fixture
def onion(tmp_path: Path) -> Landing:
    """Return the project."""
    return Landing(tmp_path / "onion")


def is_sound(onion: Landing) -> bool:
    """Tell whether the main tree is clean, and nothing of the session is in git."""
    only = len(onion.repository.git("worktree", "list").splitlines()) == 1
    none = onion.repository.git("branch", "--list", "loop/*") == ""
    return only and none and onion.repository.status == ""


def test_the_whole_lands_when_all_of_it_is_complete(onion: Landing) -> None:
    onion.does("b.1", "pwd")
    onion.ok(*RUN)
    assert onion.session("s", "code", "x", "a", "state.json").exists()
    where = onion.output("s", "code/x/b").strip()
    assert where == str(onion.session("s", "worktrees", "code+x+b"))
    assert onion.repository.shown("a.txt") == "a"
    log = onion.repository.git("log", "--format=%s", "--first-parent", "main")
    assert log.splitlines()[0] == "Merge the result (loop s)"
    assert "Merge code/x/a" not in log
    assert is_sound(onion)
    before = onion.repository.head
    onion.new_runs()
    onion.ok(*RUN)
    assert (onion.repository.head, onion.new_runs()) == (before, [])


def test_a_part_that_fails_keeps_the_whole_from_landing(onion: Landing) -> None:
    onion.coded(validate="test -f good -o -f a.txt", runs=1)
    before = onion.repository.head
    onion.does("b.1", "echo no")
    ran = onion.doit("--continue", *RUN)
    assert ran.code == 1, ran
    assert onion.repository.head == before
    assert "loop/s/code+x+b" in ran.out
    assert onion.repository.shown("a.txt", RESULT) == "a"
    onion.does("b.2", "echo b > good")
    onion.ok(*RUN, "max=2")
    assert onion.repository.shown("a.txt") == "a"
    assert onion.repository.shown("good") == "b"
    assert is_sound(onion)


def test_a_manual_merge_is_one_command_and_the_last_line(onion: Landing) -> None:
    onion.coded(merge="manual")
    before = onion.repository.head
    ran = onion.ok(*RUN)
    assert ran.command == f"git merge {RESULT}"
    assert "complete" in ran.out
    assert list(faults(onion.session("s"))) == []
    assert (onion.repository.head, onion.repository.status) == (before, "")
    onion.repository.git("merge", "-q", "--no-edit", RESULT)
    assert onion.repository.shown("b.txt") == "b"


def test_siblings_that_collide_bring_both_together(onion: Landing) -> None:
    meet = (
        'touch "$home/steps/seen.$LOOP_ITEM"; until [ -e "$home/steps/seen.a" ] && '
        '[ -e "$home/steps/seen.b" ]; do sleep 0.02; done; '
    )
    onion.coded(validate="! grep -q '<<<<' f.txt", isolation="worktree")
    for item in "ab":
        onion.does(f"{item}.1", meet + f'sed -i "s/two/{item}/" f.txt')
        onion.does(f"{item}.2", "printf 'one\\na and b\\nthree\\n' > f.txt")
    onion.ok(*RUN)
    assert len([call for call in onion.new_runs() if call[:4] == "code"]) == 3
    again = "code/x/{}/iterations/0002"
    (second,) = [i for i in "ab" if onion.session("s", again.format(i)).exists()]
    prompt = onion.prompt("s", f"code/x/{second}", 2)
    assert "changed the same places" in prompt
    assert "<<<<<<<" in prompt
    assert onion.repository.shown("f.txt") == "one\na and b\nthree"
    assert is_sound(onion)


def test_local_changes_in_the_way_wait_for_their_owner(onion: Landing) -> None:
    onion.coded(isolation="worktree")
    onion.does("a.1", "echo changed > f.txt")
    onion.write("f.txt", "mine\n")
    ran = onion.doit(*RUN)
    assert ran.code == 4, ran
    assert "f.txt" in ran.out
    assert onion.read("f.txt") == "mine\n"
    onion.repository.git("checkout", "-q", "f.txt")
    onion.new_runs()
    onion.ok(*RUN)
    assert onion.read("f.txt") == "changed\n"
    assert onion.new_runs() == []
    assert is_sound(onion)


def test_a_rerun_takes_no_worktree_from_who_works_in_it(onion: Landing) -> None:
    for item in "ab":
        onion.does(f"{item}.1", "exit 1")
    onion.coded(attempts=1)
    assert onion.doit("--continue", *RUN).code == 1
    slow = (
        'touch "$home/steps/on.$LOOP_ITEM"; sleep 1; [ -f f.txt ] || exit 1; '
        'echo "$LOOP_ITEM" > "$LOOP_ITEM.txt"'
    )
    for item in "ab":
        onion.does(f"{item}.1", slow)
    ran = onion.doit(*RUN)
    assert ran.code == 0, ran
    assert {onion.repository.shown(f"{item}.txt") for item in "ab"} == {"a", "b"}


def test_a_changed_phase_starts_again_from_what_has_landed(onion: Landing) -> None:
    onion.ok(*RUN)
    onion.wish({"x": {"a": "do a", "b": "do b otherwise"}})
    onion.repository.commit("another wish")
    onion.does("any", 'cat a.txt; echo again > "$LOOP_ITEM.txt"')
    onion.new_runs()
    onion.ok(*RUN)
    assert onion.new_runs() == ["code:b", "phase:b", "plan", "spec:x"]
    assert onion.output("s", "code/x/b").strip() == "a"
    assert onion.repository.shown("b.txt") == "again"
    assert is_sound(onion)
