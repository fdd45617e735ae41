from pathlib import Path

import pytest

from looptasks.core.pipeline import Pipeline
from looptasks.effects import yaml_declarations as declarations
from looptasks.errors import DeclarationError
from tests.support.declared_project import LOOP, planned, refused, write


@pytest.fixture
def root(tmp_path: Path) -> str:
    return planned(tmp_path)


def stages(root: str, text: str) -> Pipeline:
    """Load a pipeline of these stages."""
    write(root, "pipelines/some.yaml", "name: some\nstages:\n" + text)
    return declarations.load(root, "pipeline:some")


def inputs(pipeline: Pipeline) -> dict[str, tuple[str, ...]]:
    return {stage.name: stage.inputs for stage in pipeline.stages}


def test_a_lone_loop_is_a_pipeline_of_one_stage(root: str) -> None:
    pipeline = declarations.load(root, "loop:plan")
    (stage,) = pipeline.stages
    assert (pipeline.entry, stage.name, stage.task) == (
        "loop:plan",
        "plan",
        "loop:plan",
    )
    assert (stage.folder, stage.inputs) == ("loops/plan", ())
    assert stage.loop.prompt == "Plan ${GOAL}."
    assert stage.loop.timeout == 1800.0
    assert stage.loop.reads == ("docs/plan.md",)
    assert stage.loop.output_parse == (("plateau", "PLATEAU"),)


def test_a_stage_wins_over_defaults_and_defaults_over_the_loop(root: str) -> None:
    plan, safe, fast, last = declarations.load(root, "pipeline:all").stages
    assert (plan.loop.model, plan.loop.timeout) == ("middle", 300.0)
    assert (plan.loop.max_iterations, plan.loop.agent) == (10, "claude")
    assert (last.loop.model, safe.loop.max_iterations) == ("large", 1)
    assert fast.loop.max_iterations == 3
    assert (plan.task, plan.folder, safe.folder) == ("stage:plan", "loops/plan", "")


def test_overrides_win_over_everything(root: str) -> None:
    given = {"max_iterations": 5, "agent": "replay", "model": "huge", "budget_usd": 3.0}
    for stage in declarations.load(root, "pipeline:all", overrides=given).stages:
        found = (stage.loop.max_iterations, stage.loop.agent, stage.loop.model)
        assert found == (5, "replay", "huge")
        assert stage.loop.budget_usd == 3.0


def test_an_override_of_none_is_not_given(root: str) -> None:
    plain = declarations.load(root, "loop:plan")
    assert declarations.load(root, "loop:plan", overrides={"model": None}) == plain


def test_one_run_may_stop_before_the_loop_could_complete(root: str) -> None:
    pipeline = declarations.load(root, "loop:plan", overrides={"max_iterations": 1})
    assert pipeline.stages[0].loop.max_iterations == 1


def test_an_override_that_cannot_be_is_refused(root: str) -> None:
    assert "`agent` is `cluade`" in refused(root, "loop:plan", agent="cluade")
    assert "`max_iterations` is `-1`" in refused(root, "loop:plan", max_iterations=-1)
    assert "`max_iterations` is `0`" in refused(root, "pipeline:all", max_iterations=0)


def test_a_stage_works_from_the_ones_before_it(root: str) -> None:
    wired = inputs(declarations.load(root, "pipeline:all"))
    assert wired == {
        "plan": (),
        "safe": ("plan",),
        "fast": ("plan",),
        "last": ("safe", "fast"),
    }


def test_neighbours_marked_parallel_are_a_block(root: str) -> None:
    marked = "".join(
        f"  - {{name: {name}, prompt: x, parallel: {mark}}}\n"
        for name, mark in zip("abcd", ("false", "true", "true", "false"), strict=True)
    )
    wired = inputs(stages(root, marked))
    assert wired == {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}


def test_a_blocks_name_means_all_its_stages(root: str) -> None:
    text = """\
  - {name: both, parallel: [{name: a, prompt: x}, {name: b, prompt: x}]}
  - {name: c, prompt: x, inputs: []}
  - {name: d, prompt: x, inputs: [both, c]}
"""
    assert inputs(stages(root, text))["d"] == ("a", "b", "c")


def test_a_prompt_that_names_a_stage_works_from_it(root: str) -> None:
    text = """\
  - {name: a, prompt: x, artifact: plan}
  - {name: b, prompt: x}
  - {name: c, prompt: "x ${INPUTS.a}"}
"""
    assert inputs(stages(root, text))["c"] == ("b", "a")


def test_a_stage_that_fans_out_works_from_its_entry_and_waits_for_more(
    root: str,
) -> None:
    text = """\
  - {name: a, prompt: x, artifact: plan}
  - {name: b, prompt: x}
  - {name: c, prompt: x, each: a.specs}
  - {name: d, prompt: "x ${INPUTS.b}", each: c}
  - {name: e, prompt: "x", each: a.specs, inputs: [b]}
"""
    found = {stage.name: stage for stage in stages(root, text).stages}
    assert (found["c"].inputs, found["c"].after) == ((), ("b", "a"))
    assert (found["c"].parent, found["c"].field) == ("a", "specs")
    assert (found["d"].inputs, found["d"].after) == (("b",), ("c", "b"))
    assert (found["d"].parent, found["d"].field) == ("c", "")
    assert (found["e"].inputs, found["e"].after) == (("b",), ("b", "a"))


def test_no_stage_stands_before_what_it_works_from(root: str) -> None:
    text = "  - {name: a, prompt: x, inputs: b}\n  - {name: b, prompt: x, inputs: []}\n"
    assert [stage.name for stage in stages(root, text).stages] == ["b", "a"]


def test_a_stages_prompt_may_be_a_file_of_the_project(root: str) -> None:
    write(root, "prompts/a.md", "From the file ${GOAL}")
    text = "  - {name: a, prompt: prompts/a.md}\n  - {name: b, prompt: Write b.md}\n"
    found = [stage.loop.prompt for stage in stages(root, text).stages]
    assert found == ["From the file ${GOAL}", "Write b.md"]


def test_perspectives_end_the_loops_own_limit(root: str) -> None:
    text = "  - {loop: plan, perspectives: [a, b, c]}\n"
    assert stages(root, text).stages[0].loop.max_iterations == 3


def test_the_digest_is_of_what_settings_mean(root: str) -> None:
    before = declarations.load(root, "loop:plan").stages[0].digest
    write(root, "loops/plan/loop.yaml", LOOP.replace("30m", "1800"))
    assert declarations.load(root, "loop:plan").stages[0].digest == before
    write(root, "loops/plan/loop.yaml", LOOP.replace("30m", "31m"))
    assert declarations.load(root, "loop:plan").stages[0].digest != before


def test_the_digest_is_not_of_the_prompt(root: str) -> None:
    before = declarations.load(root, "loop:plan").stages[0].digest
    write(root, "loops/plan/prompt.md", "Another.")
    stage = declarations.load(root, "loop:plan").stages[0]
    assert (stage.digest, stage.loop.prompt) == (before, "Another.")


def test_settings_keep_what_a_loop_does_not_hold(root: str) -> None:
    stages(root, "  - {loop: plan, gate: user}\n")
    found = declarations.settings(root, "pipeline:some")
    assert found["plan"]["gate"] == "user"


def test_all_errors_are_said_at_once(root: str) -> None:
    write(root, "loops/plan/loop.yaml", "name: plan\ncompletion: platau\nmodle: x\n")
    write(root, "loops/plan/prompt.md", "${GAOL}")
    said = refused(root, "loop:plan")
    assert (
        "loops/plan/loop.yaml: `completion` is `platau`, which is no completion rule\n"
        "  fix: did you mean `plateau`? one of `fixed-n`, `plateau`, `beads-empty`, "
        "`all-items`, `validated`\n"
    ) in said
    assert "`modle` is no key" in said
    assert "loops/plan/prompt.md: `${GAOL}`" in said


def test_a_word_like_no_rule_gets_the_list(root: str) -> None:
    write(root, "loops/plan/loop.yaml", "name: plan\ncompletion: zzz\n")
    assert refused(root, "loop:plan") == (
        "loops/plan/loop.yaml: `completion` is `zzz`, which is no completion rule\n"
        "  fix: use one of `fixed-n`, `plateau`, `beads-empty`, `all-items`, "
        "`validated`"
    )


def test_an_unknown_entry_gets_a_suggestion_and_the_list(root: str) -> None:
    assert "did you mean `loop:plan`?" in refused(root, "loop:pln")
    assert "did you mean `pipeline:all`?" in refused(root, "loop:all")
    assert "there is no loop `../plan`" in refused(root, "loop:../plan")
    assert "there is no loop or pipeline `plan`" in refused(root, "plan")
    with pytest.raises(DeclarationError, match="did you mean `plan`"):
        declarations.lint(root, ["pln"])


def test_a_loop_that_needs_a_stage_does_not_run_alone(root: str) -> None:
    write(root, "loops/plan/prompt.md", "Read ${INPUTS.draft}.")
    assert "needs a stage `draft`" in refused(root, "loop:plan")
    text = "  - {name: draft, prompt: x}\n  - loop: plan\n"
    assert inputs(stages(root, text))["plan"] == ("draft",)


def test_a_folder_without_its_file_says_what_is_missing(root: str) -> None:
    write(root, "loops/other/prompt.md", "x")
    said = refused(root, "loop:other")
    assert "loops/other/loop.yaml: there is no such file" in said


def test_listing_reads_no_file(root: str) -> None:
    write(root, "loops/broken/loop.yaml", b"\xff\0")
    write(root, "loops/.hidden/loop.yaml", "name: x")
    write(root, "pipelines/short.yml", ":")
    mine = [a for a in declarations.available(root) if not a.shipped]
    found = [(a.kind, a.name, a.path) for a in mine]
    assert found == [
        ("loop", "broken", "loops/broken/loop.yaml"),
        ("loop", "plan", "loops/plan/loop.yaml"),
        ("pipeline", "all", "pipelines/all.yaml"),
        ("pipeline", "short", "pipelines/short.yml"),
    ]
    said = {a.name: declarations.describe(root, a) for a in mine}
    assert said["plan"] == "Refine a plan until two agree"
    assert "doit lint loop:broken" in said["broken"]


def test_an_empty_folder_has_only_what_is_shipped(tmp_path: Path) -> None:
    assert all(found.shipped for found in declarations.available(str(tmp_path)))
    assert declarations.lint(str(tmp_path)) == []


def test_what_is_shipped_is_sound(tmp_path: Path) -> None:
    for found in declarations.available(str(tmp_path)):
        assert declarations.lint(str(tmp_path), [found.entry]) == []
