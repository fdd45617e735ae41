"""Gates: who is asked what in a session, and how an answer gets into its ledger."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from looptasks.core.gate import ON_COMMAND_LINE, Answer, approved_now, commands, typed
from looptasks.core.gate_view import view
from looptasks.core.suggestion import did_you_mean, listed
from looptasks.effects.gate_files import GateFiles
from looptasks.errors import UsageError
from looptasks.plugin.engagement import Engagement
from looptasks.plugin.workplace import Workplace


class AlreadyAnswered(UsageError):  # noqa: N818 - a state of the gate
    """Somebody else was first."""


class Question(NamedTuple):
    """What a person is asked about: `digest` of a stage's work, `since` when."""

    stage: str
    digest: str
    iterations: int
    since: str

    def fields(self, session: str) -> dict[str, Any]:
        """Return it for programs."""
        ways = commands(self.stage, session)
        return {**self._asdict(), "commands": list(ways)}


def questions(place: Workplace) -> list[Question]:
    """Return all that people are asked in a session and have not answered."""
    return [
        Question(name, stage.answers.asks or "", len(stage.iterations), since)
        for name, stage in place.record().stages.items()
        if stage.answers.open and (since := stage.answers.since)
    ]


def waiting_gates(engaged: Engagement) -> list[Question]:
    """Return what people are asked about the entries of a run."""
    stages = [s.name for p in engaged.pipelines.values() for s in p.stages]
    tops = {*stages, "beads"}
    found = questions(engaged.place)
    return [asked for asked in found if asked.stage.partition("/")[0] in tops]


def shown(place: Workplace, asked: Question, *, ways: bool = True) -> Iterator[str]:
    """Yield what a person is shown of a question."""
    seen: tuple[Any, str, str] = (None, "", "")
    if asked.iterations:
        seen = GateFiles(place.folder).shown(asked.stage, asked.iterations)
    return view(asked.stage, place.session, seen, ways=ways)


def answer(place: Workplace, stage: str, given: Answer) -> Answer:
    """Put a person's answer into the ledger, if it is the first; return it."""
    files = GateFiles(place.folder)
    with files.guard():
        record = place.record().stage(stage)
        answers = record.answers
        if answers.asks is None and given.decision == "iterate":
            refuse_unmade(place, stage)
            _tell(place, stage, given)
        else:
            _refuse(place, stage)
            given = given._replace(
                digest=answers.asks or "", iteration=len(record.iterations)
            )
            _record(place, stage, given)
        return derive(place, stage) or given


def _refuse(place: Workplace, stage: str) -> None:
    record = place.record().stage(stage)
    answers = record.answers
    if answers.asks is None:
        done = f" ({answers.latest.spoken()})" if answers.latest else ""
        raise UsageError(
            f"`{typed(stage)}` does not wait for an answer, it is "
            f"{record.status}{done}",
            fix=f"`{commands(stage, place.session)[2]}` has more done"
            if record.iterations
            else "",
        )
    if answers.last is not None:
        raise AlreadyAnswered(
            f"`{typed(stage)}` was already answered: {answers.last.spoken()}",
            fix=f"`{again(place)}` goes on with that; after it, "
            f"`{commands(stage, place.session)[2]}` has more done",
        )


def refuse_unmade(place: Workplace, stage: str) -> None:
    """Raise when nothing was made that feedback could be about."""
    if not place.record().stage(stage).iterations:
        raise UsageError(
            f"`{typed(stage)}` has no iterations yet that feedback could be about",
            fix=f"run it first: `{again(place)}`",
        )


def _record(place: Workplace, stage: str, given: Answer) -> None:
    fields = {k: v for k, v in given._asdict().items() if k != "at"}
    place.event("gate", durable=True, stage=stage, **fields)


def _tell(place: Workplace, stage: str, given: Answer) -> None:
    record = place.record().stage(stage)
    place.event(
        "feedback",
        durable=True,
        stage=stage,
        by=given.by,
        feedback=given.feedback,
        digest=approved_now(record.answers, record.iterations),
        iteration=len(record.iterations),
    )


def derive(place: Workplace, stage: str) -> Answer | None:
    """Write the newest answer about a stage into its file, and return it."""
    latest = place.record().stage(stage).answers.latest
    if latest is not None:
        value = {"schema": 1, "session": place.session, "stage": stage}
        GateFiles(place.folder).write(stage, value | latest._asdict())
    return latest


def approve_at_once(place: Workplace, stage: str, digest: str) -> None:
    """Approve what a run has come to, because its command line said so."""
    given = Answer(
        "approve",
        ON_COMMAND_LINE,
        place.now(),
        digest=digest,
        iteration=len(place.record().stage(stage).iterations),
    )
    with GateFiles(place.folder).guard():
        if place.record().stage(stage).answers.last is None:
            _record(place, stage, given)
            derive(place, stage)


def again(place: Workplace) -> str:
    """Return the command that lets a session go on."""
    names = " ".join(event["entry"] for event in place.record().entries)
    return f"doit {names} session={place.session}"


def stage_meant(place: Workplace, name: str) -> str:
    """Return the stage of that name, or say which there are."""
    record = place.record()
    planned = [s for event in record.entries for s in event.get("stages", ())]
    known = list(dict.fromkeys([*planned, *record.stages]))
    if name not in known:
        words = [typed(stage) for stage in known]
        raise UsageError(
            f"session `{place.session}` has no stage `{typed(name)}`"
            f"{did_you_mean(typed(name), words)}",
            fix=f"there are {listed(words)}",
        )
    return name
