"""A session's tail: what its agents print and its ledger says, as it happens."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from looptasks.core.json_value import event_in
from looptasks.core.screen_text import shown
from looptasks.core.tail_line import TailLine, told
from looptasks.core.taskname import padded
from looptasks.effects.attempt_tail import AttemptTail
from looptasks.effects.event_file import GrowingLines
from looptasks.effects.files import read_json
from looptasks.effects.iteration_watch import newest_attempt
from looptasks.effects.scrub import known_secrets


class StageTail:
    """Follows a stage from an iteration on, attempt after attempt."""

    def __init__(self, folder: str, name: str, number: int, *, raw: bool) -> None:
        self._iterations = f"{folder}/{name}/iterations"
        self._name = name
        self._raw = raw
        self._attempt = 0
        self._tail: AttemptTail | None = None
        self.number = number

    def more(self, last: int) -> Iterator[TailLine]:
        """Yield what was printed since, in the iterations up to the last one."""
        while self.number <= last:
            yield from self._attempts()
            if self.number == last:
                return
            self.go_to(self.number + 1)

    def go_to(self, number: int) -> None:
        """Follow another iteration from its beginning."""
        self.number, self._attempt, self._tail = number, 0, None

    def _attempts(self) -> Iterator[TailLine]:
        folder = f"{self._iterations}/{padded(self.number)}"
        newest = newest_attempt(folder)
        if newest < self._attempt:
            self.go_to(self.number)  # what was there is in the archive by now
        while self._tail is not None or self._attempt < newest:
            tail = self._tail or self._next(folder)
            over = self._attempt < newest or tail.ended()
            yield from map(self._line, tail.more())
            if not over:
                return
            yield from map(self._line, tail.last())
            self._tail = None

    def _next(self, folder: str) -> AttemptTail:
        self._attempt += 1
        attempt = f"{folder}/attempts/{self._attempt}"
        self._tail = AttemptTail(attempt, raw=self._raw)
        return self._tail

    def _line(self, line: str) -> TailLine:
        return TailLine(self._name, self.number, self._attempt, line)


class Head(NamedTuple):
    """What a stage's `state.json` says of it."""

    iteration: int
    running: bool
    updated_at: str


class SessionTail:
    """Follows a session by its files alone; takes no lock and changes nothing."""

    def __init__(self, folder: str, *, raw: bool) -> None:
        self._folder = folder
        self._raw = raw
        self._stages: dict[str, StageTail] = {}
        self._ledger = GrowingLines(f"{folder}/ledger.jsonl")

    def begin(self, count: int) -> Iterator[TailLine]:
        """Yield the last lines of each attempt that runs; the past is passed over."""
        for _ in self._ledger.more():
            pass
        for name, head in self._heads():
            number = head.iteration if head.running else head.iteration + 1
            stage = self._stage(name, number)
            if head.running:
                yield from list(stage.more(number))[-count:]

    def end(self, count: int) -> Iterator[TailLine]:
        """Yield the last lines of the attempt that was made last."""
        heads = [(head.updated_at, name, head) for name, head in self._heads()]
        if not heads:
            return
        _, name, head = max(heads)
        for number in (head.iteration + 1, head.iteration):
            found = [*StageTail(self._folder, name, number, raw=self._raw).more(number)]
            if found:
                last = found[-1].attempt
                yield from [line for line in found if line.attempt == last][-count:]
                return

    def more(self) -> Iterator[TailLine]:
        """Yield what has happened since the last look."""
        # The ledger is read first: what it tells, has been printed before.
        events = [event for line in self._ledger.more() if (event := event_in(line))]
        for line in filter(None, map(told, events)):
            yield from self._stage(line.stage).more(line.iteration)
            if not self._raw:
                words = shown(line.line, known_secrets())
                yield from (line._replace(line=part) for part in words.split("\n"))
        for name, head in self._heads():
            stage = self._stage(name)
            if head.running and head.iteration < stage.number:
                stage.go_to(head.iteration)
            yield from stage.more(head.iteration)

    def _stage(self, name: str, number: int = 1) -> StageTail:
        if name not in self._stages:
            self._stages[name] = StageTail(self._folder, name, number, raw=self._raw)
        return self._stages[name]

    def _heads(self) -> Iterator[tuple[str, Head]]:
        for name in [*_inside(self._folder), *_inside(self._folder, "beads/")]:
            found = read_json(f"{self._folder}/{name}/state.json")
            if isinstance(found, dict) and isinstance(found.get("iteration"), int):
                yield name, _head(found)


def _head(state: dict[str, Any]) -> Head:
    running = state.get("status") == "running"
    return Head(state["iteration"], running, str(state.get("updated_at")))


def _inside(folder: str, below: str = "") -> list[str]:
    with suppress(OSError), os.scandir(f"{folder}/{below}") as entries:
        found = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        return sorted(f"{below}{name}" for name in found)
    return []
