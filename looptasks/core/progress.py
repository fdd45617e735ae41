"""Progress: the markdown that fresh agents read, and the board that people read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from looptasks.core.count import counted
from looptasks.core.duration import spoken
from looptasks.core.gate import Answer
from looptasks.core.iteration import Iteration
from looptasks.core.spending import Spending


def header(session: str, stage: str, validate: str) -> str:
    """Return what a stage's `progress.md` starts with."""
    verify = f"`{validate}`" if validate else "nothing declared"
    return (
        f"# Progress of {stage} in {session}\n\n"
        f"Verify: {verify}\n\n"
        "## Codebase Patterns\n\n"
        "## Learnings\n"
    )


def note(iteration: Iteration) -> str:
    """Return what is added to `progress.md` after an iteration."""
    lines = [f"\n### Iteration {iteration.number} ({iteration.finished_at})\n"]
    if iteration.item:
        lines.append(f"- item: {iteration.item}")
    lines += [f"- {name}: {value}" for name, value in iteration.parsed.items()]
    if iteration.validation is not None:
        passed = "passed" if iteration.valid else "failed"
        lines.append(f"- `{iteration.validation['command']}` {passed}")
    return "\n".join(lines) + "\n"


def user_feedback(word: Answer) -> str:
    """Return what is added to `progress.md` when a person has something to say."""
    return f"\n## User feedback\n\n{word.feedback.strip()}\n\n({word.by}, {word.at})\n"


def feedback(
    log: str,
    failures: Iterable[Mapping[str, str]],
    unmet: Iterable[str],
    words: Iterable[Answer] = (),
) -> str:
    """Say what to do better: people's words, the check's output, what failed, lacks."""
    parts = [user_feedback(word).strip() for word in words]
    if log:
        parts.append(f"The check of the last iteration failed:\n\n{log.rstrip()}")
    parts += [f"An attempt failed: {f['verdict']}: {f['reason']}" for f in failures]
    parts += [f"Still missing: {path}" for path in unmet]
    return "\n\n".join(parts)


class Line(NamedTuple):
    """One stage or bead on the board."""

    name: str
    status: str
    iterations: int
    reason: str
    spending: Spending


class Board(NamedTuple):
    """What `PROGRESS.md` tells: `waves` is the wave at work and how many there are."""

    session: str
    entry: str
    stages: Sequence[Line]
    beads: Sequence[Line] = ()
    waves: tuple[int, int] = (0, 0)
    spending: Spending = Spending()
    iterations: int = 0
    budget: float | None = None


_SHOWN = 100


def board(view: Board) -> str:
    """Return the `PROGRESS.md` of a session."""
    lines = [*view.stages, *view.beads]
    done = [line for line in lines if line.status in ("complete", "done")]
    pending = [line for line in lines if line.status in ("pending", "blocked", "ready")]
    active = [line for line in lines if line not in done and line not in pending]
    return "\n".join(
        [
            f"# {view.session}\n",
            f"{_status(view)}\n",
            *_section("Completed", done),
            *_section("In progress", active),
            *_section("Pending", pending),
            "## Metrics\n",
            f"- iterations: {view.iterations}",
            f"- cost: {_cost(view)}",
            f"- agent time: {spoken(view.spending.seconds)}\n",
        ]
    )


def _status(view: Board) -> str:
    stages = [line for line in view.stages if "/" not in line.name]
    instances = [line for line in view.stages if "/" in line.name]
    done = sum(line.status == "complete" for line in stages)
    parts = [f"{view.entry}: {done} of {counted(len(stages), 'stage')} complete"]
    if instances:
        complete = sum(line.status == "complete" for line in instances)
        parts.append(f"{complete} of {counted(len(instances), 'instance')} complete")
    if view.beads:
        closed = sum(line.status == "done" for line in view.beads)
        parts.append(f"wave {view.waves[0]} of {view.waves[1]}")
        parts.append(f"{closed} of {counted(len(view.beads), 'bead')} closed")
    return ", ".join([*parts, counted(view.iterations, "iteration"), _cost(view)])


def _cost(view: Board) -> str:
    limit = f" of ${view.budget:.2f}" if view.budget is not None else ""
    return f"{view.spending.spoken()}{limit}"


def _section(title: str, lines: Sequence[Line]) -> list[str]:
    if not lines:
        return []
    hidden = len(lines) - _SHOWN
    more = [f"- and {hidden} more"] if hidden > 0 else []
    return [f"## {title}\n", *(_row(line) for line in lines[-_SHOWN:]), *more, ""]


def _row(line: Line) -> str:
    mark = "x" if line.status in ("complete", "done") else " "
    tail = f": {line.reason}" if line.reason else ""
    count = f", {counted(line.iterations, 'iteration')}" if line.iterations else ""
    return f"- [{mark}] {line.name} ({line.status}{count}){tail}"
