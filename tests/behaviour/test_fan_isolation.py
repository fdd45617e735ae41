"""Isolation: beads in worktrees of their own, brought home one at a time."""

import pytest

from tests.support.bead_project import SESSION, SWARM, BeadProject
from tests.support.git_repository import Repository

PARALLEL = ("-n", "2", SWARM, SESSION)
# Both agents are at work before either of them writes.
MEET = (
    'touch "$home/steps/seen.$LOOP_BEAD"; '
    'until [ -e "$home/steps/seen.a" ] && [ -e "$home/steps/seen.b" ]; '
    "do sleep 0.02; done; "
)
EDIT = MEET + 'sed -i "s/two/$LOOP_BEAD/" f.txt; git commit -qam $LOOP_BEAD'
RESOLVE = (
    "printf 'one\\na and b\\nthree\\n' > f.txt; git add -A; git commit --no-edit -q"
)


@pytest.fixture
def repo(fan: BeadProject) -> Repository:
    """Return the repository of the project, clean, with two beads to do."""
    fan.swarm(completion="validated", validate="test -f f.txt", max_iterations=3)
    fan.bead("a")
    fan.bead("b")
    return fan.repository()


def where(fan: BeadProject, bead: str) -> str:
    """Return the folder that a bead's agent worked in, which it has printed."""
    return fan.output("s", f"beads/{bead}").strip()


def is_sound(repo: Repository, *lines: str) -> bool:
    """Tell whether the main tree is clean, and has these lines and no worktree."""
    text = (repo.root / "f.txt").read_text().splitlines()
    only = len(repo.git("worktree", "list").splitlines()) == 1
    return repo.status == "" and only and (not lines or text == list(lines))


def test_beads_get_worktrees_when_git_is_clean_and_several_run_at_once(
    fan: BeadProject, repo: Repository
) -> None:
    fan.does("any", "pwd")
    fan.ok(*PARALLEL)
    assert where(fan, "a") == str(fan.session("s", "worktrees", "a"))
    assert is_sound(repo)
    assert repo.git("branch", "--list", "loop/*") == ""


@pytest.mark.parametrize("reason", ["serial", "dirty", "shared", "detached", "no git"])
def test_beads_share_the_main_tree_otherwise(
    fan: BeadProject, repo: Repository, reason: str
) -> None:
    if reason == "dirty":
        repo.write("f.txt", "changed\n")
    elif reason == "detached":
        repo.git("checkout", "--detach", "-q")
    elif reason == "no git":
        (repo.root / ".git").rename(repo.root.parent / "git")
    elif reason == "shared":
        fan.swarm(isolation="shared")
        repo.commit("shared")
    fan.does("any", "pwd")
    fan.ok(*(PARALLEL if reason != "serial" else PARALLEL[2:]))
    assert {where(fan, "a"), where(fan, "b")} == {str(fan.root)}


def test_worktrees_can_be_declared_for_one_at_a_time(
    fan: BeadProject, repo: Repository
) -> None:
    fan.swarm(isolation="worktree")
    repo.commit("isolated")
    fan.does("any", "pwd")
    fan.ok(SWARM, SESSION)
    assert where(fan, "a") == str(fan.session("s", "worktrees", "a"))


def test_work_comes_home_whether_its_agent_commits_or_not(
    fan: BeadProject, repo: Repository
) -> None:
    fan.does("a", "echo a > a.txt; git add -A; git commit -qm mine")
    fan.does("b", "echo b > b.txt")
    fan.ok(*PARALLEL)
    assert (repo.shown("a.txt"), repo.shown("b.txt")) == ("a", "b")
    assert is_sound(repo)
    log = repo.git("log", "--format=%s", "main")
    assert "Merge bead a: Do a (loop s)" in log


def test_a_bead_begins_with_the_work_of_its_blockers(
    fan: BeadProject, repo: Repository
) -> None:
    fan.bead("c", "a", "b")
    fan.does("a", "echo a > a.txt")
    fan.does("b", "echo b > b.txt")
    fan.does("c", "cat a.txt b.txt")
    fan.ok(*PARALLEL)
    assert fan.output("s", "beads/c").split() == ["a", "b"]
    assert is_sound(repo)


def test_a_collision_goes_back_to_its_agent_who_brings_both_together(
    fan: BeadProject, repo: Repository
) -> None:
    fan.swarm(
        "Do ${BEAD_ID}.\n${FEEDBACK}",
        completion="validated",
        validate="! grep -q '<<<<' f.txt",
        max_iterations=3,
    )
    repo.commit("with feedback")
    for bead in "ab":
        fan.does(f"{bead}.1", EDIT)
        fan.does(bead, RESOLVE)
    ran = fan.ok(*PARALLEL)
    assert len(fan.began()) == 3, ran
    second = next(name[0] for name in fan.began() if name.endswith(":2"))
    prompt = fan.prompt("s", f"beads/{second}", 2)
    assert "changed the same places" in prompt
    assert "<<<<<<<" in prompt
    assert is_sound(repo, "one", "a and b", "three")


def test_a_collision_that_nobody_resolves_fails_the_bead_and_keeps_its_branch(
    fan: BeadProject, repo: Repository
) -> None:
    for bead in "ab":
        fan.does(f"{bead}.1", EDIT)
    ran = fan.doit(*PARALLEL)
    assert ran.code == 1, ran
    (loser,) = [bead for bead, status in fan.statuses().items() if status == "open"]
    (winner,) = {"a", "b"} - {loser}
    branch = f"loop/s/{loser}"
    assert branch in ran.last
    assert branch in fan.state("s", f"beads/{loser}")["completion_reason"]
    assert repo.git("show", f"{branch}:f.txt").split()[1] == loser
    assert repo.shown("f.txt").split() == ["one", winner, "three"]
    assert (repo.root / "f.txt").read_text().split() == ["one", winner, "three"]
    assert repo.status == ""
    assert ran.command == f"doit {SWARM} {SESSION} max=6"
    fan.does(loser, RESOLVE)
    fan.ok(*PARALLEL, "max=6")
    assert is_sound(repo, "one", "a and b", "three")


def test_what_fits_together_in_text_only_is_not_merged(
    fan: BeadProject, repo: Repository
) -> None:
    fan.swarm(
        "Do ${BEAD_ID}.\n${FEEDBACK}",
        completion="validated",
        validate="! { test -f a.txt && test -f b.txt && echo both are here; }",
        max_iterations=2,
    )
    repo.commit("at most one")
    for bead in "ab":
        fan.does(f"{bead}.1", f"{MEET} echo x > $LOOP_BEAD.txt")
        fan.does(bead, "git rm -qf a.txt b.txt; echo neither")
    fan.ok(*PARALLEL)
    second = next(name[0] for name in fan.began() if name.endswith(":2"))
    prompt = fan.prompt("s", f"beads/{second}", 2)
    assert "the merged tree does not pass the check" in prompt
    assert "both are here" in prompt
    assert is_sound(repo)
    assert not list(repo.root.glob("[ab].txt"))


def test_beads_and_sessions_have_one_home(fan: BeadProject, repo: Repository) -> None:
    fan.does("a", "bd create More -l loop/s --id p-more; ls -A > listing")
    fan.ok(*PARALLEL)
    assert sorted(fan.began()) == ["a:1", "b:1", "p-more:1"]
    listed = repo.shown("listing").split()
    assert ".beads" not in listed
    assert fan.session("s", "beads", "p-more", "state.json").exists()
    assert is_sound(repo)


def test_changes_of_a_person_in_the_main_tree_are_not_overwritten(
    fan: BeadProject, repo: Repository
) -> None:
    fan.swarm(isolation="worktree", completion="validated", validate="true")
    repo.commit("isolated")
    fan.does("any", "echo work >> f.txt")
    repo.write("f.txt", "by hand\n")
    ran = fan.doit(SWARM, SESSION, "max=1")
    assert ran.code == 1, ran
    assert (repo.root / "f.txt").read_text() == "by hand\n"
    repo.git("checkout", "f.txt")
    fan.ok(SWARM, SESSION, "max=9")
    assert "work" in repo.shown("f.txt")


def test_work_left_in_a_dead_runs_worktree_is_kept_on_its_branch(
    fan: BeadProject, repo: Repository
) -> None:
    tree = repo.worktrees.add("gone")
    left = fan.session("s", "worktrees", "gone", "left.txt")
    left.write_text("half done\n")
    fan.ok(*PARALLEL)
    assert not left.exists()
    assert repo.shown("left.txt", tree.branch) == "half done"
    assert is_sound(repo)
