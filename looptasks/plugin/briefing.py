"""A briefing: all that the agent of an iteration is given to know."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from looptasks.core.prompt import variables
from looptasks.core.sight import relevant
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate
from looptasks.plugin.lookout import Lookout

if TYPE_CHECKING:
    from looptasks.core.job import Job


class Briefing(Lookout):
    """A stage that can say what its next iteration works from."""

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
        asked, found = variables(self.stage.loop.texts), {}
        if "BD" in asked:
            found["BD"] = self.place.beads.command()
        if "ARTIFACT.previous" in asked and (path := self._superseded()):
            found["ARTIFACT.previous"] = path
        return found

    def _superseded(self) -> str:
        """Return the artifact of the work that this begins anew, if it had one."""
        record, place = self.record, self.place
        if not record.superseded or any(i.artifact for i in record.iterations):
            return ""
        name = f"{self.stage.loop.artifact}.json"
        path = os.path.join(place.root, record.superseded, "output", name)
        return path if os.path.exists(path) else ""

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
