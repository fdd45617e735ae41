"""Staleness of a loop's own work: what is repeated, and above all what is not."""

import pytest

from tests.support.project import Project, rerun

ALL = ["x:1", "x:2", "x:3", "x:4"]


@pytest.fixture
def done(project: Project) -> Project:
    """Return a project whose session `s` has four finished iterations of `x`."""
    project.loop("x", max_iterations=4)
    project.ok("loop:x", "session=s")
    assert project.new_runs() == ALL
    return project


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


def test_an_older_session_does_not_disturb_a_new_one(done: Project) -> None:
    done.ok("loop:x", "session=t")
    assert done.new_runs() == ALL
    assert rerun(done) == []
