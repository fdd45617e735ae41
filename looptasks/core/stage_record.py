"""A stage's record: what the ledger says of one stage."""

from collections.abc import Mapping, Sequence
from typing import Any

from looptasks.core.gate import Answers
from looptasks.core.iteration import Iteration
from looptasks.core.spending import Spending


class StageRecord:
    """What the ledger says of one stage. Only `SessionRecord.apply` changes it.

    `generation` counts how often work was superseded: what lies in a folder of an
    older generation is not to be taken for the work that is due now. `begun`,
    `stopped` and `touched` are lines of the ledger: the last start, stop and change.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.iterations: list[Iteration] = []
        self.forgotten: dict[int, str] = {}
        self.inputs: Mapping[str, str] = {}
        self.items: tuple[str, ...] = ()
        self.checked: int | None = None
        self.started_at: str | None = None
        self.updated_at: str | None = None
        self.status = "pending"
        self.reason = ""
        self.spending = Spending()
        self.failures: list[Mapping[str, Any]] = []
        self.left: dict[str, tuple[int, str]] = {}
        self.reads: Sequence[str] | None = None
        self.generation = 0
        self.superseded = ""
        self.begun = 0
        self.stopped = 0
        self.touched = 0
        self.retries = 0
        self.answers = Answers()
        self._good = 0

    def certified(self) -> int:
        """Return how many iterations from the first on still count.

        Looks only at what it has not seen yet, so that a long history costs nothing.
        """
        while self._good < len(self.iterations) and self._counts(self._good):
            self._good += 1
        return self._good

    def _counts(self, index: int) -> bool:
        if index + 1 in self.forgotten:
            return False
        before = self.iterations[index - 1].result if index else ""
        return self.iterations[index].previous == before

    def put(self, iteration: Iteration, sequence: int) -> None:
        """Take in a finished iteration, new or repeated."""
        index = iteration.number - 1
        self.iterations[index : index + 1] = [iteration]
        self.forgotten.pop(iteration.number, None)
        self._good = min(self._good, index)
        self.failures = []
        self.answers = self.answers.moved_on(iteration.heard)
        self.spending = self.spending.add(
            iteration.cost_usd,
            iteration.tokens,
            iteration.seconds,
            guessed=iteration.estimated,
        )
        self.leave(iteration.left, iteration.reads, sequence)

    def leave(
        self, left: Mapping[str, str], reads: Sequence[str], sequence: int
    ) -> None:
        """Take in how the stage left its files, and which it was told to read."""
        self.reads = reads
        self.left |= {path: (sequence, digest) for path, digest in left.items()}

    def forget(self, number: int, reason: str) -> None:
        """Let one iteration count no longer."""
        if number <= len(self.iterations):
            self.forgotten[number] = reason
            self._good = min(self._good, number - 1)

    def cut(self, keep: int) -> None:
        """Drop the iterations after the first `keep`."""
        self.generation += 1
        self.answers = self.answers.moved_on()
        del self.iterations[keep:]
        self.forgotten = {n: why for n, why in self.forgotten.items() if n <= keep}
        self.failures = []
        self._good = min(self._good, keep)
        if not keep:
            self.left, self.checked, self.started_at = {}, None, None
            self.reads = None
