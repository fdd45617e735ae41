"""A record: what a session's ledger says, folded event by event."""

from collections.abc import Iterable, Mapping
from typing import Any

from looptasks.core.digest import MISSING
from looptasks.core.file_history import Change, FileHistory
from looptasks.core.gate import ON_COMMAND_LINE, answer_from
from looptasks.core.iteration import iteration_from
from looptasks.core.signal import Signals
from looptasks.core.spending import Spending
from looptasks.core.stage_record import StageRecord
from looptasks.core.usage_limit import UsageLimit, limit_from

Event = Mapping[str, Any]


class SessionRecord:
    """What the ledger says of a session."""

    def __init__(self) -> None:
        self.stages: dict[str, StageRecord] = {}
        self.entries: list[Event] = []
        self.signals = Signals()
        self.run: Event | None = None
        self.end: Event | None = None
        self.stops: list[Event] = []
        self.files = FileHistory()
        self.runs = 0
        self.events = 0
        self.began = ""
        self.landing: Event | None = None
        self.run_at = 0
        self.spent = Spending()
        self.news: dict[str, int] = {}
        self.cut_short: set[str] = set()
        self.limit: UsageLimit | None = None

    def stage(self, name: str) -> StageRecord:
        """Return the record of a stage, a blank one for a stage not yet begun."""
        if name not in self.stages:
            self.stages[name] = StageRecord(name)
        return self.stages[name]

    def names(self) -> list[str]:
        """Return the stages as planned, each with its instances or beads below it."""
        planned = dict.fromkeys(n for e in self.entries for n in e.get("stages", ()))
        others = sorted(name for name in self.stages if name not in planned)
        below: dict[str, list[str]] = {}
        for name in others:
            below.setdefault(name.partition("/")[0], []).append(name)
        found = [n for name in planned for n in (name, *below.pop(name, ()))]
        return found + [name for rest in below.values() for name in rest]

    def spending(self) -> Spending:
        """Return what all stages have cost together."""
        return self.spent

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
        left = self.stage(stage).left.get(path, (0, MISSING))
        return self.files.follow(path, left, but)


def _entry(record: SessionRecord, event: Event) -> None:
    record.entries = [e for e in record.entries if e["entry"] != event["entry"]]
    record.entries.append(event)


def _run(record: SessionRecord, event: Event) -> None:
    record.run, record.end, record.stops = event, None, []
    record.runs += 1
    record.run_at = record.events
    record.limit = None
    record.cut_short = set()
    record.signals = record.signals.without_stops()


def _end(record: SessionRecord, event: Event) -> None:
    record.end = event


def _signal(record: SessionRecord, event: Event) -> None:
    before = record.signals
    record.signals = before.given(event, record.events)
    for name in before.released_by(record.signals):
        stage = record.stage(name)
        if stage.status == "paused" and stage.stopped <= record.run_at:
            stage.status, stage.reason = "running", ""
    if event["signal"] == "resume" and record.cut_short:
        # doit does nothing twice: an iteration that was given up needs a new round.
        record.news |= dict.fromkeys(record.cut_short, record.events)
        record.cut_short = set()


def _ack(record: SessionRecord, event: Event) -> None:
    record.signals = record.signals.acknowledged(event)
    record.cut_short |= {event["stage"]} if event["iteration"] else set()
    stage = record.stage(event["stage"])
    stage.status, stage.reason = "paused", event["reason"]
    stage.updated_at = event["at"]


def _stage(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.started_at, stage.status, stage.reason = event["at"], "running", ""
    stage.inputs, stage.begun = event["inputs"], record.events
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
    record.limit = limit_from(event) or record.limit
    stage.updated_at = event["at"]
    cost = event["cost_usd"], event["tokens"], event["seconds"]
    guessed = bool(event.get("estimated"))
    stage.spending = stage.spending.add(*cost, guessed=guessed)
    record.spent = record.spent.add(*cost, guessed=guessed)


def _iteration(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    iteration = iteration_from(event)
    stage.put(iteration, record.events)
    cost = iteration.cost_usd, iteration.tokens, iteration.seconds
    record.spent = record.spent.add(*cost, guessed=iteration.estimated)
    for path, before in iteration.changed.items():
        after = iteration.left.get(path, MISSING)
        record.files.add(path, Change(record.events, stage.name, before, after))
    stage.updated_at, stage.status, stage.reason = event["at"], "running", ""


def _stop(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.status, stage.reason = event["status"], event["reason"]
    stage.updated_at = event["at"]
    stage.answers = stage.answers.asking(event.get("gate"), event["at"])
    stage.stopped = record.events
    record.stops.append(event)


def _restart(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.cut(event["keep"])
    if event.get("retry"):
        stage.retries += 1
        record.news[stage.name] = record.events
    stage.touched = record.events
    if not event["keep"] and event.get("archive"):
        stage.superseded = event["archive"]
    stage.status = "archived" if event.get("gone") else "invalidated"
    stage.reason = event["reason"]


def _invalidate(record: SessionRecord, event: Event) -> None:
    for name in event["stages"]:
        stage = record.stage(name)
        stage.touched = record.events
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


def _gate(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.answers = stage.answers.given(answer_from(event))
    if event["by"] != ON_COMMAND_LINE:
        _news(record, stage)


def _feedback(record: SessionRecord, event: Event) -> None:
    stage = record.stage(event["stage"])
    stage.answers = stage.answers.told(answer_from(event))
    _news(record, stage)


def _news(record: SessionRecord, stage: StageRecord) -> None:
    """Note what came up about a stage that had come to rest."""
    stage.touched = record.events
    if stage.status != "running":
        record.news[stage.name] = record.events


def _landing(record: SessionRecord, event: Event) -> None:
    record.landing = event
    for path, (before, after) in event["changed"].items():
        how = before or MISSING, after or MISSING
        record.files.add(path, Change(record.events, event["entry"], *how))


_HANDLERS = {
    "landing": _landing,
    "entry": _entry,
    "run": _run,
    "end": _end,
    "signal": _signal,
    "ack": _ack,
    "stage": _stage,
    "items": _items,
    "check": _check,
    "attempt": _attempt,
    "iteration": _iteration,
    "stop": _stop,
    "restart": _restart,
    "invalidate": _invalidate,
    "forget": _forget,
    "gate": _gate,
    "feedback": _feedback,
}
