"""A bench: one real agent, a fake model, and nothing else that it could reach."""

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from looptasks.core.agent import Answer, Call
from looptasks.core.agent_settings import AgentSettings
from looptasks.effects.agent_choice import named_agent
from looptasks.effects.keeper_processes import KeeperProcesses
from tests.support.agent_programs import search_path
from tests.support.fake_model import FakeModel
from tests.support.fake_protocols import Step
from tests.support.live_processes import carrying, within

KEY = "not-a-key"
MODELS = {
    "claude": "claude-opus-4-1",
    "codex": "gpt-5",
    "gemini": "gemini-2.5-pro",
    "opencode": "fake/small",
}
_PROVIDER = 'name="fake",base_url="{url}/v1",wire_api="responses",env_key="FAKE_KEY"'


class AgentBench:
    """Calls one agent as a run would, in an environment built from nothing."""

    def __init__(self, name: str, programs: Path, homes: Path) -> None:
        self.name = name
        self.place = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=homes))
        self.fake = FakeModel().__enter__()
        self.mark = f"AGENT_BENCH={os.urandom(8).hex()}"
        self.seconds = 0.0
        self.pace = 0.0
        self._named = "fake" if name == "codex" else ""
        self._path = search_path(programs)
        self._processes = KeeperProcesses(inherit_env=False)
        for folder in ("home", "temp", "work", "attempt"):
            (self.place / folder).mkdir()
        (self.place / "home/.codex").mkdir()
        (self.place / "home/.gemini").mkdir()
        signed_in = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (self.place / "home/.gemini/settings.json").write_text(json.dumps(signed_in))

    @property
    def work(self) -> Path:
        """The folder that the agent works in."""
        return self.place / "work"

    @property
    def attempt(self) -> Path:
        """The folder of the attempt's files."""
        return self.place / "attempt"

    def close(self) -> None:
        """End everything."""
        self._processes.close()
        self.fake.__exit__()
        shutil.rmtree(self.place, ignore_errors=True)

    def writes(self, name: str, text: str) -> Step:
        """Return a step in which the model has a file written."""
        path = str(self.work / name)
        tools: dict[str, tuple[str, dict[str, str]]] = {
            "claude": ("Write", {"file_path": path, "content": text}),
            "codex": ("exec_command", {"cmd": f"printf %s '{text}' > {name}"}),
            "gemini": ("write_file", {"file_path": path, "content": text}),
            "opencode": ("write", {"filePath": path, "content": text}),
        }
        return self._tool(*tools[self.name])

    def shell(self, command: str) -> Step:
        """Return a step in which the model has a command run."""
        tools: dict[str, tuple[str, dict[str, Any]]] = {
            "claude": ("Bash", {"command": command, "description": "run"}),
            "codex": ("exec_command", {"cmd": command, "yield_time_ms": 60000}),
            "gemini": ("run_shell_command", {"command": command}),
            "opencode": ("bash", {"command": command, "description": "run"}),
        }
        return self._tool(*tools[self.name])

    def settings(self, **more: Any) -> AgentSettings:
        """Return settings that let nothing of our environment through."""
        variables = {**self._variables(), **more.pop("variables", {})}
        args = (*self._args(), *more.pop("args", ()))
        made = AgentSettings(
            args=args,
            variables=variables,
            env=(),
            sandbox="none",
            provider=self._named,
        )
        return made._replace(**more)

    def run(
        self,
        script: list[Step],
        timeout: float = 120.0,
        idle: float | None = None,
        **more: Any,
    ) -> Answer:
        """Make one call with the model following the script; return its answer."""
        self.fake.script = script
        settings = self.settings(**more)
        agent = named_agent(self.name, settings, self._processes)
        prompt = self.place / "prompt.md"
        prompt.write_text("Do the work.\n")
        call = Call(
            prompt=str(prompt),
            folder=str(self.attempt),
            cwd=str(self.work),
            stage="work",
            iteration=1,
            model=MODELS[self.name],
            timeout=timeout,
            idle_timeout=idle,
        )
        began = time.monotonic()
        agent.call(call)
        self.seconds = time.monotonic() - began
        answer = agent.read(call.folder)
        assert answer is not None
        return answer

    def signal(self, number: int) -> None:
        """Send a signal to the agent's process group: the keeper's child leads it.

        The launcher of gemini sits out a signal that reaches it alone.
        """
        for pid in carrying(self.mark):
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == self._processes.keeper:
                os.killpg(pid, number)
                return

    def is_quiet(self, seconds: float = 2.0) -> bool:
        """Whether no process of the agent is left, or will be soon."""
        keeper = self._processes.keeper
        return within(seconds, lambda: not set(carrying(self.mark)) - {keeper})

    def check_end(self) -> None:
        """Fail if a process is left, or if the agent has tried to reach others.

        Opencode always looks for news; the fake refuses that, and counts it.
        """
        assert self.is_quiet()
        if self.name != "opencode":
            assert self.fake.outside == []

    def said(self) -> str:
        """Return what the attempt printed, for a message about a failure."""
        names = ("stdout", "stderr")
        files = [self.attempt / name for name in names]
        return "\n".join(f.read_text(errors="replace")[-3000:] for f in files)

    def _tool(self, name: str, given: dict[str, Any]) -> Step:
        return {"text": "I work.", "tools": [{"name": name, "input": given}]}

    def use_default_provider(self) -> None:
        """Let codex use the provider that it takes when nobody chooses, at the fake."""
        config = f'openai_base_url = "{self.fake.url}/v1"\n'
        (self.place / "home/.codex/config.toml").write_text(config)
        self._named = ""

    def _args(self) -> tuple[str, ...]:
        if self.name != "codex" or not self._named:
            return ()
        provider = "{" + _PROVIDER.format(url=self.fake.url) + "}"
        return ("-c", "model_provider=fake", "-c", f"model_providers.fake={provider}")

    def _variables(self) -> dict[str, str]:
        url, (mark, _, value) = self.fake.url, self.mark.partition("=")
        proxies = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "127.0.0.1"}
        own = {
            "claude": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY},
            "codex": {"CODEX_HOME": f"{self.place}/home/.codex", "FAKE_KEY": KEY},
            "gemini": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": KEY},
            "opencode": {"OPENCODE_CONFIG_CONTENT": self._opencode()},
        }
        return {
            "HOME": f"{self.place}/home",
            "TMPDIR": f"{self.place}/temp",
            "PATH": self._path,
            mark: value,
            **proxies,
            **{name.lower(): value for name, value in proxies.items()},
            **own[self.name],
        }

    def _opencode(self) -> str:
        options = {"baseURL": f"{self.fake.url}/v1", "apiKey": KEY}
        price = {"input": 1, "output": 2}
        fake = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": options,
            "models": {"small": {"name": "small", "cost": price}},
        }
        return json.dumps({"autoupdate": False, "provider": {"fake": fake}})
