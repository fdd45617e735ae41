"""A codex provider: the service that its models come from, as its user chose it."""

import json
import os
from collections.abc import Sequence
from typing import Any

from looptasks.core import json_value as of
from looptasks.core.agent_settings import AgentSettings

_OWN = "looptasks"
_BUILT_IN = ("openai", "ollama", "lmstudio", "amazon-bedrock")
_CHOOSING = ("--oss", "--local-provider", "-p", "--profile")
_CHOICES = ("model_provider", "openai_base_url", "profile")


def limited(settings: AgentSettings, limits: Sequence[str]) -> list[str]:
    """Return the configuration by which the chosen provider keeps to the limits.

    Built-in ones cannot be changed. In place of the one that is used when nobody
    chooses, the same service is described again; any other choice is left alone.
    """
    if settings.provider:
        return _changed(settings.provider, limits)
    config = _config(settings)
    if "profile" in config or any(map(_chooses, settings.args)):
        return []
    name = of.text(config, "model_provider")
    if not name:
        return _like_openai(of.text(config, "openai_base_url"), limits)
    return _changed(name, limits) if name in of.table(config, "model_providers") else []


def _changed(name: str, limits: Sequence[str]) -> list[str]:
    if name in _BUILT_IN:
        return []
    return [f"model_providers.{name}.{limit}" for limit in limits]


def _like_openai(url: str, limits: Sequence[str]) -> list[str]:
    # By this name, and with its login, codex takes it for the built-in one.
    facts = ['name="OpenAI"', "requires_openai_auth=true", 'wire_api="responses"']
    facts += [f"base_url={json.dumps(url)}"] if url else []
    described = ",".join((*facts, *limits))
    return [f"model_providers.{_OWN}={{{described}}}", f"model_provider={_OWN}"]


def _chooses(arg: str) -> bool:
    return arg.partition("=")[0] in _CHOOSING or arg.startswith(_CHOICES)


def _config(settings: AgentSettings) -> dict[str, Any]:
    """Return codex's own configuration; what cannot be read it will tell itself."""
    env = {**os.environ, **settings.variables}
    home = env.get("CODEX_HOME") or os.path.join(env.get("HOME", ""), ".codex")
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            import tomllib  # noqa: PLC0415 - only when an agent is about to start

            return tomllib.load(file)
    except (OSError, ValueError):
        return {}
