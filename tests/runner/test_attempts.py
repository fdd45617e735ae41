"""The attempts at an iteration: which are made, what is waited for, what counts."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from looptasks.core.agent import Answer, Call, Tokens, VerdictName
from looptasks.core.completion import fixed_n
from looptasks.core.job import Failed, Finished, Job, Outcome, Tools
from looptasks.core.pipeline import Stage, loop_from
from looptasks.core.process import Command, Ended
from looptasks.core.usage_limit import UsageLimit, limit_from
from looptasks.effects.files import read_json, write_json
from looptasks.effects.iteration_folder import IterationFolder
from looptasks.effects.session_folder import SessionFolder
from looptasks.effects.system_clock import stamp
from looptasks.errors import StorageError
from looptasks.runner import run_iteration

NOON = 1_772_366_400.0
HOUR = 3600.0
CUT = Failed("interrupted", "interrupted while waiting")


class Simulated:
    """A clock on which waiting takes no time; `cut` is the wait that is cut short."""

    def __init__(self, cut: int = 0) -> None:
        self.epoch = NOON
        self.waits: list[float] = []
        self.said: list[str] = []
        self._cut = cut

    def now(self) -> str:
        return stamp(self.epoch)

    def pause(self, seconds: float, why: str) -> Failed | None:
        self.waits.append(seconds)
        self.said += [why] if why else []
        if len(self.waits) == self._cut:
            return CUT
        self.epoch += seconds
        return None

    @property
    def waited(self) -> float:
        """How long was waited altogether."""
        return self.epoch - NOON


class Scripted:
    """An agent whose calls end as the script says, the last way from then on."""

    name = "scripted"

    def __init__(self, clock: Simulated, *script: Mapping[str, Any]) -> None:
        self._clock = clock
        self._script = list(script)
        self.calls: list[Call] = []
        self.called_at: list[float] = []

    def call(self, call: Call) -> None:
        self.calls.append(call)
        self.called_at.append(self._clock.epoch - NOON)
        step = dict(self._script[min(len(self.calls), len(self._script)) - 1])
        Path(call.folder, "stdout").write_text("done")
        raised = step.pop("raises", None)
        if step:
            write_json(f"{call.folder}/script.json", step)
        if raised is not None:
            raise raised

    def read(self, folder: str) -> Answer | None:
        found = read_json(f"{folder}/script.json")
        if found is None:
            return None
        tokens = found.pop("tokens", None)
        made = answer(found.pop("verdict"), f"{folder}/stdout", **found)
        return made._replace(tokens=Tokens(*tokens) if tokens else None)


def answer(verdict: VerdictName, text: str, **more: Any) -> Answer:
    plain = {"reason": f"it was {verdict}", "seconds": 10.0, **more}
    return Answer(
        verdict,
        text=text,
        exit_code=0,
        started_at=stamp(NOON),
        finished_at=stamp(NOON),
        **plain,
    )


class Bench:
    """One iteration in a temporary folder, run with a scripted agent."""

    def __init__(self, folder: Path, clock: Simulated, agent: Scripted) -> None:
        self.clock, self.agent = clock, agent
        self.events: list[dict[str, Any]] = []
        self.settled: list[Any] = []
        self.limit: UsageLimit | None = None
        self.root = str(folder)
        self.attempts = folder / ".loop/s/tidy/iterations/0001/attempts"
        self._folder = IterationFolder(
            SessionFolder(self.root, "s"),
            ("tidy", "", ()),
            1,
            self.settled.append,
            clock.now,
        )

    def digests(self, patterns: Iterable[str]) -> dict[str, str]:
        return dict.fromkeys(patterns, "x")

    def missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(paths)

    def head(self) -> str | None:
        return None

    def fingerprint(self) -> str:
        return ""

    def event(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})

    def run(self, command: Command) -> Ended:
        raise AssertionError(command)

    def stop_all(self) -> None:
        raise AssertionError

    def iterate(self, *, dollars: float | None = None, **settings: Any) -> Outcome:
        Path(self.root, ".loop/s/tidy").mkdir(parents=True, exist_ok=True)
        loop = loop_from({"name": "tidy", "backoff": 2, **settings}, "${FEEDBACK}")
        job = Job(
            session="s",
            stage=Stage("tidy", "loop:tidy", loop, (), "", ""),
            number=1,
            item="",
            goal="",
            inputs={},
            items=(),
            generation=0,
            history=(),
            failures=[e for e in self.events if e["event"] == "attempt"],
            seconds_left=None,
            env={},
            dollars_left=dollars,
        )
        return run_iteration(job, self._tools())

    def _tools(self) -> Tools:
        return Tools(
            agent=self.agent,
            folder=self._folder,
            project=self,
            processes=self,
            ledger=self,
            clock=self.clock,
            rule=fixed_n,
            limit=lambda: self.limit,
        )


@pytest.fixture
def clock() -> Simulated:
    return Simulated()


OK = {"verdict": "ok"}
LIMIT = {"verdict": "limit", "resets_at": stamp(NOON + HOUR)}
DOWN = {"verdict": "transient"}


def verdicts(bench: Bench) -> list[str]:
    return [event["verdict"] for event in bench.events]


def test_an_hour_of_usage_limit_is_waited_for_and_counts_for_nothing(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, LIMIT, OK))

    outcome = bench.iterate(on_limit="wait", attempts=1)

    assert isinstance(outcome, Finished)
    assert outcome.iteration.number == 1
    assert HOUR <= clock.waited <= HOUR + 60
    assert max(clock.waits) <= 60
    assert clock.said == [
        f"usage limit: waiting until {stamp(NOON + HOUR)} (1 h)",
    ]
    assert verdicts(bench) == ["limit"]


def test_a_usage_limit_is_no_feedback_for_the_next_agent(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, LIMIT, OK))

    bench.iterate(on_limit="wait")

    assert Path(bench.agent.calls[1].prompt).read_text() == ""


def test_a_usage_limit_without_a_time_is_tried_again_after_a_while(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, {"verdict": "limit"}, OK))

    assert isinstance(bench.iterate(on_limit="wait"), Finished)
    assert clock.waited == 15 * 60


def test_a_limit_that_never_ends_is_asked_about_ever_less_often(
    tmp_path: Path, clock: Simulated
) -> None:
    over = {"verdict": "limit", "resets_at": stamp(NOON - HOUR)}
    bench = Bench(tmp_path, clock, Scripted(clock, *[over] * 20, OK))

    bench.iterate(on_limit="wait", attempts=1)

    at = bench.agent.called_at
    gaps = [after - before for before, after in pairwise(at)]
    assert gaps == sorted(gaps)
    assert gaps[0] == pytest.approx(5, abs=1)
    assert gaps[-1] == pytest.approx(15 * 60, abs=1)


def test_a_limit_that_another_stage_waits_for_holds_this_one_in_silence(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, OK))
    bench.limit = UsageLimit("5-hour limit", NOON + HOUR, waits=True)

    assert isinstance(bench.iterate(), Finished)
    assert bench.agent.called_at == [HOUR]
    assert max(clock.waits) <= 60
    assert (clock.said, bench.events) == ([], [])


def test_a_limit_that_stops_the_run_lets_no_agent_start(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, OK))
    bench.limit = UsageLimit("5-hour limit", NOON + HOUR, waits=False)

    assert bench.iterate(on_limit="wait") == Failed("limit", "5-hour limit")
    assert (bench.agent.calls, bench.events) == ([], [])


def test_a_limit_that_is_over_holds_nobody(tmp_path: Path, clock: Simulated) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, OK))
    bench.limit = UsageLimit("5-hour limit", NOON, waits=False)

    assert isinstance(bench.iterate(), Finished)


def test_a_limit_is_told_to_all_with_its_end(tmp_path: Path, clock: Simulated) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, LIMIT))

    bench.iterate(on_limit="stop")

    (event,) = bench.events
    told = limit_from({**event, "at": stamp(NOON)})
    reason = f"it was limit, until {stamp(NOON + HOUR)}"
    assert told == UsageLimit(reason, NOON + HOUR + 5, waits=False)


def test_a_usage_limit_stops_with_its_exact_end(
    tmp_path: Path, clock: Simulated
) -> None:
    told = {**LIMIT, "reason": "out of credit\n  fix: add credit"}
    bench = Bench(tmp_path, clock, Scripted(clock, told))

    outcome = bench.iterate(on_limit="stop")

    until = stamp(NOON + HOUR)
    why = f"out of credit, until {until}\n  fix: add credit"
    assert outcome == Failed("limit", why)
    assert clock.waits == []


@pytest.mark.parametrize("verdict", ["error", "denied", "interrupted"])
def test_what_no_further_attempt_mends_ends_at_once(
    tmp_path: Path, clock: Simulated, verdict: str
) -> None:
    bad = {"verdict": verdict, "reason": "the key was refused\n  fix: log in"}
    bench = Bench(tmp_path, clock, Scripted(clock, bad, OK))

    assert bench.iterate() == Failed(verdict, bad["reason"])
    assert len(bench.agent.calls) == 1


def test_what_may_pass_is_tried_again_ever_later(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, DOWN, DOWN, DOWN, OK))

    outcome = bench.iterate(attempts=4)

    assert isinstance(outcome, Finished)
    assert (outcome.iteration.number, outcome.iteration.attempts) == (1, 4)
    assert clock.waits == [2, 4, 8]
    assert verdicts(bench) == ["transient"] * 3


def test_after_the_last_attempt_nothing_is_waited_for(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, DOWN))

    assert bench.iterate(attempts=2) == Failed("transient", "it was transient")
    assert clock.waits == [2]


def test_a_limit_in_between_does_not_use_up_attempts(
    tmp_path: Path, clock: Simulated
) -> None:
    script = (DOWN, LIMIT, DOWN, LIMIT, OK)
    bench = Bench(tmp_path, clock, Scripted(clock, *script))

    assert isinstance(bench.iterate(attempts=3, on_limit="wait"), Finished)


@pytest.mark.parametrize("verdict", ["transient", "limit"])
def test_no_attempt_is_made_with_a_budget_that_the_one_before_used_up(
    tmp_path: Path, clock: Simulated, verdict: str
) -> None:
    dear = {"verdict": verdict, "cost_usd": 0.6}
    bench = Bench(tmp_path, clock, Scripted(clock, dear))

    outcome = bench.iterate(dollars=1.0, attempts=9, on_limit="wait")

    assert isinstance(outcome, Failed)
    assert outcome.verdict == "budget"
    left = [call.budget_usd for call in bench.agent.calls]
    assert left == [1.0, pytest.approx(0.4)]


def test_an_interrupt_while_waiting_makes_no_further_attempt(tmp_path: Path) -> None:
    clock = Simulated(cut=7)
    bench = Bench(tmp_path, clock, Scripted(clock, LIMIT))

    outcome = bench.iterate(on_limit="wait")

    assert outcome == CUT
    assert len(bench.agent.calls) == 1
    assert clock.waited == 6 * 60


def test_an_answer_that_was_complete_when_the_runner_ended_is_adopted(
    tmp_path: Path, clock: Simulated
) -> None:
    paid = {**OK, "cost_usd": 0.5, "raises": KeyboardInterrupt()}
    bench = Bench(tmp_path, clock, Scripted(clock, paid))
    with pytest.raises(KeyboardInterrupt):
        bench.iterate()

    outcome = bench.iterate()

    assert isinstance(outcome, Finished)
    assert outcome.iteration.cost_usd == 0.5
    assert len(bench.agent.calls) == 1
    assert bench.events == []  # else it would be paid for twice in the sums


def test_a_call_that_failed_while_nobody_looked_is_noted_once(
    tmp_path: Path, clock: Simulated
) -> None:
    killed = {**DOWN, "cost_usd": 0.5, "raises": MemoryError()}
    bench = Bench(tmp_path, clock, Scripted(clock, killed, DOWN, OK))
    with pytest.raises(MemoryError):
        bench.iterate()

    for _ in range(2):
        bench.iterate(attempts=1)

    assert [event["attempt"] for event in bench.events] == [1, 2]
    assert bench.events[0]["cost_usd"] == 0.5
    result = read_json(str(bench.attempts / "1" / "result.json"))
    assert result["verdict"] == "transient"


def test_a_call_that_never_ended_is_noted_as_interrupted(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, {"raises": MemoryError()}, OK))
    with pytest.raises(MemoryError):
        bench.iterate()

    outcome = bench.iterate()

    assert isinstance(outcome, Finished)
    assert outcome.iteration.attempts == 2
    assert verdicts(bench) == ["interrupted"]


def test_an_end_that_could_not_be_written_is_no_reason_to_pay_again(
    tmp_path: Path, clock: Simulated
) -> None:
    bench = Bench(tmp_path, clock, Scripted(clock, {}))

    with pytest.raises(StorageError):
        bench.iterate()

    assert len(bench.agent.calls) == 1
