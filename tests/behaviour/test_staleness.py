"""Staleness: what is repeated after a change, and above all what is not."""

import os
from typing import Any

import pytest

from tests.support.project import Project

ALL = ["x:1", "x:2", "x:3", "x:4"]


@pytest.fixture
def done(project: Project) -> Project:
    """Return a project whose session `s` has four finished iterations of `x`."""
    project.loop("x", max_iterations=4)
    project.ok("loop:x", "session=s")
    assert project.new_runs() == ALL
    return project


def rerun(project: Project, *words: str) -> list[str]:
    """Run the session again; return the agents that ran."""
    project.ok(*(words or ("loop:x",)), "session=s")
    return project.new_runs()


def chain(project: Project, *names: str, **more: Any) -> None:
    """Declare stages that each rest on the one before, and echo what they get."""
    stages = [{"name": n, "prompt": "${INPUTS}", "runs": 1, **more} for n in names]
    project.pipeline("p", *stages)
    for name in names:
        project.step(name, f"echo {name}; cat")


def test_deleting_doits_memory_repeats_nothing(done: Project) -> None:
    done.forget_doit("s")
    assert rerun(done) == []


def test_a_forgotten_iteration_is_repeated_and_only_that(done: Project) -> None:
    done.ok("forget", "loop:x:0003", "session=s")
    assert rerun(done) == ["x:3"]
    assert rerun(done) == []
    assert done.archived("s") == ["x says 3\n"]


def test_a_different_result_repeats_the_iterations_after_it(done: Project) -> None:
    done.ok("forget", "loop:x:0003", "session=s")
    done.write("steps/x.3", "echo something else\n")
    assert rerun(done) == ["x:3", "x:4"]
    assert done.archived("s") == ["x says 3\n", "x says 4\n"]
    assert rerun(done) == []


def test_iterations_before_a_forgotten_one_stand(done: Project) -> None:
    done.ok("forget", "loop:x:0001", "session=s")
    done.write("steps/x.1", "echo something else\n")
    assert rerun(done) == ALL


def test_several_iterations_can_be_forgotten_at_once(done: Project) -> None:
    done.ok("forget", "loop:x:0004", "loop:x:0002", "session=s")
    assert rerun(done) == ["x:2", "x:4"]


def test_a_forgotten_loop_is_repeated_as_a_whole(done: Project) -> None:
    done.ok("forget", "loop:x", "session=s")
    assert rerun(done) == ALL
    assert len(done.archived("s")) == 4
    assert rerun(done) == []


def test_always_repeats_everything_each_time(done: Project) -> None:
    assert rerun(done, "-a", "loop:x") == ALL
    assert rerun(done, "-a", "loop:x") == ALL
    assert rerun(done) == []
    assert len(done.archived("s", "prompt.md")) == 8


def test_a_cleaned_iteration_is_archived_and_repeated(done: Project) -> None:
    done.ok("clean", "loop:x:0002", "session=s")
    assert done.archived("s") == ["x says 2\n"]
    assert not done.session("s", "x", "iterations", "0002").exists()
    assert rerun(done) == ["x:2"]


def test_a_cleaned_loop_is_archived_and_repeated(done: Project) -> None:
    done.ok("clean", "loop:x", "session=s")
    assert len(done.archived("s")) == 5
    assert not done.session("s", "x").exists()
    assert rerun(done) == ALL


def test_a_dry_clean_changes_nothing(done: Project) -> None:
    before = done.files("s")
    done.ok("clean", "-n", "loop:x", "session=s")
    assert done.files("s") == before
    assert rerun(done) == []


def test_an_iteration_whose_folder_was_deleted_is_repeated(done: Project) -> None:
    done.lose("s", "x", 2)
    assert rerun(done) == ["x:2"]
    assert rerun(done) == []


def test_a_lost_state_file_is_derived_again(done: Project) -> None:
    last = done.session("s", "x", "iterations", "0004", "state.json")
    before = last.read_text()
    last.unlink()
    assert rerun(done) == []
    assert last.read_text() == before


def test_a_lost_output_is_handed_on_again(done: Project) -> None:
    path = done.session("s", "x", "output", "output.md")
    path.unlink()
    done.session("s", "x", "state.json").unlink()
    assert rerun(done) == []
    assert path.read_text() == "x says 4\n"


def test_nothing_is_ever_deleted(done: Project) -> None:
    done.ok("forget", "loop:x:0002", "session=s")
    rerun(done)
    done.ok("clean", "loop:x:0003", "session=s")
    rerun(done)
    rerun(done, "-a", "loop:x")
    done.ok("reset", "session=s")
    made = [e for p in done.path(".loop").rglob("ledger.jsonl") for e in [p]]
    assert len(made) == 1
    stdouts = list(done.path(".loop").rglob("attempts/*/stdout"))
    assert len(stdouts) == 4 + 1 + 1 + 4


def test_an_edited_prompt_repeats_nothing_and_counts_from_the_next_iteration(
    done: Project,
) -> None:
    done.write("loops/x/prompt.md", "Work harder.")
    assert rerun(done) == []
    assert rerun(done, "loop:x", "max=5") == ["x:5"]
    assert done.prompt("s", "x", 4) == "Work."
    assert done.prompt("s", "x", 5) == "Work harder."


def test_an_edited_loop_repeats_nothing_and_counts_from_the_next_iteration(
    done: Project,
) -> None:
    done.loop("x", max_iterations=5, model="other", attempts=1, validate="true")
    assert rerun(done) == ["x:5"]
    assert done.state("s", "x", 4)["model"] == ""
    assert done.state("s", "x", 5)["model"] == "other"
    assert done.state("s", "x", 5)["validation"] is not None


def test_a_loop_restarts_on_its_prompt_if_it_says_so(project: Project) -> None:
    project.loop("x", "One.", max_iterations=2, restart_on=["inputs", "prompt"])
    rerun(project)
    project.loop("x", "Two.", max_iterations=2, restart_on=["inputs", "prompt"])
    assert rerun(project) == ["x:1", "x:2"]
    assert sorted(project.archived("s", "prompt.md")) == ["One.", "One."]
    assert rerun(project) == []


def test_a_loop_restarts_on_its_settings_if_it_says_so(project: Project) -> None:
    project.loop("x", max_iterations=2, restart_on=["config"])
    rerun(project)
    project.loop("x", max_iterations=2, restart_on=["config"], model="m")
    assert rerun(project) == ["x:1", "x:2"]
    project.loop("x", "Other.", max_iterations=2, restart_on=["config"], model="m")
    assert rerun(project) == []


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


def test_a_parent_with_equal_output_leaves_its_children_alone(
    project: Project,
) -> None:
    chain(project, "a", "b", "c")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1", "c:1"]
    project.ok("forget", "stage:a", "session=s")
    assert rerun(project, "pipeline:p") == ["a:1"]
    assert rerun(project, "pipeline:p") == []


def test_a_changed_parent_restarts_exactly_its_descendants(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "${INPUTS}", "runs": 1, "inputs": ["a"]},
        {"name": "other", "prompt": "O", "runs": 1, "inputs": []},
        {"name": "c", "prompt": "${INPUTS}", "runs": 1, "inputs": ["b"]},
        {"name": "d", "prompt": "${INPUTS}", "runs": 1, "inputs": ["other"]},
    )
    for name in "abcd":
        project.step(name, f"echo {name}; cat")
    rerun(project, "pipeline:p")
    project.ok("forget", "stage:a", "session=s")
    project.step("a", "echo new")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1", "c:1"]
    assert rerun(project, "pipeline:p") == []


def test_a_change_ends_where_outputs_are_equal_again(project: Project) -> None:
    chain(project, "a", "b", "c", "d")
    project.step("b", "echo constant")
    rerun(project, "pipeline:p")
    project.ok("forget", "stage:a", "session=s")
    project.step("a", "echo new")
    assert rerun(project, "pipeline:p") == ["a:1", "b:1"]


def test_a_file_read_in_the_middle_restarts_from_there(project: Project) -> None:
    project.write("plan.md", "one")
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "B", "runs": 1, "reads": ["plan.md"]},
        {"name": "c", "prompt": "C", "runs": 1},
    )
    project.step("b", "cat plan.md")
    rerun(project, "pipeline:p")
    project.write("plan.md", "two")
    assert rerun(project, "pipeline:p") == ["b:1", "c:1"]


def test_a_stage_may_ignore_its_inputs(project: Project) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "A", "runs": 1},
        {"name": "b", "prompt": "${INPUTS}", "runs": 1, "restart_on": []},
    )
    rerun(project, "pipeline:p")
    project.ok("forget", "stage:a", "session=s")
    project.step("a", "echo new")
    assert rerun(project, "pipeline:p") == ["a:1"]


def test_another_goal_restarts_the_stages_that_were_told_the_goal(
    project: Project,
) -> None:
    project.pipeline(
        "p",
        {"name": "a", "prompt": "${GOAL}", "runs": 1},
        {"name": "b", "prompt": "B", "runs": 1, "inputs": []},
    )
    assert rerun(project, "pipeline:p", "goal=one") == ["a:1", "b:1"]
    assert rerun(project, "pipeline:p", "goal=one") == []
    assert rerun(project, "pipeline:p", "goal=two") == ["a:1"]


def test_a_failed_stage_restarts_when_its_input_changed(project: Project) -> None:
    project.write("plan.md", "one")
    project.loop("x", max_iterations=2, reads=["plan.md"], validate="false")
    assert project.doit("loop:x", "session=s").code == 1
    assert project.doit("loop:x", "session=s").code == 1
    assert project.new_runs() == ["x:1", "x:2"]
    project.write("plan.md", "two")
    assert project.doit("loop:x", "session=s").code == 1
    assert project.new_runs() == ["x:1", "x:2"]


def test_an_older_session_does_not_disturb_a_new_one(done: Project) -> None:
    done.ok("loop:x", "session=t")
    assert done.new_runs() == ALL
    assert rerun(done) == []
