"""The README says what is true: its examples are run, its tables are compared."""

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from doit.doit_cmd import DoitMain

from looptasks.core.agent_settings import AgentSettings
from looptasks.core.pipeline import DEFAULTS
from looptasks.core.prompt import KNOWN, WITH_PARTS, is_known
from looptasks.core.request import VARIABLES, request_from
from looptasks.effects.declaration_files import available
from looptasks.plugin.ending import INTERRUPTED, WAITING
from tests.support.declared_project import schema
from tests.support.doit_process import REPOSITORY, environment, write_distribution
from tests.support.project import Project
from tests.support.readme import Readme, missing_lines

RULE_AGENT = "#!/bin/sh\ntest $LOOP_ITERATION -lt 3 && echo $LOOP_ITERATION || echo 3\n"


@pytest.fixture(scope="module")
def readme() -> Readme:
    """Return the README of this repository."""
    return Readme(REPOSITORY / "README.md")


def test_the_tour_does_and_prints_what_it_says(readme: Readme, tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    shutil.rmtree(project.root)
    project.root.mkdir()
    printed = ""
    ran = 0
    for block in readme.blocks:
        if block.kind == "run":
            done = project.shell(f"set -e\n{block.text}")
            assert done.code == block.exit_code, (block.text, done)
            printed = done.out
            ran += 1
        elif block.kind == "output":
            assert missing_lines(block.text, printed) == [], printed
    assert ran > 5
    assert project.read("POEM.TXT").startswith("LINE 1\n")


def test_both_ways_to_start_install_it_first(readme: Readme) -> None:
    for name in ("demo", "test"):
        first = readme.block(name).splitlines()[0]
        assert first.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert readme.block("test").count("\n") == 1


def test_the_first_command_makes_a_program_whose_tests_pass(
    readme: Readme, tmp_path: Path
) -> None:
    project = Project(tmp_path / "empty")
    shutil.rmtree(project.root)
    project.root.mkdir()
    _, _, rest = readme.block("demo").partition("\n")
    assert "\ndoit loop:work session=demo\n" in rest
    done = project.shell(f"set -e\n{rest}")
    assert done.code == 0, done
    assert missing_lines(readme.block("demo", "output"), done.out) == [], done.out
    assert done.err.splitlines()[-1] == "OK"


def test_ci_runs_the_commands_of_the_readme_word_for_word(readme: Readme) -> None:
    script = (REPOSITORY / ".ci" / "run").read_text()
    start, end = script.index("readme() {"), script.index("\n}\n")
    function = script[start : end + 3]
    for name in ("demo", "test"):
        done = subprocess.run(
            ["bash", "-c", f"{function}\nreadme {name}"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == readme.block(name)
        assert f'"$(readme {name})"' in script


def test_the_completion_rule_can_be_installed_and_used(
    readme: Readme, project: Project, tmp_path: Path
) -> None:
    env = environment(tmp_path / "environment", registered=True)
    points = tomllib.loads(readme.block("rule", "entry", "point"))
    package = tmp_path / "environment"
    write_distribution(package, "my_rules", points["project"]["entry-points"])
    (package / "my_rules.py").write_text(readme.block("rule"))
    project.loop("echo", completion="steady", agent={"command": "./three.sh"})
    project.write("three.sh", RULE_AGENT).chmod(0o755)
    ran = project.ok("loop:echo", env=env)
    assert "4 iterations" in ran.last
    assert "two answers in a row are the same" in ran.last


def test_what_is_shipped_is_all_in_the_table(readme: Readme) -> None:
    found = [entry.entry for entry in available(str(REPOSITORY))]
    assert sorted(readme.words("<!-- shipped -->")) == sorted(found)


def test_the_keys_of_a_loop_are_all_in_the_table(readme: Readme) -> None:
    keys = readme.words("<!-- loop keys -->")
    assert len(keys) == len(set(keys))
    assert set(keys) == set(schema("loop")["properties"])


def test_the_defaults_in_the_table_are_the_real_ones(readme: Readme) -> None:
    for row in readme.table("<!-- loop keys -->"):
        key, said = row[0].strip("`"), row[1].strip("`")
        if key in DEFAULTS:
            assert said in _spoken(DEFAULTS[key]), key


def _spoken(value: Any) -> set[str]:
    if value is None:
        return {"", "none"}
    if isinstance(value, tuple):
        return {f"[{', '.join(value)}]" if value else ""}
    return {str(value).lower()}


def test_the_keys_of_a_pipeline_are_all_in_the_table(readme: Readme) -> None:
    declared = schema("pipeline")
    loop = set(schema("loop")["properties"]) - {"name", "prompt"}
    stage = set(declared["$defs"]["placed"]["properties"]) - loop
    wanted = {*declared["properties"], *(f"stages[].{key}" for key in stage)}
    assert set(readme.words("### pipelines/NAME.yaml")) == wanted


def test_the_settings_of_an_agent_are_all_in_the_table(readme: Readme) -> None:
    cells = [row[0] for row in readme.table("### Agents in pyproject.toml")]
    keys = [key.strip(" `") for cell in cells for key in cell.split(",")]
    assert sorted(keys) == sorted(set(AgentSettings._fields) - {"prices"})


def test_the_variables_of_a_prompt_are_all_in_the_table(readme: Readme) -> None:
    named = {word.strip("${}") for word in readme.words("### Prompt variables")}
    assert {name for name in named if "." not in name} == set(KNOWN)
    assert {name for name in named if not is_known(name)} == set()
    assert {name.partition(".")[0] for name in named if "." in name} <= set(WITH_PARTS)


def test_the_variables_of_a_command_line_are_all_in_the_table(readme: Readme) -> None:
    assert readme.words("### Variables") == list(VARIABLES)


def test_each_variable_in_the_environment_stands_for_its_own(readme: Readme) -> None:
    for variable, word, *_ in readme.table("### Variables"):
        if word:
            fields = request_from({}, {word.strip("`"): "7"})._asdict()
            given = [name for name, value in fields.items() if value]
            assert given == [variable.strip("`")]


def test_the_commands_that_doit_does_not_have_are_all_in_the_table(
    readme: Readme,
) -> None:
    text = (REPOSITORY / "pyproject.toml").read_text()
    ours = tomllib.loads(text)["project"]["entry-points"]["doit.COMMAND"]
    table = {
        word.removeprefix("doit ").split()[0] for word in readme.words("### Commands")
    }
    theirs = {command.get_name() for command in DoitMain.DOIT_CMDS}
    assert set(ours) - theirs <= table


def test_the_exit_codes_are_the_real_ones(readme: Readme) -> None:
    codes = [row[0] for row in readme.table("### Exit codes")]
    assert codes == ["0", "1", "2", "3", str(WAITING), str(INTERRUPTED)]


def test_a_promised_line_may_leave_out_but_not_change_order() -> None:
    assert missing_lines("a … c\nd", "x\na b c\nd\n") == []
    assert missing_lines("d\na … c", "x\na b c\nd\n") == ["a … c"]
