"""An agent: a program that gets a prompt and works until it answers."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

VerdictName = Literal[
    "ok",
    "error",
    "transient",
    "limit",
    "denied",
    "timeout",
    "hung",
    "interrupted",
    "garbled",
]


class Call(NamedTuple):
    """One attempt to be made: everything that an agent may know of it.

    `folder` is the attempt's own: stdout, stderr and result.json go there.
    """

    prompt: str
    folder: str
    cwd: str
    stage: str
    iteration: int
    model: str = ""
    env: Mapping[str, str] = {}
    timeout: float | None = None
    idle_timeout: float | None = None
    budget_usd: float | None = None


class Tokens(NamedTuple):
    """Tokens as the agent counted them."""

    input: int
    output: int
    cached: int = 0


class Answer(NamedTuple):
    """What an attempt came to, read from its files alone; unknown is None.

    `estimated` marks a cost that comes from a price table, not from the agent;
    `resets_at` is when a usage limit ends, if that was told.
    """

    verdict: VerdictName
    reason: str
    text: str
    exit_code: int | None
    started_at: str
    finished_at: str
    seconds: float
    cost_usd: float | None = None
    tokens: Tokens | None = None
    model: str = ""
    session_id: str = ""
    turns: int | None = None
    estimated: bool = False
    resets_at: str = ""


def together(answer: Answer, other: Answer) -> Answer:
    """Return an answer with the cost of another on top, as far as they are known."""
    costs = [a.cost_usd for a in (answer, other) if a.cost_usd is not None]
    tokens = [a.tokens for a in (answer, other) if a.tokens is not None]
    return answer._replace(
        seconds=answer.seconds + other.seconds,
        cost_usd=sum(costs) if costs else None,
        tokens=Tokens(*map(sum, zip(*tokens, strict=True))) if tokens else None,
        estimated=answer.estimated or other.estimated,
    )


class Agent(Protocol):
    """A way to make calls.

    `read` works from files alone, so that a call which finished just before a crash
    is adopted and not paid for twice.
    """

    @property
    def name(self) -> str:
        """The word for it in `state.json` and in messages."""

    def call(self, call: Call) -> None:
        """Make the attempt, leaving stdout, stderr and result.json in its folder."""

    def read(self, folder: str) -> Answer | None:
        """Return what the attempt in `folder` came to; None when it never ended.

        `Answer.text` is the path of the file with the answer's text.
        """
