"""Every code of lint: a project that has it, and the same project without."""

from pathlib import Path
from typing import NamedTuple

import pytest

from looptasks.core.finding import CODES, WARNINGS
from looptasks.core.layout import cycle, in_order
from looptasks.effects.yaml_declarations import lint

LOOP = "loops/tidy/loop.yaml"
PROMPT = "loops/tidy/prompt.md"
PIPELINE = "pipelines/all.yaml"


class Case(NamedTuple):
    """A project with one fault, and the words by which a person finds it."""

    code: str
    words: str
    files: dict[str, str]


def loop(code: str, words: str, text: str, prompt: str = "Tidy up.") -> Case:
    """Return the case of a faulty loop."""
    return Case(code, words, {LOOP: text, PROMPT: prompt})


def settings(code: str, words: str, text: str) -> Case:
    """Return the case of a loop whose name is right and something else is not."""
    return loop(code, words, f"name: tidy\n{text}\n")


def schema(code: str, words: str, text: str) -> Case:
    """Return the case of a loop whose artifact has a faulty schema."""
    files = {LOOP: "name: tidy\nartifact: menu\n", PROMPT: "Tidy up."}
    return Case(code, words, files | {"schemas/menu.schema.json": text})


def pipeline(code: str, words: str, text: str) -> Case:
    """Return the case of a faulty pipeline beside a good loop."""
    good = {LOOP: "name: tidy\n", PROMPT: "Tidy up."}
    return Case(code, words, good | {PIPELINE: text})


def stages(code: str, words: str, text: str) -> Case:
    """Return the case of a pipeline whose stages are faulty."""
    return pipeline(code, words, f"name: all\nstages:\n{text}\n")


PLATEAU = 'completion: plateau\nmin_iterations: 2\noutput_parse: "plateau:PLATEAU"\n'
CASES = (
    Case("L001", "there is no such file", {PROMPT: "Tidy up."}),
    loop("L001", "larger than 1 MiB", "name: tidy # " + "x" * (1 << 20)),
    loop("L001", "NUL", "name: tidy\0"),
    loop("L002", f"{LOOP}:2:2", "name: [tidy\nx: y\n"),
    loop(
        "L002", f"{LOOP}:2:1: the key `name` stands twice", "name: tidy\nname: tidy\n"
    ),
    loop("L002", "the tag `!secret`", "name: !secret tidy\n"),
    loop("L002", "the key `5` is no text", "name: tidy\n5: x\n"),
    loop("L002", "a second document", "name: tidy\n---\nname: tidy\n"),
    loop("L003", "the file is empty", "# nothing\n"),
    loop("L003", "not a mapping", "- tidy\n"),
    settings("L004", "did you mean `consensus`?", "comsensus: 2"),
    settings("L005", "`timeout` is `soon`, but must be a duration", "timeout: soon"),
    settings("L005", "`consensus: 2`", "consensus: two"),
    settings("L005", "did you mean `wait`?", "on_limit: wiat"),
    settings("L005", "`true` or `false`", "check_before: yes"),
    settings("L005", "`agent` is `{", "agent: {command: x, replay: y}"),
    loop("L006", "`name` is missing", "model: opus\n"),
    Case("L007", "cannot be a name", {"loops/a b/loop.yaml": "name: a b\n"}),
    Case(
        "L007", "is a file of every session", {"loops/Beads/loop.yaml": "name: Beads"}
    ),
    Case("L007", "form of an iteration", {"loops/0001/loop.yaml": 'name: "0001"'}),
    loop("L008", "the folder is called `tidy`", "name: clean\n"),
    Case("L009", "there is no such prompt", {LOOP: "name: tidy\n"}),
    loop("L009", "the prompt is empty", "name: tidy\n", prompt=" \n"),
    settings("L010", "did you mean `plateau`? one of `fixed-n`", "completion: platau"),
    settings("L011", "did you mean `claude`?", "agent: cluade"),
    loop("L012", "did you mean `${GOAL}`?", "name: tidy\n", prompt="Do ${GAOL}."),
    settings("L013", "`output_parse`", "completion: plateau\nmin_iterations: 2"),
    settings("L013", "`plateau`", PLATEAU.replace("plateau:P", "done:P")),
    settings("L014", "`min_iterations` is `1`", PLATEAU.replace("s: 2", "s: 1")),
    settings("L015", "`validate`", "completion: validated"),
    settings("L016", "`items`", "completion: all-items"),
    settings("L017", "`max_iterations` is `0`", "max_iterations: 0"),
    settings("L018", "`min_iterations`", "min_iterations: 3\nmax_iterations: 2"),
    settings("L019", "`consensus`", PLATEAU + "consensus: 3\nmax_iterations: 2"),
    settings("L020", "`plateau:` is not", 'output_parse: "plateau:"'),
    settings("L020", "names its field again", 'output_parse: "a:A a:B"'),
    settings("L021", "`reads[1]` is `../x`", "reads: [a, ../x]"),
    settings("L021", "`writes[0]` is `/etc/x`", "writes: /etc/x"),
    settings("L021", "`agent.replay` is `~/x`", "agent: {replay: ~/x}"),
    settings("L021", "`prompt` is `../prompt.md`", "prompt: ../prompt.md"),
    settings("L022", "no time at all", "timeout: 0s"),
    settings("L022", "more than a year", "delay: 900d"),
    settings(
        "L023",
        "3 `items`",
        "completion: all-items\nitems: [a, b, c]\nmax_iterations: 2",
    ),
    settings("L024", "2 `perspectives`", "perspectives: [a, b]\nmax_iterations: 1"),
    loop(
        "L034",
        "has no effect",
        "name: tidy\ngate: user\nisolation: worktree\neach: beads\n",
    ),
    loop("L025", "needs a stage `plan`", "name: tidy\n", prompt="Do ${INPUTS.plan}."),
    settings("L026", "a pattern, not a file", "writes: docs/*.md"),
    settings("L009", "loops/tidy/judge.md", "judge: judge.md"),
    settings("L021", "`judge` is `../x.md`", "judge: ../x.md"),
    settings("L027", "did you mean `plan`?", "artifact: paln"),
    schema("L028", "is not JSON", "{"),
    schema("L028", "not an object", "[]"),
    schema("L028", "`type`", '{"type": "objekt"}'),
    schema("L028", "nothing is fetched", '{"$ref": "http://localhost:9/x.json"}'),
    schema("L028", "nothing is fetched", '{"items": {"$ref": "#/$defs/none"}}'),
    settings("L029", "there is no `artifact`", "entries: [1, 2]"),
    settings("L029", "`phase` has no list", "artifact: phase\nentries: [1, 2]"),
    settings("L030", "`entries: [3, 7]`", "artifact: spec\nentries: [7, 3]"),
    settings("L031", "called `a`", "passes: [a, b, {name: a}]"),
    settings("L032", "leave `completion` out", PLATEAU + "passes: [a, b]"),
    settings("L033", "3 `passes`", "passes: [a, b, c]\nmax_iterations: 2"),
    pipeline("P001", "NUL", "name: all\0"),
    pipeline(
        "P002",
        f"{PIPELINE}:2:1: not YAML: while scanning a quoted scalar in line 1",
        "name: 'all\n",
    ),
    pipeline("P003", "not a mapping", "all\n"),
    stages("P004", "`stages[0].completoin`", "- {loop: tidy, completoin: fixed-n}"),
    pipeline(
        "P004", "`stage` is no key", "name: all\nstages: [loop: tidy]\nstage: 1\n"
    ),
    pipeline(
        "P004",
        "`defaults.nmae`",
        "name: all\ndefaults: {nmae: 1}\nstages: [loop: tidy]",
    ),
    stages("P004", "of a parallel block", "- {parallel: [loop: tidy], runs: 2}"),
    stages("P005", "`stages[0].runs` is `many`", "- {loop: tidy, runs: many}"),
    stages(
        "P005", "`stages[0].parallel[0].runs`", "- parallel: [{loop: tidy, runs: x}]"
    ),
    stages("P005", "`stages[1]` is `tidy`", "- loop: tidy\n- tidy"),
    stages("P005", "`stages[0].prompt`", "- {name: a, prompt: ' '}"),
    pipeline("P006", "`name` is missing", "stages: [loop: tidy]\n"),
    stages("P006", "`stages[0]` has no `name`", "- prompt: Do it."),
    stages("P007", "`stages[0].name` is `run.lock`", "- {loop: tidy, name: run.lock}"),
    stages("P007", "`stages[0].name` is `a/b`", "- {loop: tidy, name: a/b}"),
    stages("P007", "cannot be a name", "- {name: a b, parallel: [loop: tidy]}"),
    pipeline("P008", "the file is called `all`", "name: any\nstages: [loop: tidy]\n"),
    pipeline("P009", "`stages` has no stage", "name: all\nstages: []\n"),
    pipeline("P009", "`stages` is missing", "name: all\n"),
    stages("P009", "`stages[0].parallel` has no stage", "- parallel: []"),
    stages("P010", "neither `loop` nor `prompt`", "- name: a"),
    stages("P010", "`loop` and `prompt`", "- {loop: tidy, prompt: Do it.}"),
    stages("P011", "`stages[1]` is called `tidy`", "- loop: tidy\n- loop: tidy"),
    stages(
        "P011",
        "`stages[1]` is called `Tidy`",
        "- loop: tidy\n- {loop: tidy, name: Tidy}",
    ),
    stages("P012", "did you mean `tidy`?", "- loop: tidi"),
    stages(
        "P013",
        "did you mean `tidy`?",
        "- loop: tidy\n- {name: b, prompt: x, inputs: tidi}",
    ),
    stages(
        "P014", "`pln`, which is no stage", "- {name: plan, prompt: 'x ${INPUTS.pln}'}"
    ),
    stages(
        "P014",
        "not among its `inputs`",
        "- loop: tidy\n- {name: b, prompt: 'x ${INPUTS.tidy}', inputs: []}",
    ),
    stages("P015", "stage `a` uses", "- {name: a, prompt: 'Read ${INPUTS}.'}"),
    stages(
        "P016",
        "→",
        "- {name: a, prompt: x, inputs: b}\n- {name: b, prompt: x, inputs: [a]}",
    ),
    stages("P016", "`a` → `a`", "- {name: a, prompt: x, inputs: a}"),
    stages("P017", "keep one", "- {loop: tidy, runs: 2, max_iterations: 3}"),
    stages("P018", "`plan`, which is no stage", "- {loop: tidy, each: plan.tasks}"),
    stages(
        "P021",
        "`a` has none",
        "- {name: a, loop: tidy}\n- {name: b, loop: tidy, each: a.tasks}",
    ),
    stages(
        "P020",
        "`b` has `each: beads`, and so has `a`",
        "- {name: a, prompt: x, each: beads}\n- {name: b, prompt: x, each: beads}",
    ),
    stages("P019", "there is no such file", "- {name: a, prompt: prompts/a.md}"),
)


def project(root: Path, files: dict[str, str]) -> str:
    """Write a project's files."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


@pytest.mark.parametrize("case", CASES, ids=[f"{c.code}-{c.words}" for c in CASES])
def test_each_fault_is_found_under_its_code(case: Case, tmp_path: Path) -> None:
    findings = lint(project(tmp_path, case.files))
    found = [f for f in findings if f.code == case.code]
    assert len(found) == 1, findings
    assert case.words in str(found[0])
    assert "\n  fix: " in str(found[0])
    assert (found[0].severity == "warning") == (case.code in WARNINGS)


@pytest.mark.parametrize("case", CASES, ids=[f"{c.code}-{c.words}" for c in CASES])
def test_a_fault_is_not_reported_as_another(case: Case, tmp_path: Path) -> None:
    codes = {f.code for f in lint(project(tmp_path, case.files))}
    # Names that cannot be need no prompt to be refused.
    assert codes <= {case.code, "L009" if case.code == "L007" else ""}


def test_every_code_has_a_case() -> None:
    assert {case.code for case in CASES} == set(CODES)


def test_warnings_are_codes() -> None:
    assert set(CODES) >= WARNINGS


def test_a_good_project_has_no_findings(tmp_path: Path) -> None:
    text = "name: all\nstages:\n- loop: tidy\n- {name: b, prompt: 'Read ${INPUTS}.'}\n"
    files = {LOOP: f"name: tidy\n{PLATEAU}", PROMPT: "Tidy.", PIPELINE: text}
    assert lint(project(tmp_path, files)) == []


def test_words_of_later_versions_are_valid_declarations(tmp_path: Path) -> None:
    text = "name: tidy\ncompletion: beads-empty\neach: beads\n"
    more = "artifact: plan\nisolation: worktree\nagent: opencode\n"
    assert lint(project(tmp_path, {LOOP: text + more, PROMPT: "Tidy."})) == []


@pytest.mark.parametrize("layer", ["artifact: plan", "judge: judge.md", "passes: [a]"])
def test_any_layer_can_validate(tmp_path: Path, layer: str) -> None:
    text = f"name: tidy\ncompletion: validated\n{layer}\n"
    judge = {"loops/tidy/judge.md": "Is it good?"}
    assert lint(project(tmp_path, {LOOP: text, PROMPT: "Tidy.", **judge})) == []


def test_the_variables_of_a_judges_prompt_are_checked(tmp_path: Path) -> None:
    judge = {"loops/tidy/judge.md": "${ARTIFACT} ${PASS.prompt} ${PASS.name} ${GAOL}"}
    text = "name: tidy\njudge: {prompt: judge.md, agent: cluade}\n"
    found = lint(project(tmp_path, {LOOP: text, PROMPT: "Tidy.", **judge}))
    assert sorted(f.code for f in found) == ["L011", "L012", "L012"]


def test_a_pipelines_judge_is_a_file_of_the_project_or_a_text(tmp_path: Path) -> None:
    stages = (
        "- {name: a, prompt: x, judge: judges/a.md}\n"
        "- {name: b, prompt: x, judge: 'Is ${INPUTS.a} good?'}\n"
        "- {name: c, prompt: x, judge: judges/none.md}\n"
        "- {name: d, prompt: x, judge: 'Is ${INPUTS.nobody} good?'}\n"
    )
    files = {PIPELINE: f"name: all\nstages:\n{stages}", "judges/a.md": "Is it ${GAOL}?"}
    found = lint(project(tmp_path, files))
    assert sorted(f.code for f in found) == ["L012", "P014", "P019"]


@pytest.mark.parametrize("name", ["menu.schema.json", "menu.json", "plan.schema.json"])
def test_a_schema_of_the_projects_own_is_found(tmp_path: Path, name: str) -> None:
    artifact = name.partition(".")[0]
    text = f"name: tidy\nartifact: {artifact}\n"
    files = {LOOP: text, PROMPT: "Tidy.", f"schemas/{name}": '{"type": "object"}'}
    assert lint(project(tmp_path, files)) == []
    (tmp_path / "schemas" / name).write_text('{"type": 5}')
    assert [f.code for f in lint(str(tmp_path))] == ["L028"]


def test_a_refused_value_is_not_also_called_missing(tmp_path: Path) -> None:
    text = "name: tidy\ncompletion: validated\nvalidate: 5\n"
    findings = lint(project(tmp_path, {LOOP: text, PROMPT: "Tidy."}))
    assert [f.code for f in findings] == ["L005"]


def test_what_a_loop_lacks_a_stage_may_bring(tmp_path: Path) -> None:
    stage = "name: all\nstages: [{loop: tidy, validate: pytest}]\n"
    files = {LOOP: "name: tidy\ncompletion: validated\n", PROMPT: "Tidy."}
    root = project(tmp_path, files | {PIPELINE: stage})
    assert lint(root, ["all"]) == []
    assert [f.code for f in lint(root, ["tidy"])] == ["L015"]


def test_a_loops_own_fault_is_said_of_its_file(tmp_path: Path) -> None:
    files = {LOOP: "name: tidy\ncompletion: validated\n", PROMPT: "Tidy."}
    root = project(tmp_path, files | {PIPELINE: "name: all\nstages: [loop: tidy]\n"})
    assert [f.where for f in lint(root)] == [LOOP]


def test_stages_stay_as_declared_unless_they_need_a_later_one() -> None:
    assert in_order({"b": (), "a": ("b",), "c": ()}) == ("b", "a", "c")
    assert in_order({"a": ("c",), "b": (), "c": ()}) == ("b", "c", "a")
    assert cycle({"a": ("c",), "b": (), "c": ()}) == ()
