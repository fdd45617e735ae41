"""The tools of an iteration: the effects that its runner calls, for one stage."""

from collections.abc import Callable
from typing import Any

from looptasks.core.agent import Agent
from looptasks.core.artifact import Inspection
from looptasks.core.job import Failed, Job, Project, Tools
from looptasks.core.pipeline import Stage
from looptasks.core.selector import Subject
from looptasks.effects.iteration_folder import IterationFolder
from looptasks.plugin.agents import agent_for, judging
from looptasks.plugin.processes import processes
from looptasks.plugin.rules import rule_of
from looptasks.plugin.workplace import Workplace


class _StageLedger:
    """The ledger as one stage's iterations write to it."""

    def __init__(self, place: Workplace, stage: str) -> None:
        self._place = place
        self._stage = stage

    def event(self, event: str, **fields: Any) -> None:
        """Append an event of the stage."""
        self._place.event(event, stage=self._stage, **fields)


class _StageClock:
    """The clock as one stage's iterations wait by it."""

    def __init__(self, place: Workplace, subject: Subject) -> None:
        self._place = place
        self._subject = subject
        self.now = place.now

    def pause(self, seconds: float, why: str) -> Failed | None:
        """Wait, saying why if that is worth a word; return what cut it short."""
        return self._place.pause(seconds, why, self._subject)


def tools_for(place: Workplace, job: Job, recording: str | None) -> Tools:
    """Return the effects of one iteration, wired together."""
    stage = job.stage
    name = stage.name
    folder = IterationFolder(
        place.folder,
        (name, stage.loop.validate, stage.inputs),
        job.number,
        lambda iteration: place.put(name, iteration),
        place.now,
    )
    folder.durable |= stage.loop.judge is not None
    watched = stage.loop.completion == "beads-empty"
    project, integrate = _project(place, job, folder.log())
    return Tools(
        agent=agent_for(stage, place.root, recording, place.interrupted.is_set),
        folder=folder,
        project=project,
        workload=place.beads.workload if watched else lambda: None,
        integrate=integrate,
        processes=processes(),
        ledger=_StageLedger(place, name),
        clock=_StageClock(place, job.subject),
        limit=lambda: place.record().limit,
        inspect=_inspector(place, stage, folder.artifact),
        judge=_judge(place, stage, recording),
        rule=rule_of(stage.loop),
    )


def _inspector(
    place: Workplace, stage: Stage, path: str
) -> Callable[[str], Inspection] | None:
    if not stage.loop.artifact:
        return None
    from looptasks.effects.artifact_answer import inspected  # noqa: PLC0415 - seldom

    kind = stage.loop.artifact, stage.loop.entries
    return lambda answer: inspected(place.root, kind, path, answer)


def _judge(place: Workplace, stage: Stage, recording: str | None) -> Agent | None:
    if stage.loop.judge is None:
        return None
    stopped = place.interrupted.is_set
    return agent_for(judging(stage), place.root, recording, stopped)


def _project(
    place: Workplace, job: Job, log: str
) -> tuple[Project, Callable[[], str] | None]:
    if job.site is None:
        return place, None
    from looptasks.plugin.worksite import Worksite  # noqa: PLC0415 - git is seldom

    site = Worksite(place, job, job.site, log)
    site.catch_up()
    return site, site.integrate
