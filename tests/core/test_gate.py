"""A gate lets through what a person approved, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.completion import RULES
from looptasks.core.gate import Answers, asked, judged, meant, typed
from looptasks.core.record import SessionRecord
from looptasks.core.sight import Sight
from looptasks.core.step import Iterate, Means, Restart, Stop, next_step
from tests.support.recorded import a_loop, event, iteration_event

GATED = a_loop(max_iterations=1, gate="user")


class Played:
    """A stage as a run would treat it, with people who answer in between."""

    def __init__(self, loop: Any = GATED) -> None:
        self.loop = loop
        self.session = SessionRecord()
        self.story: list[tuple[str, ...]] = []

    @property
    def answers(self) -> Answers:
        return self.session.stage("work").answers

    def step(self) -> Any:
        stage, rule = self.session.stage("work"), RULES[self.loop.completion]
        return next_step(self.loop, stage, Sight(), Means(), rule)

    def run(self, content: str) -> Stop:
        """Do what is due, each iteration with this content, until it stops."""
        while not isinstance(step := self.step(), Stop):
            assert isinstance(step, Iterate), step
            self.work(step.number, content)
        asks: dict[str, Any] = {} if step.gate is None else {"gate": step.gate}
        fields = {"status": step.status, "reason": step.reason, **asks}
        self.session.apply(event("stop", stage="work", **fields))
        self.story.append(("stop", step.gate or ""))
        return step

    def work(self, number: int, content: str) -> None:
        answers = self.answers
        heard = len(answers.words) if answers.unheard else 0
        more: dict[str, Any] = {
            "output": content,
            "result": f"result {number}",
            "heard": heard,
        }
        self.session.apply(iteration_event(number, **more))
        self.story.append(("work", content))

    def answer(self, decision: str, digest: str = "", by: str = "ann") -> None:
        digest = digest or self.answers.asks or ""
        words = {"feedback": "more"} if decision == "iterate" else {"reason": "so"}
        fields = {"stage": "work", "decision": decision, "by": by, "digest": digest}
        self.session.apply(event("gate", **fields, **words))
        self.story.append(("answer", decision, digest))

    def restart(self) -> None:
        self.session.apply(event("restart", stage="work", keep=0, reason="so"))
        self.story.append(("restart",))


def last_word(story: list[tuple[str, ...]], content: str) -> str:
    """Return the last word that counts on a content, by reading the whole story."""
    said = ""
    for index, (what, *more) in enumerate(story):
        if what == "answer" and more[1] == content and counts(story[:index], content):
            said = more[0]
    return said


def counts(before: list[tuple[str, ...]], content: str) -> bool:
    """Tell whether an answer is the first one to a question about that content."""
    asked_about = ""
    answered = False
    for what, *more in before:
        if what in ("work", "restart"):
            asked_about, answered = "", False
        elif what == "stop":
            asked_about = more[0]
        elif more[1] == asked_about:
            answered = answered or bool(asked_about)
    return asked_about == content and not answered


runs = st.tuples(st.just("run"), st.sampled_from("AB"))
said = st.tuples(st.just("answer"), st.sampled_from(["approve", "reject", "iterate"]))
moves = st.one_of(runs, said, said, st.just(("restart",)))


@given(st.lists(moves, max_size=14), st.sampled_from("AB"))
def test_work_passes_exactly_when_the_last_word_on_it_is_an_approval(
    moves: list[tuple[str, ...]], content: str
) -> None:
    played = Played()
    for name, *more in moves:
        if name == "answer" and played.answers.asks is None:
            continue  # commands refuse it
        getattr(played, name)(*more)
    iterations = played.session.stage("work").iterations
    due = bool(played.answers.unheard) or not iterations
    before = content if due else iterations[-1].output
    word = last_word(played.story, before)
    stop = played.run(content)
    if word == "approve":
        assert stop.status == "complete"
    elif word == "reject" and not due and rejected_as_it_is(played.story):
        assert (stop.status, stop.reason) == ("failed", "rejected by ann: so")
    else:
        assert (stop.status, stop.gate) == ("waiting", before)


def rejected_as_it_is(story: list[tuple[str, ...]]) -> bool:
    """Tell whether the work of now, and not an equal one before, was rejected."""
    moved = max(i for i, (what, *_) in enumerate(story) if what == "work")
    return any(said[:2] == ("answer", "reject") for said in story[moved:])


@given(
    st.lists(st.sampled_from(["approve", "reject", "iterate"]), min_size=1, max_size=5)
)
def test_the_first_answer_decides_whatever_is_answered_later(
    answers: list[str],
) -> None:
    played, alone = Played(), Played()
    for player, given_answers in ((played, answers), (alone, answers[:1])):
        player.run("A")
        for number, decision in enumerate(given_answers):
            player.answer(decision, by=f"p{number}")
    first = played.step()
    if answers[0] == "iterate":
        assert first.number == 2
        assert first.reason.startswith("feedback by p0")
    else:
        assert first == alone.step()


def test_an_iterate_brings_one_more_iteration_and_the_question_again() -> None:
    played = Played()
    played.run("A")
    played.answer("iterate")
    assert played.step() == Iterate(2, "feedback by ann")
    assert played.run("A").gate == "A"
    assert len(played.session.stage("work").iterations) == 2
    assert played.run("A").gate == "A"
    played.answer("approve")
    assert played.run("A").status == "complete"


def test_an_approval_outlives_a_restart_but_not_a_change() -> None:
    played = Played()
    played.run("A")
    played.answer("approve")
    played.restart()
    assert played.run("A").status == "complete"
    played.restart()
    assert played.run("B").gate == "B"
    played.restart()
    assert played.run("A").status == "complete"


def test_a_rejection_is_of_that_work_and_not_of_its_like() -> None:
    played = Played()
    played.run("A")
    played.answer("reject")
    assert played.run("A").status == "failed"
    assert played.run("A").status == "failed"
    played.restart()
    assert played.run("A").gate == "A"


def test_feedback_without_a_gate_is_heard_once_even_beyond_the_limit() -> None:
    loop = a_loop(completion="validated", validate="make", max_iterations=2)
    played = Played(loop)
    for number in (1, 2):
        failing: dict[str, Any] = {"validation": {"command": "make", "exit_code": 1}}
        played.session.apply(iteration_event(number, **failing))
    assert played.step().status == "failed"
    told = {"stage": "work", "by": "bob", "feedback": "so", "iteration": 2}
    played.session.apply(event("feedback", **told))
    assert played.step() == Iterate(3, "feedback by bob")
    played.session.apply(iteration_event(3, heard=1, **failing))
    assert played.step().status == "failed"
    played.session.apply(event("feedback", **told))
    assert played.step().number == 4
    passing: dict[str, Any] = {"validation": {"command": "make", "exit_code": 0}}
    played.session.apply(iteration_event(4, heard=2, **passing))
    assert played.step().status == "complete"


def test_feedback_given_while_an_agent_works_is_left_for_the_next() -> None:
    played = Played(a_loop(max_iterations=1))
    played.session.apply(iteration_event(1))
    for text in ("one", "two"):
        told = {"stage": "work", "by": "bob", "feedback": text, "iteration": 1}
        played.session.apply(event("feedback", **told))
    played.session.apply(iteration_event(2, heard=1))  # it had started after the first
    assert [word.feedback for word in played.answers.unheard] == ["two"]
    assert played.step().number == 3


def test_feedback_that_nobody_heard_outlives_a_restart() -> None:
    played = Played(a_loop(max_iterations=1))
    played.session.apply(iteration_event(1))
    told = {"stage": "work", "by": "bob", "feedback": "so", "iteration": 1}
    played.session.apply(event("feedback", **told))
    played.restart()
    assert played.step() == Iterate(1, "0 of 1 iteration done")
    played.work(1, "A")
    assert played.answers.unheard == ()
    assert played.step().status == "complete"


def test_feedback_on_approved_work_takes_the_approval_back() -> None:
    played = Played()
    played.run("A")
    played.answer("approve")
    played.run("A")
    told = {"stage": "work", "by": "bob", "feedback": "so", "digest": "A"}
    played.session.apply(event("feedback", iteration=1, **told))
    assert played.run("A").gate == "A"


def test_a_pause_holds_feedback_back() -> None:
    played = Played()
    played.run("A")
    played.answer("iterate")
    stage, rule = played.session.stage("work"), RULES["fixed-n"]
    held = next_step(GATED, stage, Sight(), Means(signal="pause"), rule)
    assert held == Stop("paused", "pause")


@pytest.mark.parametrize("status", ["failed", "waiting"])
def test_only_complete_work_is_asked_about(status: str) -> None:
    loop = a_loop(
        completion="validated",
        validate="make",
        max_iterations=1,
        gate="user",
        budget_usd=1.0 if status == "waiting" else None,
    )
    played = Played(loop)
    failing: dict[str, Any] = {"cost_usd": 2.0}
    failing["validation"] = {"command": "make", "exit_code": 1}
    played.session.apply(iteration_event(1, **failing))
    if status == "waiting":
        played.loop = loop._replace(max_iterations=2)
    step = played.step()
    assert (step.status, step.gate) == (status, None)


def test_without_a_gate_nobody_is_asked() -> None:
    assert asked(a_loop(), Answers(), "A").verdict == "pass"
    assert asked(GATED, Answers(), "A").verdict == "ask"


def test_a_stage_that_hands_on_all_its_answers_is_judged_by_all() -> None:
    loop = a_loop(perspectives=["x", "y"], gate="user")
    record = SessionRecord()
    record.apply_all([iteration_event(n, output=o) for n, o in ((1, "A"), (2, "B"))])
    both = judged(loop, record.stage("work").iterations)
    record.apply(iteration_event(1, output="C"))
    assert judged(loop, record.stage("work").iterations) != both
    assert judged(GATED, record.stage("work").iterations) == "B"


def test_stale_work_is_mended_before_anybody_is_asked() -> None:
    played = Played(a_loop(max_iterations=2, gate="user"))
    played.session.apply_all([iteration_event(n) for n in (1, 2)])
    played.session.apply(iteration_event(1, result="new"))
    assert isinstance(played.step(), Restart)


names = st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,5}", fullmatch=True), min_size=1)


@given(names)
def test_a_stage_is_found_by_what_is_printed_of_it(parts: list[str]) -> None:
    stage = "/".join(parts)
    if parts[0] in ("stage", "loop", "bead", "beads") and len(parts) > 1:
        return
    assert meant(typed(stage)) == stage
    assert meant(f"stage:{typed(stage)}") == stage
