"""A job: an iteration to be run, the tools for it, and what can come of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from looptasks.core.agent import Agent, Answer
from looptasks.core.artifact import Inspection
from looptasks.core.completion import Rule, Workload
from looptasks.core.gate import Answer as Word
from looptasks.core.iteration import Iteration
from looptasks.core.pipeline import Stage
from looptasks.core.process import Processes
from looptasks.core.selector import Subject
from looptasks.core.usage_limit import UsageLimit


class Site(NamedTuple):
    """A worktree to work in instead of the project's own folder."""

    name: str
    folder: str
    target: str
    title: str


class Job(NamedTuple):
    """An iteration to be run, and all that it rests on.

    One that is `alone` was asked for by name: nothing of its stage comes after it.
    `role` is empty for the agent who does the work; `pass_name` is the pass at work.
    """

    session: str
    stage: Stage
    number: int
    item: str
    goal: str
    inputs: Mapping[str, str]
    items: tuple[str, ...]
    generation: int
    history: Sequence[Iteration]
    failures: Sequence[Mapping[str, Any]]
    seconds_left: float | None
    env: Mapping[str, str]
    variables: Mapping[str, str] = {}
    since: int = 0
    bead: str = ""
    words: Sequence[Word] = ()
    heard: int = 0
    dollars_left: float | None = None
    site: Site | None = None
    subject: Subject = Subject("")
    alone: bool = False
    role: str = ""
    pass_name: str = ""

    @property
    def is_away(self) -> bool:
        """Whether its work comes home only together with that of others."""
        return self.site is not None and not self.bead


class Finished(NamedTuple):
    """The iteration is done and recorded."""

    iteration: Iteration


class Checked(NamedTuple):
    """The stage was complete before the first agent started."""

    reason: str


class Failed(NamedTuple):
    """No attempt was good; the work goes on with the next run."""

    verdict: str
    reason: str


Outcome = Finished | Checked | Failed


class Folder(Protocol):
    """The iteration's folder."""

    def prepare(self, generation: int, inputs: Mapping[str, str]) -> None:
        """Make it, moving what an older generation left there to the archive."""

    def attempts(self) -> list[str]:
        """Return the folders of attempts made so far, oldest first."""

    def new_attempt(self) -> str:
        """Make the folder of the next attempt."""

    def variables(self, prompt: str) -> dict[str, str]:
        """Return the variables of a prompt that come from files."""

    def write_prompt(self, text: str) -> str:
        """Keep the prompt, and return its path."""

    def hear(self, words: Sequence[Word], heard: int) -> None:
        """Put what people said into `progress.md`, once; `heard` counts their words."""

    @property
    def heard(self) -> int:
        """Up to which word of people the newest attempt was told, 0 if none is new."""

    def previous_log(self) -> str:
        """Return the end of what the check of the iteration before printed."""

    def save_answer(self, answer: Answer | None, attempt: str) -> None:
        """Keep an attempt fit to be seen, its verdict in `result.json` if it ended."""

    def save_output(self, text: str) -> str:
        """Keep the answer as `output.md`; return the digest of its content."""

    def chunks(self, text: str) -> Iterable[str]:
        """Return a text file's content in pieces of whole lines."""

    @property
    def artifact(self) -> str:
        """The path that the artifact belongs at."""

    def artifact_of(self, number: int) -> str:
        """Return where an iteration's artifact is; empty for none."""

    def judges(self) -> "Folder":
        """Return the folder as the judge's calls see it: their attempts are apart."""

    def new_log(self) -> None:
        """Begin the check's log anew."""

    def log(self) -> str:
        """Return the path of the check's log."""

    def close_log(self) -> None:
        """Let nothing in the check's log that must not be kept."""

    def append_log(self, text: str) -> None:
        """Add to the check's log."""

    def settle(self, iteration: Iteration) -> None:
        """Record the finished iteration: ledger first, then what derives from it."""


class Project(Protocol):
    """The project that agents work on."""

    root: str

    def digests(self, patterns: Iterable[str]) -> dict[str, str]:
        """Return path and digest of each file that the patterns mean."""

    def missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the paths that do not exist."""

    def head(self) -> str | None:
        """Return the commit that is checked out."""

    def fingerprint(self) -> str:
        """Return a digest of all that counts as progress."""


class Ledger(Protocol):
    """Where events go."""

    def event(self, event: str, **fields: Any) -> None:  # noqa: ANN401
        """Append an event of this stage."""


class Clock(Protocol):
    """Tells and passes time."""

    def now(self) -> str:
        """Return the time as RFC 3339."""

    def pause(self, seconds: float, why: str) -> Failed | None:
        """Wait, saying why if that is worth a word; return what cut it short."""


class Tools(NamedTuple):
    """The effects that an iteration needs.

    `inspect` checks the artifact of an answer, whose path it gets; `judge` is the
    agent that judges. Both are None where a loop has no such thing. `limit` tells the
    usage limit that the session has hit last.
    """

    agent: Agent
    folder: Folder
    project: Project
    processes: Processes
    ledger: Ledger
    clock: Clock
    rule: Rule
    workload: Callable[[], Workload | None] = lambda: None
    integrate: Callable[[], str] | None = None
    limit: Callable[[], UsageLimit | None] = lambda: None
    inspect: Callable[[str], Inspection] | None = None
    judge: Agent | None = None
