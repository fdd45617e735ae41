"""Codex's retries are cut down for the provider that its user chose, and no other."""

from pathlib import Path

import pytest

from looptasks.core.agent_settings import AgentSettings
from looptasks.effects.codex_provider import limited

LIMITS = ("request_max_retries=2", "stream_max_retries=2")
OPENAI = 'name="OpenAI",requires_openai_auth=true,wire_api="responses"'
TWICE = ",".join(LIMITS)
MINE = 'model_provider = "mine"\n[model_providers.mine]\nname = "Mine"\n'
CUT_MINE = [f"model_providers.mine.{limit}" for limit in LIMITS]


def found(home: Path, config: str = "", **settings: object) -> list[str]:
    (home / "config.toml").write_text(config)
    made = AgentSettings(variables={"CODEX_HOME": str(home)})
    return limited(made._replace(**settings), LIMITS)  # type: ignore[arg-type]


def test_without_a_choice_the_default_is_described_again(tmp_path: Path) -> None:
    assert found(tmp_path, 'model = "gpt-5"\n') == [
        f"model_providers.looptasks={{{OPENAI},{TWICE}}}",
        "model_provider=looptasks",
    ]


def test_the_default_keeps_the_address_that_its_user_gave_it(tmp_path: Path) -> None:
    described, _ = found(tmp_path, 'openai_base_url = "http://there/v1"\n')
    assert described == (
        f'model_providers.looptasks={{{OPENAI},base_url="http://there/v1",{TWICE}}}'
    )


def test_a_provider_of_the_users_own_is_changed(tmp_path: Path) -> None:
    assert found(tmp_path, MINE) == CUT_MINE
    assert found(tmp_path, "", provider="mine") == CUT_MINE


@pytest.mark.parametrize(
    "config",
    ['model_provider = "ollama"\n', 'profile = "work"\n', f'profile="a"\n{MINE}'],
)
def test_what_cannot_be_changed_is_left_alone(tmp_path: Path, config: str) -> None:
    assert found(tmp_path, config) == []


@pytest.mark.parametrize(
    "args",
    [
        *(("--oss",), ("-p", "work"), ("--profile=work",)),
        *(("-c", "model_provider=mine"), ("-c", "openai_base_url=http://there")),
        ("-c", 'model_providers.mine={name="x"}'),
    ],
)
def test_a_choice_by_arguments_is_left_alone(
    tmp_path: Path, args: tuple[str, ...]
) -> None:
    assert found(tmp_path, MINE, args=args) == []


@pytest.mark.parametrize("config", ["model_provider = [", "\x00"])
def test_a_broken_configuration_is_for_codex_to_tell(
    tmp_path: Path, config: str
) -> None:
    assert found(tmp_path, config)[-1] == "model_provider=looptasks"


def test_a_built_in_provider_that_is_named_is_used_as_it_is(tmp_path: Path) -> None:
    assert found(tmp_path, provider="openai") == []
