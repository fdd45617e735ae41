"""Progress: the markdown that fresh agents read, and the board that people read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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


def feedback(
    log: str, failures: Iterable[Mapping[str, str]], unmet: Iterable[str]
) -> str:
    """Say why earlier tries failed: the check's output, failed attempts, what lacks."""
    parts = []
    if log:
        parts.append(f"The check of the last iteration failed:\n\n{log.rstrip()}")
    parts += [f"An attempt failed: {f['verdict']}: {f['reason']}" for f in failures]
    parts += [f"Still missing: {path}" for path in unmet]
    return "\n\n".join(parts)


class Line(NamedTuple):
    """One stage on the board."""

    stage: str
    status: str
    iterations: int
    reason: str
    spending: Spending


def board(session: str, entry: str, lines: Sequence[Line], budget: float | None) -> str:
    """Return the `PROGRESS.md` of a session."""
    total = Spending()
    for line in lines:
        total = total.plus(line.spending)
    done = [line for line in lines if line.status == "complete"]
    active = [line for line in lines if line.status not in ("complete", "pending")]
    pending = [line for line in lines if line.status == "pending"]
    limit = f" of ${budget:.2f}" if budget is not None else ""
    count = sum(line.iterations for line in lines)
    return "\n".join(
        [
            f"# {session}\n",
            f"{entry}: {len(done)} of {len(lines)} stages complete, "
            f"{count} iterations, {total.spoken()}{limit}\n",
            *_section("Completed", done),
            *_section("In progress", active),
            *_section("Pending", pending),
            "## Metrics\n",
            f"- iterations: {count}",
            f"- cost: {total.spoken()}{limit}",
            f"- agent time: {total.seconds:.0f} s\n",
        ]
    )


def _section(title: str, lines: Sequence[Line]) -> list[str]:
    if not lines:
        return []
    return [f"## {title}\n", *(_row(line) for line in lines), ""]


def _row(line: Line) -> str:
    mark = "x" if line.status == "complete" else " "
    tail = f": {line.reason}" if line.reason else ""
    return (
        f"- [{mark}] {line.stage} ({line.status}, {line.iterations} iterations){tail}"
    )
