"""A vocabulary: the names of agents and completion rules that declarations may use."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

AGENTS = ("auto", "claude", "codex", "gemini", "opencode", "replay")
COMPLETIONS = ("fixed-n", "plateau", "beads-empty", "all-items", "validated")


class Vocabulary(NamedTuple):
    """What is known here: our own names, and those that packages add."""

    agents: tuple[str, ...] = AGENTS
    completions: tuple[str, ...] = COMPLETIONS

    def knows(self, settings: Mapping[str, Any]) -> bool:
        """Tell whether it has the names that settings use."""
        judge = settings.get("judge")
        own = judge.get("agent") if isinstance(judge, Mapping) else None
        agents = settings.get("agent", AGENTS[0]), own or AGENTS[0]
        completion = settings.get("completion", COMPLETIONS[0])
        known = all(isinstance(a, Mapping) or a in self.agents for a in agents)
        return known and completion in self.completions


def vocabulary(agents: Iterable[str], completions: Iterable[str]) -> Vocabulary:
    """Return our own names with those of packages after them."""
    return Vocabulary(
        tuple(dict.fromkeys((*AGENTS, *agents))),
        tuple(dict.fromkeys((*COMPLETIONS, *completions))),
    )
