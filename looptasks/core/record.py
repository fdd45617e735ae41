"""A record: what a session's ledger says, folded event by event."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from looptasks.core.digest import MISSING
from looptasks.core.iteration import Iteration, iteration_from
from looptasks.core.spending import Spending, together

Event = Mapping[str, Any]


class StageRecord:
    """What the ledger says of one stage. Only `SessionRecord.apply` changes it.

    `generation` counts how often work was superseded: what lies in a folder of an
    older generation is not to be taken for the work that is due now.
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
        self.failures: list[Event] = []
        self.left: dict[str, tuple[int, str]] = {}
        self.reads: Sequence[str] | None = None
        self.generation = 0
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
        del self.iterations[keep:]
        self.forgotten = {n: why for n, why in self.forgotten.items() if n <= keep}
        self.failures = []
        self._good = min(self._good, keep)
        if not keep:
            self.left, self.checked, self.started_at = {}, None, None
            self.reads = None


class Change(NamedTuple):
    """What an iteration made of a file: digests before and after."""

    sequence: int
    stage: str
    before: str
    after: str


class SessionRecord:
    """What the ledger says of a session."""

    def __init__(self) -> None:
        self.stages: dict[str, StageRecord] = {}
        self.entries: list[Event] = []
        self.signal: Event | None = None
        self.run: Event | None = None
        self.end: Event | None = None
        self.stops: list[Event] = []
        self.changes: dict[str, list[Change]] = {}
        self.runs = 0
        self.events = 0
        self.began = ""

    @property
    def asked(self) -> str:
        """What people asked of the session and has not been taken back, in words."""
        return f"{self.signal['signal']} was asked for" if self.signal else ""

    @property
    def paused(self) -> bool:
        """Whether it must be resumed before it can go on."""
        return self.signal is not None and self.signal["signal"] == "pause"

    def stage(self, name: str) -> StageRecord:
        """Return the record of a stage, a blank one for a stage not yet begun."""
        if name not in self.stages:
            self.stages[name] = StageRecord(name)
        return self.stages[name]

    def spending(self) -> Spending:
        """Return what all stages have cost together."""
        return together(stage.spending for stage in self.stages.values())

    def apply_all(self, events: Iterable[Event]) -> None:
        """Fold events in, in their order."""
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> None:
        """Fold one event in; what a newer version wrote is passed over."""
        self.events += 1
        self.began = self.began or str(event.get("at", ""))
        handler = _HANDLERS.get(event.get("event", ""))
        if handler:
            handler(self, event)

    def baseline(self, stage: str, path: str, but: frozenset[str]) -> str:
        """Return how the session left a file that a stage reads.

        That is how the stage itself left it, and what others made of that since;
        what stages in `but` and people did does not count.
        """
        since, digest = self.stage(stage).left.get(path, (0, MISSING))
        for change in self.changes.get(path, ()):
            counts = change.sequence > since and change.stage not in but
            if counts and change.before == digest:
                digest = change.after
        return digest


def _entry(record: SessionRecord, event: Event) -> None:
    record.entries = [e for e in record.entries if e["entry"] != event["entry"]]
    record.entries.append(event)


def _run(record: SessionRecord, event: Event) -> None:
    record.run, record.end, record.stops = event, None, []
    record.runs += 1
    if record.signal and record.signal["signal"] == "stop":
        record.signal = None


def _end(record: SessionRecord, event: Event) -> None:
    record.end = event


def _signal(record: SessionRecord, event: Event) -> None:
    record.signal = None if event["signal"] == "resume" else event


def _stage(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.started_at, stage.status, stage.reason = event["at"], "running", ""
    stage.inputs = event["inputs"]
    stage.items = tuple(event.get("items") or ())


def _items(record: SessionRecord, event: Event) -> None:
    record.stage(event["stage"]).items = tuple(event["items"])


def _check(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.checked = event["exit_code"]
    stage.leave(event["left"], event["reads"], record.events)


def _attempt(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.failures.append(event)
    stage.updated_at = event["at"]
    stage.spending = stage.spending.add(
        event["cost_usd"],
        event["tokens"],
        event["seconds"],
        guessed=bool(event.get("estimated")),
    )


def _iteration(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    iteration = iteration_from(event)
    stage.put(iteration, record.events)
    for path, before in iteration.changed.items():
        after = iteration.left.get(path, MISSING)
        change = Change(record.events, stage.name, before, after)
        record.changes.setdefault(path, []).append(change)
    stage.updated_at, stage.status, stage.reason = event["at"], "running", ""


def _stop(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.status, stage.reason = event["status"], event["reason"]
    stage.updated_at = event["at"]
    record.stops.append(event)


def _restart(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.cut(event["keep"])
    stage.status, stage.reason = "invalidated", event["reason"]


def _forget(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    first = event["iteration"] or 1
    last = event["iteration"] or len(stage.iterations)
    stage.generation += 1
    for number in range(first, last + 1):
        stage.forget(number, event["reason"])
    if not event["iteration"]:
        stage.checked = None
    if stage.forgotten or stage.checked is None:
        stage.status, stage.reason = "invalidated", event["reason"]


_HANDLERS = {
    "entry": _entry,
    "run": _run,
    "end": _end,
    "signal": _signal,
    "stage": _stage,
    "items": _items,
    "check": _check,
    "attempt": _attempt,
    "iteration": _iteration,
    "stop": _stop,
    "restart": _restart,
    "forget": _forget,
}
