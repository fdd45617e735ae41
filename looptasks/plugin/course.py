"""A course: how one stage goes in one run, decided from record and project.

Running, listing and explaining all ask here, so that they cannot disagree.
"""

from typing import Any

from looptasks.core.completion import Workload
from looptasks.core.gate import commands
from looptasks.core.spending import Spending
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import (
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
from looptasks.plugin.briefing import Briefing
from looptasks.plugin.rules import rule_of
from looptasks.plugin.urgency import AT_ONCE


class Course(Briefing):
    """A stage on its way: what it rests on, and what it does next.

    `after` are the tasks that it waits for, `given_up` files that a later one makes.
    """

    given_up: frozenset[str] = frozenset()
    after: tuple[str, ...] = ()

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
        step = next_step(loop, record, sight, self._means(), rule_of(loop))
        if isinstance(step, Stop) and step.gate is not None:
            way = commands(self.stage.name, self.place.session)[0]
            return step._replace(reason=f"{step.reason}: {way}")
        return step

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
        budget = self.request.budget
        return Means(
            spent=Spending() if budget is None else record.spending(),
            budget_usd=budget,
            signal=signal.asked if signal else "",
            limit=self.place.limited(),
        )

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
