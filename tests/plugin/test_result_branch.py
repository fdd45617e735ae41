"""Instances in worktrees: they come home to the result, which lands once and whole."""

from pathlib import Path

import pytest

from looptasks.core.job import Job, Site
from looptasks.core.landing import Landing
from looptasks.core.pipeline import Stage, loop_from
from looptasks.effects.git_merge import Merging
from looptasks.plugin.result_branch import (
    instance_site,
    land,
    pending_branches,
    set_aside,
)
from looptasks.plugin.workplace import Workplace
from looptasks.plugin.worksite import Worksite, clean_up, kept_branch, put_away
from tests.support.git_repository import Repository, passes

RESULT = "loop/s/result"
COMMAND = f"git merge {RESULT}"


class Session:
    """Session `s` of a repository, whose instances are worked on by hand."""

    def __init__(self, root: Path) -> None:
        self.repository = Repository(root)
        self.root = self.repository.root
        self.place = Workplace(str(root), "s", "run-1")

    def begin(self, stage: str, **files: str) -> Site:
        """Begin an instance, and write files in its worktree."""
        site = instance_site(self.place, stage, f"Do {stage}")
        for name, text in files.items():
            Path(site.folder, f"{name}.txt").write_text(text)
        return site

    def worksite(self, stage: str, site: Site, validate: str = "") -> Worksite:
        """Return the worksite that an iteration of the instance has."""
        loop = loop_from({"name": "code", "validate": validate}, "")
        job = Job(
            session="s",
            stage=Stage(stage, f"stage:{stage}", loop, (), "", ""),
            number=1,
            item="",
            goal="",
            inputs={},
            items=(),
            generation=0,
            history=(),
            failures=(),
            seconds_left=None,
            env={},
            site=site,
        )
        return Worksite(self.place, job, site, str(self.root / ".loop/s/check.log"))

    def complete(self, stage: str, **files: str) -> None:
        """Take an instance from its beginning to its end."""
        site = self.begin(stage, **files)
        assert self.worksite(stage, site).integrate() == ""
        put_away(self.place, stage)

    def land(self, *checks: str, how: str = "auto") -> Landing:
        """Land the result."""
        return land(self.place, checks, how, {})

    def branches(self) -> set[str]:
        """Return the branches of the session."""
        listing = ("for-each-ref", "--format=%(refname:strip=2)", "refs/heads/loop")
        return set(self.repository.git(*listing).split())

    def subject(self, branch: str) -> str:
        """Return what the newest commit of a branch says."""
        return self.repository.git("log", "-1", "--format=%s", branch)


@pytest.fixture
def session(tmp_path: Path, own_git: None) -> Session:
    """Return a session in a repository that sees no configuration but its own."""
    del own_git
    return Session(tmp_path / "project")


def test_a_complete_result_lands_on_branch_and_tree_of_the_user(
    session: Session,
) -> None:
    session.complete("code/db/a", a="a\n")
    session.complete("code/db/b", b="b\n")
    assert session.subject(RESULT) == "Merge code/db/b: Do code/db/b (loop s)"
    assert not (session.root / "a.txt").exists()
    landing = session.land("test -f a.txt", "test -f b.txt")
    assert landing[0] == "landed"
    assert "`main`" in landing[1]
    assert session.subject("main") == "Merge the result (loop s)"
    assert (session.root / "a.txt").read_text() == "a\n"
    assert session.repository.shown("b.txt") == "b"
    assert session.repository.status == ""
    assert session.branches() == set()
    assert len(session.repository.git("worktree", "list").splitlines()) == 1


def test_a_result_lands_once(session: Session) -> None:
    assert session.land() == ("nothing", "", "")
    session.complete("code/a", a="a\n")
    assert session.land()[0] == "landed"
    before = session.repository.head
    assert session.land("false") == ("nothing", "", "")
    assert session.repository.head == before


def test_instances_without_changes_are_nothing_to_land(session: Session) -> None:
    before = session.repository.head
    session.complete("code/a")
    assert session.land("false") == ("nothing", "", "")
    assert session.repository.head == before
    assert session.branches() == set()


def test_a_later_run_lands_again_from_where_the_user_is(session: Session) -> None:
    session.complete("code/a", a="a\n")
    session.land()
    session.repository.write("mine.txt", "mine\n")
    session.repository.commit("mine")
    site = session.begin("code/a", a="again\n")
    assert Path(site.folder, "mine.txt").exists()
    assert session.worksite("code/a", site).integrate() == ""
    put_away(session.place, "code/a")
    assert session.land()[0] == "landed"
    assert session.repository.shown("a.txt") == "again"


def test_what_the_user_did_meanwhile_is_checked_together_with_the_result(
    session: Session,
) -> None:
    session.complete("code/a", a="a\n")
    session.repository.write("mine.txt", "mine\n")
    session.repository.commit("mine")
    assert session.land("! test -f mine.txt")[0] == "blocked"
    assert not (session.root / "a.txt").exists()
    assert session.land("test -f mine.txt && test -f a.txt")[0] == "landed"
    assert (session.root / "mine.txt").exists()
    assert (session.root / "a.txt").exists()


def test_a_result_that_does_not_pass_stays_on_its_branch(session: Session) -> None:
    session.complete("code/a", a="a\n")
    before = session.repository.head
    state, reason, command = session.land("true", "echo so wrong; false")
    assert (state, command) == ("blocked", "")
    assert "`echo so wrong; false`" in reason
    assert "so wrong\n" in reason
    assert (session.repository.head, session.repository.status) == (before, "")
    assert session.branches() == {RESULT}


def test_each_check_runs_once_on_the_same_tree(session: Session) -> None:
    note = session.root.parent / "noted"
    check = f"echo x >> {note}"
    session.complete("code/a", a="a\n")
    for _ in range(2):
        assert session.land(check, check, how="manual")[0] == "manual"
    assert note.read_text() == "x\n"
    session.complete("code/b", b="b\n")
    session.land(check, how="manual")
    assert note.read_text() == "x\nx\n"


def test_a_manual_landing_touches_nothing_and_gives_the_one_command(
    session: Session,
) -> None:
    session.complete("code/a", a="a\n")
    before = session.repository.head
    state, reason, command = session.land("test -f a.txt", how="manual")
    assert (state, command) == ("manual", COMMAND)
    assert "complete" in reason
    assert (session.repository.head, session.repository.status) == (before, "")
    session.repository.git(*command.split()[1:], "--no-edit")
    assert (session.root / "a.txt").exists()
    assert session.land(how="manual") == ("nothing", "", "")
    assert session.branches() == set()


def test_a_manual_result_that_does_not_pass_gets_no_command(session: Session) -> None:
    session.complete("code/a", a="a\n")
    state, reason, command = session.land("false", how="manual")
    assert (state, command) == ("blocked", "")
    assert "`false`" in reason


def test_local_changes_in_the_way_are_named_and_kept(session: Session) -> None:
    session.complete("code/a", f="changed\n")
    session.repository.write("f.txt", "mine\n")
    before = session.repository.head
    state, reason, _ = session.land()
    assert state == "blocked"
    assert "`f.txt`" in reason
    assert "git stash" in reason
    assert RESULT in reason
    assert (session.root / "f.txt").read_text() == "mine\n"
    assert session.repository.head == before
    session.repository.git("checkout", "-q", "f.txt")
    assert session.land()[0] == "landed"
    assert (session.root / "f.txt").read_text() == "changed\n"


def test_local_changes_elsewhere_do_not_keep_a_result_from_landing(
    session: Session,
) -> None:
    session.complete("code/a", a="a\n")
    session.repository.write("f.txt", "mine\n")
    assert session.land()[0] == "landed"
    assert (session.root / "f.txt").read_text() == "mine\n"
    assert session.repository.status == "M f.txt"


def test_a_user_who_changed_the_same_place_gets_the_command_to_merge(
    session: Session,
) -> None:
    session.complete("code/a", f="one\nTWO\nthree\n")
    session.repository.write("f.txt", "one\nzwei\nthree\n")
    before = session.repository.commit("zwei")
    state, reason, command = session.land()
    assert (state, command) == ("blocked", COMMAND)
    assert "`f.txt`" in reason
    assert (session.repository.head, session.repository.status) == (before, "")


def test_a_result_lands_where_it_began_though_the_user_is_elsewhere(
    session: Session,
) -> None:
    session.complete("code/a", a="a\n")
    session.repository.git("switch", "-q", "-c", "elsewhere")
    manual = session.land(how="manual")
    assert manual[2] == f"git switch main && {COMMAND}"
    assert session.land()[0] == "landed"
    assert session.repository.shown("a.txt", "main") == "a"
    assert not (session.root / "a.txt").exists()
    assert session.repository.status == ""


def test_a_conflict_is_told_and_waits_in_the_files_of_its_instance(
    session: Session,
) -> None:
    slow = session.begin("code/b", f="one\nTWO by b\nthree\n")
    session.complete("code/a", f="one\nTWO by a\nthree\n")
    worksite = session.worksite("code/b", slow)
    said = worksite.integrate()
    for part in ("changed the same places", "TWO by a", "TWO by b", RESULT):
        assert part in said
    assert "<<<<<<<" in Path(slow.folder, "f.txt").read_text()
    assert kept_branch(session.place, "code/b") == "loop/s/code+b"
    worksite.catch_up()
    assert "<<<<<<<" in Path(slow.folder, "f.txt").read_text()
    Path(slow.folder, "f.txt").write_text("one\nTWO by both\nthree\n")
    assert worksite.integrate() == ""
    assert session.repository.shown("f.txt", RESULT) == "one\nTWO by both\nthree"


@pytest.mark.parametrize("swept", [True, False])
def test_a_conflict_is_there_again_after_a_restart(
    session: Session, *, swept: bool
) -> None:
    slow = session.begin("code/b", f="one\nTWO by b\nthree\n")
    session.complete("code/a", f="one\nTWO by a\nthree\n")
    session.worksite("code/b", slow).integrate()
    if swept:
        clean_up(session.place, instances=True)
        assert not Path(slow.folder).exists()
    again = session.begin("code/b")
    assert "<<<<<<<" in Path(again.folder, "f.txt").read_text()
    assert session.repository.shown("f.txt", "loop/s/code+b").split()[3] == "b"


def test_work_that_fits_in_text_only_stays_out_of_the_result(session: Session) -> None:
    slow = session.begin("code/b", b="b\n")
    session.complete("code/a", a="a\n")
    check = "! { test -f a.txt && test -f b.txt && echo both are here; }"
    said = session.worksite("code/b", slow, check).integrate()
    assert "both are here" in said
    assert session.subject(RESULT) == "Merge code/a: Do code/a (loop s)"
    assert Path(slow.folder, "a.txt").exists()


def test_an_iteration_begins_with_what_its_siblings_brought(session: Session) -> None:
    slow = session.begin("code/b", b="b\n")
    session.complete("code/a", a="a\n")
    session.worksite("code/b", slow).catch_up()
    assert Path(slow.folder, "a.txt").read_text() == "a\n"


def test_a_result_that_other_instances_work_on_outlives_its_landing(
    session: Session,
) -> None:
    slow = session.begin("code/b", b="b\n")
    session.complete("code/a", a="a\n")
    assert session.land()[0] == "landed"
    assert session.land() == ("nothing", "", "")
    assert session.worksite("code/b", slow).integrate() == ""
    put_away(session.place, "code/b")
    assert session.land()[0] == "landed"
    assert session.branches() == set()
    assert {"a.txt", "b.txt"} < {path.name for path in session.root.iterdir()}


def test_an_invalidated_instance_starts_again_without_its_old_work(
    session: Session,
) -> None:
    session.begin("code/db/a", a="old\n")
    session.complete("code/db/b", b="b\n")
    assert pending_branches(session.place, "code/db") == ["loop/s/code+db+a"]
    assert set_aside(session.place, "code/db/a") == "loop/s/archive/code+db+a-1"
    assert set_aside(session.place, "code/db/a") == ""
    assert set_aside(session.place, "code/db/b") == ""
    again = session.begin("code/db/a")
    assert not Path(again.folder, "a.txt").exists()
    assert Path(again.folder, "b.txt").exists()
    assert pending_branches(session.place, "code/db") == [
        "loop/s/archive/code+db+a-1",
        "loop/s/code+db+a",
    ]
    assert session.repository.shown("a.txt", "loop/s/archive/code+db+a-1") == "old"


def test_tidying_up_after_beads_leaves_instances_alone(session: Session) -> None:
    site = session.begin("code/a", a="a\n")
    bead = session.repository.work("ab-1", b="b\n")
    clean_up(session.place)
    assert Path(site.folder, "a.txt").exists()
    assert not Path(bead.path).exists()
    clean_up(session.place, instances=True)
    assert not Path(site.folder).exists()
    assert session.repository.shown("a.txt", "loop/s/code+a") == "a"


def test_an_unmerged_instance_is_not_put_away_with_its_work(session: Session) -> None:
    session.begin("code/a", a="a\n")
    put_away(session.place, "code/a")
    assert session.repository.shown("a.txt", kept_branch(session.place, "code/a"))


def test_a_bead_still_goes_to_the_users_branch(session: Session) -> None:
    session.complete("code/a", a="a\n")
    bead = session.repository.work("ab-1", b="b\n")
    Merging(session.repository.worktrees, "main").merge_back(bead, passes)
    put_away(session.place, "beads/ab-1")
    assert session.branches() == {RESULT}
    assert session.land("test -f a.txt && test -f b.txt")[0] == "landed"
