"""A record: what a session's ledger says, folded event by event."""

from collections.abc import Iterable, Mapping
from typing import Any

from looptasks.core.iteration import Iteration
from looptasks.core.spending import Spending

Event = Mapping[str, Any]
_HEADERS = ("event", "at", "stage", "iteration", "run")


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
            iteration.cost_usd, iteration.tokens, iteration.seconds
        )
        for path, digest in iteration.left.items():
            self.left[path] = (sequence, digest)

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


class SessionRecord:
    """What the ledger says of a session."""

    def __init__(self) -> None:
        self.stages: dict[str, StageRecord] = {}
        self.entries: list[Event] = []
        self.signal: Event | None = None
        self.run: Event | None = None
        self.end: Event | None = None
        self.stops: list[Event] = []
        self.runs = 0
        self.events = 0
        self.began = ""

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
        total = Spending()
        for stage in self.stages.values():
            total = total.plus(stage.spending)
        return total

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

    def baseline(self, path: str, but: frozenset[str]) -> str | None:
        """Return how the session last left a file, changes by stages `but` aside."""
        seen = [
            stage.left[path]
            for name, stage in self.stages.items()
            if name not in but and path in stage.left
        ]
        return max(seen)[1] if seen else None


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
    for path, digest in event.get("left", {}).items():
        stage.left[path] = (record.events, digest)


def _attempt(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.failures.append(event)
    stage.updated_at = event["at"]
    stage.spending = stage.spending.add(
        event["cost_usd"], event["tokens"], event["seconds"]
    )


def _iteration(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    fields = {key: value for key, value in event.items() if key not in _HEADERS}
    stage.put(Iteration(number=event["iteration"], **fields), record.events)
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
