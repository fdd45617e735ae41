"""A pipeline: stages in order, each a loop with inputs. A lone loop is one stage."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from looptasks.core.duration import seconds


class Judge(NamedTuple):
    """Another agent call that approves or rejects what an iteration came to.

    Without an agent or a model of its own it has the loop's.
    """

    prompt: str
    agent: Any = None
    model: str | None = None


class Pass(NamedTuple):
    """A named part of a stage; `max` 0 leaves the limit to the stage."""

    name: str
    prompt: str = ""
    max: int = 0


class ChildFailure(NamedTuple):
    """What a stage does when work below it fails for good, and how often."""

    do: str = "fail"
    limit: int = 2


class Loop(NamedTuple):
    """A prompt and a rule for when to stop, with every setting resolved.

    `agent` is a name, or `{"command": …}`, or `{"replay": FOLDER}`. Durations are
    seconds; None means no limit. `max_iterations` 0 means no limit.
    """

    name: str
    description: str
    prompt: str
    agent: Any
    model: str
    completion: str
    consensus: int
    min_iterations: int
    max_iterations: int
    check_before: bool
    delay: float
    timeout: float | None
    idle_timeout: float | None
    attempts: int
    backoff: float
    output_parse: tuple[tuple[str, str], ...]
    items: Any
    validate: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    restart_on: tuple[str, ...]
    budget_usd: float | None
    time_limit: float | None
    on_limit: str
    perspectives: tuple[str, ...]
    each: str | None
    isolation: str | None
    no_progress: int
    agent_args: tuple[str, ...]
    env: Any
    sandbox: str | None
    network: bool | None
    artifact: str
    entries: tuple[int, int] | None
    judge: Judge | None
    passes: tuple[Pass, ...]
    gate: str
    invalidate: str
    on_child_failure: ChildFailure
    merge: str
    priority: int | None
    at_once: int
    in_order: bool

    @property
    def texts(self) -> str:
        """All that has variables to be filled in: its prompt, and its judge's."""
        return f"{self.prompt}\n{self.judge.prompt}" if self.judge else self.prompt


class Stage(NamedTuple):
    """A loop placed in a pipeline.

    `inputs` name the stages whose outputs it works from, `after` all that it waits
    for. One that fans out does so over `field` of the artifact of its `parent`, or,
    without a field, once per instance of that; `on_failure` is what an instance's
    parent does when it fails.
    """

    name: str
    task: str
    loop: Loop
    inputs: tuple[str, ...]
    folder: str
    digest: str
    after: tuple[str, ...] = ()
    parent: str = ""
    field: str = ""
    on_failure: ChildFailure = ChildFailure()


class Pipeline(NamedTuple):
    """What one entry task runs: `entry` is `loop:NAME` or `pipeline:NAME`."""

    entry: str
    description: str
    stages: tuple[Stage, ...]

    def stage(self, name: str) -> Stage | None:
        """Return the stage of that name, if there is one."""
        return next((s for s in self.stages if s.name == name), None)

    def upstream(self, name: str) -> frozenset[str]:
        """Return the names of all stages that `name` rests on, however far."""
        by_name = {stage.name: (*stage.inputs, *stage.after) for stage in self.stages}
        found: set[str] = set()
        todo = list(by_name[name])
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo.extend(by_name[current])
        return frozenset(found)


DEFAULTS: Mapping[str, Any] = {
    "description": "",
    "agent": "auto",
    "model": "",
    "completion": "fixed-n",
    "consensus": 2,
    "min_iterations": 1,
    "max_iterations": 25,
    "check_before": False,
    "delay": 0,
    "timeout": "1h",
    "idle_timeout": None,
    "attempts": 3,
    "backoff": 1,
    "output_parse": "",
    "items": None,
    "validate": "",
    "reads": (),
    "writes": (),
    "restart_on": ("inputs",),
    "budget_usd": None,
    "time_limit": None,
    "on_limit": "stop",
    "perspectives": (),
    "each": None,
    "isolation": None,
    "no_progress": 3,
    "agent_args": (),
    "env": None,
    "sandbox": None,
    "network": None,
    "artifact": "",
    "entries": None,
    "judge": None,
    "passes": (),
    "gate": "none",
    "invalidate": "boundary",
    "on_child_failure": "fail",
    "merge": "auto",
    "priority": None,
    "at_once": 0,
    "in_order": False,
}


def loop_from(settings: Mapping[str, Any], prompt: str) -> Loop:
    """Build the loop that checked settings describe, defaults filled in."""
    known = {key: settings.get(key, default) for key, default in DEFAULTS.items()}
    perspectives = tuple(str(entry) for entry in known["perspectives"])
    if perspectives and "max_iterations" not in settings:
        known["max_iterations"] = len(perspectives)
    known |= {
        "perspectives": perspectives,
        "delay": seconds(known["delay"]) or 0.0,
        "backoff": seconds(known["backoff"]) or 0.0,
        "timeout": seconds(known["timeout"]),
        "idle_timeout": seconds(known["idle_timeout"]),
        "time_limit": seconds(known["time_limit"]),
        "output_parse": parse_pairs(known["output_parse"]),
        "reads": tuple(known["reads"]),
        "agent_args": tuple(known["agent_args"]),
        "env": tuple(known["env"]) if isinstance(known["env"], list) else known["env"],
        "writes": tuple(known["writes"]),
        "restart_on": tuple(known["restart_on"]),
        "entries": tuple(known["entries"]) if known["entries"] else None,
        "judge": _judge(known["judge"]),
        "passes": tuple(map(_pass, known["passes"])),
        "on_child_failure": _child_failure(known["on_child_failure"]),
    }
    return Loop(name=settings["name"], prompt=prompt, **known)


def _judge(declared: Any) -> Judge | None:  # noqa: ANN401 - a text or a mapping
    if not declared:
        return None
    return Judge(declared) if isinstance(declared, str) else Judge(**declared)


def _pass(declared: Any) -> Pass:  # noqa: ANN401 - a text or a mapping
    return Pass(declared) if isinstance(declared, str) else Pass(**declared)


def _child_failure(declared: Any) -> ChildFailure:  # noqa: ANN401 - as above
    return (
        ChildFailure(declared)
        if isinstance(declared, str)
        else ChildFailure(**declared)
    )


def parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Split `field:MARKER field:MARKER` into its pairs.

    >>> parse_pairs("plateau:PLATEAU reasoning:REASONING")
    (('plateau', 'PLATEAU'), ('reasoning', 'REASONING'))
    """
    parts = (pair.partition(":") for pair in text.split())
    return tuple((field, marker or field) for field, _, marker in parts)


def fanning(pipeline: Pipeline) -> list[str]:
    """Return the names of the stages that have a loop per bead."""
    return [stage.name for stage in pipeline.stages if stage.loop.each == "beads"]
