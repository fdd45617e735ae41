"""A course: how one stage goes in one run, decided from record and project.

Running, listing and explaining all ask here, so that they cannot disagree.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from looptasks.core.completion import Workload
from looptasks.core.gate import commands
from looptasks.core.pipeline import Pipeline, Stage
from looptasks.core.prompt import variables
from looptasks.core.request import Request
from looptasks.core.sight import Sight, relevant
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import (
    Iterate,
    Means,
    Restart,
    Step,
    Stop,
    first_step,
    held_back,
    next_step,
)
from looptasks.core.taskname import iteration_task
from looptasks.effects.files import make_folder
from looptasks.plugin.lookout import Lookout
from looptasks.plugin.rules import rule_of
from looptasks.plugin.urgency import AT_ONCE
from looptasks.plugin.workplace import Workplace

if TYPE_CHECKING:
    from looptasks.core.job import Job


class Course(Lookout):
    """A stage on its way: what it rests on, and what it does next."""

    def __init__(
        self,
        place: Workplace,
        pipeline: Pipeline,
        stage: Stage,
        request: Request,
        *,
        forced: bool = False,
    ) -> None:
        super().__init__(place, pipeline, stage, request, forced=forced)
        self.rule = rule_of(stage.loop)
        self._sight: Sight | None = None
        self.given_up: frozenset[str] = frozenset()
        self.after: tuple[str, ...] = ()

    @property
    def record(self) -> StageRecord:
        """What the ledger says of the stage by now."""
        return self.place.record().stage(self.stage.name)

    def step(self) -> Step:
        """Say what the stage does next."""
        if self.place.news():
            return Stop("held", "something new comes first")
        if above := self._unready():
            return Stop("held", f"waits for {above}")
        return self.own_step()

    def own_step(self) -> Step:
        """Say what the stage does next, once all that it rests on is through."""
        record = self.record
        if (stop := self._stopped()) is not None:
            return stop
        if self._sight is None:
            self._sight = self.look(record)
            restart = first_step(self.stage.loop, record, self._sight)
            if restart is not None:
                # What cannot be done again now is not taken down either.
                held = held_back(self.stage.loop, record, self._means())
                return held or restart
        return self.next_step(record)

    def _unready(self) -> str:
        """Name a stage with instances that this one rests on and that is not through.

        doit does not say: such a stage lets others go on, whatever became of it.
        """
        for name in (*self.stage.inputs, *self.stage.after):
            above = self.pipeline.stage(name)
            if above is None or not above.parent:
                continue
            status = self.place.record().stage(name).status
            if status != "complete" or name in self.place.resting:
                return f"{above.task} ({status})"
        return ""

    def _stopped(self) -> Stop | None:
        """Return how the stage stopped in this very run: it is not tried again."""
        session, record = self.place.record(), self.record
        since = max(session.run_at, record.touched)
        if not self.place.owned or record.stopped <= since:
            return None
        for event in reversed(session.stops):
            if event["stage"] == self.stage.name and event["status"] != "complete":
                how = event["status"], event["reason"], event.get("fix", "")
                return Stop(*how, event.get("gate"))
        return None

    def next_step(self, record: StageRecord) -> Step:
        """Say what comes next, staleness aside."""
        loop = self.stage.loop
        sight = self.sight._replace(
            missing=self.place.missing(loop.writes),
            evidence=self.sight.evidence._replace(
                checked=record.checked, workload=self._workload()
            ),
        )
        step = next_step(loop, record, sight, self._means(), self.rule)
        if isinstance(step, Stop) and step.gate is not None:
            way = commands(self.stage.name, self.place.session)[0]
            return step._replace(reason=f"{step.reason}: {way}")
        return step

    @property
    def sight(self) -> Sight:
        """What was seen of the project when the stage's turn came."""
        if self._sight is None:
            self._sight = self.look(self.record)
        return self._sight

    def look_again(self) -> None:
        """Forget what was seen, because time has passed or the owner changed."""
        self._sight = None

    def _workload(self) -> Workload | None:
        if self.stage.loop.completion != "beads-empty":
            return None
        if self.place.owned:
            # The agent of the last iteration is gone, whatever it had claimed.
            self.place.beads.release_dead()
        idle = not self.place.owned and self.place.lock.owner() is None
        return self.place.beads.workload(idle=idle)

    def _means(self) -> Means:
        record, signal = self.place.record(), None
        if record.signals.standing:
            # Before this run owns it, a stop was meant for a run that is over.
            owned = self.place.owned
            signal = record.signals.asked(self.subject(), stops=owned)
        return Means(
            spent=record.spending(),
            budget_usd=self.request.budget,
            signal=signal.asked if signal else "",
            limit=self.place.limited(),
        )

    def job(self, step: Iterate) -> "Job":
        """Return the iteration that is due, with all that it rests on."""
        from looptasks.core.job import Job  # noqa: PLC0415 - a no-op has none
        from looptasks.core.passes import pass_at  # noqa: PLC0415 - as above

        record, loop = self.record, self.stage.loop
        left = None
        if loop.time_limit is not None:
            left = max(loop.time_limit - record.spending.seconds, 0.1)
        fresh = step.number > len(record.iterations)
        before = record.iterations if fresh else record.iterations[: step.number - 1]
        now = pass_at(loop, before)
        return Job(
            session=self.place.session,
            stage=self.stage,
            number=step.number,
            item=step.item or now,
            pass_name=now,
            goal=self.request.goal or "",
            inputs=relevant(loop, self.sight.inputs),
            items=self.sight.evidence.items,
            generation=record.generation,
            history=before,
            failures=record.failures,
            seconds_left=left,
            env=dict(self.environment(step)) | ({"LOOP_PASS": now} if now else {}),
            variables=self.variables(),
            since=self.sight.since,
            words=record.answers.unheard,
            heard=len(record.answers.words) if record.answers.unheard else 0,
            dollars_left=self._dollars_left(record),
            subject=self.subject(),
        )

    def _dollars_left(self, record: StageRecord) -> float | None:
        session = self.place.record().spending()
        limits = (
            (self.stage.loop.budget_usd, record.spending),
            (self.request.budget, session),
        )
        left = [limit - spent.cost_usd for limit, spent in limits if limit is not None]
        return min(left, default=None)

    def variables(self) -> dict[str, str]:
        """Return the prompt variables that are not in files."""
        if "BD" not in variables(self.stage.loop.texts):
            return {}
        return {"BD": self.place.beads.command()}

    def environment(self, step: Iterate) -> Iterator[tuple[str, str]]:
        """Yield what the stage's agent finds in its environment."""
        from looptasks.core.fan import actor_of  # noqa: PLC0415 - a no-op starts nobody

        for prefix in ("CLAUDE_LOOP", "LOOP"):
            yield f"{prefix}_SESSION", self.place.session
            yield f"{prefix}_TYPE", self.stage.loop.name
        yield "CLAUDE_LOOP_AGENT", "1"
        yield "LOOP_AGENT_RUN", "1"
        yield "LOOP_ITERATION", str(step.number)
        yield "LOOPTASKS_RUN", self.place.run
        yield "BD_ACTOR", actor_of(self.place.session)
        if "BD" in variables(self.stage.loop.texts) or self.place.uses_beads():
            # One home, however many worktrees there are.
            yield "BEADS_DIR", self.place.beads.folder
        if step.item and (self.stage.loop.items or not self.stage.loop.passes):
            yield "LOOP_ITEM", step.item

    def begin(self) -> None:
        """Note in the ledger what the stage starts from, if it starts."""
        make_folder(self.place.folder.stage(self.stage.name))
        if self.record.started_at is None:
            self.place.event(
                "stage",
                stage=self.stage.name,
                loop=self.stage.loop.name,
                inputs=dict(self.sight.inputs),
                items=list(self.sight.evidence.items),
            )

    def supersede(self, step: Restart) -> None:
        """Move what is stale to the archive, then say so in the ledger."""
        place, name = self.place, self.stage.name
        count = len(self.record.iterations)
        if step.keep == 0:
            where = place.folder.archive_stage(name, place.now())
        else:
            where = place.folder.archive_iterations(name, step.keep, count, place.now())
        place.event(
            "restart", stage=name, keep=step.keep, reason=step.reason, archive=where
        )

    def derive_last(self) -> None:
        """Write the last good iteration's files again if a crash came before them."""
        record = self.record
        if count := record.certified():
            self.place.folder.derive(self.stage.name, record.iterations[count - 1])

    def targets(self) -> list[str]:
        """Return the files that this stage, and no later one, makes for good."""
        stages = self.pipeline.stages
        after = stages[stages.index(self.stage) + 1 :]
        later = {path for stage in after for path in stage.loop.writes}
        return [p for p in self.stage.loop.writes if p not in later | self.given_up]

    def turn(self) -> dict[str, Any]:
        """Return when an iteration that is due gets its slot: what is begun goes on."""
        return {"urgency": (AT_ONCE,)}

    def task(self, number: int) -> str:
        """Return the name of an iteration's task."""
        return iteration_task(self.stage.task, number)

    def path(self, *names: str) -> str:
        """Return a path below the stage's folder, relative to the project."""
        return self.place.folder.relative(self.stage.name, *names)
