"""What the project says of its agents is read whole, or refused with a fix."""

from pathlib import Path

import pytest

from looptasks.core.agent_settings import AgentSettings
from looptasks.core.price import Price
from looptasks.effects.agent_settings import agent_settings, configured_names
from looptasks.errors import DeclarationError


def said(tmp_path: Path, text: str, name: str = "claude") -> AgentSettings:
    (tmp_path / "pyproject.toml").write_text(text)
    return agent_settings(str(tmp_path), name)


def test_a_project_that_says_nothing_gets_the_defaults(tmp_path: Path) -> None:
    assert agent_settings(str(tmp_path), "claude") == AgentSettings()
    assert said(tmp_path, "[project]\nname = 'x'\n") == AgentSettings()


def test_every_setting_is_read(tmp_path: Path) -> None:
    found = said(
        tmp_path,
        """
        [tool.looptasks.agents.claude]
        program = "bin/claude"
        model = "opus"
        args = ["--verbose"]
        env = ["MY_*"]
        variables = {A = "b"}
        sandbox = "bwrap"
        network = false
        budget_usd = 2.5
        [tool.looptasks.prices."gpt-5"]
        input = 1.25
        output = 10
        """,
    )
    assert found == AgentSettings(
        program="bin/claude",
        model="opus",
        args=("--verbose",),
        env=("MY_*",),
        variables={"A": "b"},
        sandbox="bwrap",
        network=False,
        budget_usd=2.5,
        prices={"gpt-5": Price(1.25, 10, 1.25)},
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("modle = 'x'", "did you mean `model`"),
        ("model = 3", "is not a text"),
        ("args = 'x'", "is not a list of texts"),
        ("env = 'all'", "`all` is unknown"),
        ("sandbox = true", "`True` is unknown"),
        ("network = 'no'", "neither true nor false"),
        ("budget_usd = -1", "not an amount of dollars"),
        ("budget_usd = nan", "not an amount of dollars"),
        ("variables = {A = 1}", "not a table of texts"),
        ("command = ''", "is empty"),
        ("command = ", "Invalid value"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        said(tmp_path, f"[tool.looptasks.agents.claude]\n{text}\n")
    assert message in str(caught.value)
    assert "pyproject.toml" in caught.value.where
    assert caught.value.fix


@pytest.mark.parametrize("row", ["input = 1", "input = 'x'\noutput = 1", "in = 1"])
def test_a_price_that_is_none_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(DeclarationError, match="price"):
        said(tmp_path, f'[tool.looptasks.prices."m"]\n{row}\n')


def test_tables_must_be_tables(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="`agents` is not a table"):
        said(tmp_path, "[tool.looptasks]\nagents = 3\n")
    with pytest.raises(DeclarationError, match="`claude` is not a table"):
        said(tmp_path, "[tool.looptasks.agents]\nclaude = 3\n")


def test_agents_of_the_users_own_are_known_by_their_command(tmp_path: Path) -> None:
    said(tmp_path, "[tool.looptasks.agents]\nmine = {command = 'x'}\nclaude = {}\n")
    assert configured_names(str(tmp_path)) == ("mine",)
