"""Files in `reads`: whose change makes a stage stale, and whose does not."""

import os

import pytest

from tests.support.project import Project, rerun


def test_an_edited_file_restarts_the_stage_that_reads_it(project: Project) -> None:
    project.write("plan.md", "one")
    project.loop("x", max_iterations=2, reads=["plan.md"])
    rerun(project)
    project.write("plan.md", "two")
    ran = project.ok("loop:x", "session=s")
    assert project.new_runs() == ["x:1", "x:2"]
    assert "file `plan.md` changed" in ran.out
    assert len(project.archived("s", "prompt.md")) == 2
    assert rerun(project) == []


@pytest.mark.parametrize("reads", ["docs/*.md", "docs", "docs/**/*.md"])
def test_files_that_come_and_go_restart_the_stage(project: Project, reads: str) -> None:
    project.write("docs/a.md", "a")
    project.loop("x", max_iterations=1, reads=[reads])
    rerun(project)
    project.write("docs/b.md", "b")
    assert rerun(project) == ["x:1"], "a file appeared"
    assert rerun(project) == []
    project.path("docs/a.md").unlink()
    assert rerun(project) == ["x:1"], "a file is gone"
    assert rerun(project) == []


def test_a_read_file_that_appears_restarts_the_stage(project: Project) -> None:
    project.loop("x", max_iterations=1, reads=["later.md"])
    rerun(project)
    assert rerun(project) == []
    project.write("later.md", "now")
    assert rerun(project) == ["x:1"]
    project.path("later.md").unlink()
    assert rerun(project) == ["x:1"]


def test_naming_more_files_to_read_repeats_nothing(project: Project) -> None:
    project.write("a.md", "a")
    project.write("b.md", "b")
    project.loop("x", max_iterations=1, reads=["a.md"])
    rerun(project)
    project.loop("x", max_iterations=1, reads=["a.md", "b.md"])
    assert rerun(project) == []


def test_a_touched_or_rewritten_file_is_not_a_changed_one(project: Project) -> None:
    path = project.write("plan.md", "one")
    project.loop("x", max_iterations=2, reads=["plan.md"])
    rerun(project)
    os.utime(path, (1, 1))
    assert rerun(project) == []
    path.unlink()
    project.write("plan.md", "one")
    assert rerun(project) == []


def test_a_change_that_keeps_size_and_time_is_seen(project: Project) -> None:
    path = project.write("plan.md", "one")
    project.loop("x", max_iterations=1, reads=["plan.md"])
    rerun(project)
    stat = path.stat()
    path.write_text("two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert rerun(project) == ["x:1"]


def test_what_the_loop_changed_itself_is_not_stale(project: Project) -> None:
    project.write("plan.md", "0\n")
    project.loop("x", max_iterations=3, reads=["plan.md"], writes=["plan.md"])
    project.step("x", "echo $LOOP_ITERATION >> plan.md")
    assert rerun(project) == ["x:1", "x:2", "x:3"]
    assert rerun(project) == []
    project.forget_doit("s")
    assert rerun(project) == []
    assert project.read("plan.md") == "0\n1\n2\n3\n"
    project.write("plan.md", "mine\n")
    assert rerun(project) == ["x:1", "x:2", "x:3"]


def test_a_file_undone_by_hand_is_compared_with_how_the_stage_left_it(
    project: Project,
) -> None:
    project.write("plan.md", "0\n")
    project.loop("x", max_iterations=1, reads=["plan.md"])
    project.step("x", "echo more >> plan.md")
    rerun(project)
    project.write("plan.md", "0\n")
    assert rerun(project) == ["x:1"]


def test_what_a_later_stage_changed_is_not_stale(project: Project) -> None:
    project.write("plan.md", "0\n")
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1, "reads": ["plan.md"]},
        {"name": "b", "prompt": "B", "runs": 1, "reads": ["plan.md"]},
    )
    project.step("b", "echo b >> plan.md")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]
    assert rerun(project, "pipeline:p") == []


def test_what_another_entry_of_the_session_changed_is_not_stale(
    project: Project,
) -> None:
    project.write("plan.md", "0\n")
    project.loop("x", max_iterations=1, reads=["plan.md"], writes=["plan.md"])
    project.loop("y", max_iterations=1, reads=["plan.md"], writes=["plan.md"])
    project.step("y", "echo y >> plan.md")
    assert rerun(project, "loop:x") == ["x:1"]
    assert rerun(project, "loop:y") == ["y:1"]
    assert rerun(project, "loop:x", "loop:y") == []


def side_by_side(project: Project) -> None:
    """Declare two stages that read one file and do not rest on each other."""
    both = {"runs": 1, "inputs": [], "reads": ["plan.md"]}
    project.write("plan.md", "one\n")
    project.pipeline(
        "p", {"name": "a", "prompt": "A", **both}, {"name": "b", "prompt": "B", **both}
    )


def test_a_file_edited_by_hand_restarts_every_stage_that_reads_it(
    project: Project,
) -> None:
    side_by_side(project)
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]
    project.write("plan.md", "two\n")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]
    assert rerun(project, "pipeline:p") == []


def test_an_edit_that_a_neighbour_built_on_is_still_an_edit(project: Project) -> None:
    side_by_side(project)
    project.step("b", "echo b >> plan.md")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]
    assert rerun(project, "pipeline:p") == []
    project.write("plan.md", "two\n")
    assert rerun(project, "stage:b") == ["b:1"]
    assert rerun(project, "pipeline:p") == ["a:1"]
    assert rerun(project, "pipeline:p") == []


def test_a_file_that_a_later_stage_makes_or_removes_is_not_stale(
    project: Project,
) -> None:
    project.write("docs/old.md", "old")
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1, "reads": ["docs/*.md"]},
        {
            "name": "b",
            "prompt": "B",
            "runs": 1,
            "writes": ["docs/new.md"],
            "reads": ["docs/old.md"],
        },
    )
    project.step("b", "rm docs/old.md; echo new > docs/new.md")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]
    assert rerun(project, "pipeline:p") == []


def test_a_check_alone_is_stale_when_what_it_saw_changed(project: Project) -> None:
    project.write("plan.md", "good")
    project.loop(
        "x",
        completion="validated",
        validate="grep -q good plan.md",
        check_before=True,
        reads=["plan.md"],
    )
    project.step("x", "echo good > plan.md")
    assert rerun(project) == []
    project.write("plan.md", "bad")
    assert rerun(project) == ["x:1"]
    assert rerun(project) == []
