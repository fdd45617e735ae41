"""A bead's course: a loop for one bead, on its way like any other stage."""

from collections.abc import Iterator, Mapping
from typing import Any

from looptasks.core.bead_inputs import as_begun
from looptasks.core.bead_text import bead_text
from looptasks.core.fan import SeenBead, actor_of, folder_of, task_of, why_due
from looptasks.core.job import Job, Site
from looptasks.core.pipeline import Stage
from looptasks.core.selector import Subject
from looptasks.core.stage_record import StageRecord
from looptasks.core.step import Iterate
from looptasks.plugin.course import Course


class BeadCourse(Course):
    """The course of one bead in a stage that fans out over beads."""

    def __init__(self, parent: Course, bead: str, *, isolated: bool) -> None:
        self.bead_id = bead
        self.isolated = isolated
        self.parent = parent
        self._site: Site | None = None
        stage = Stage(
            name=folder_of(bead),
            task=task_of(bead),
            loop=parent.stage.loop,
            inputs=(),
            folder=parent.stage.folder,
            digest=parent.stage.digest,
        )
        super().__init__(
            parent.place, parent.pipeline, stage, parent.request, forced=parent.forced
        )

    @property
    def bead(self) -> SeenBead:
        """The bead as the tracker has it by now."""
        return self.place.beads.seen()[self.bead_id]

    def _inputs(self) -> dict[str, str]:
        seen = self.place.beads.seen()
        blockers = [b for b in self.bead.blockers if b in seen]
        self.stage = self.stage._replace(inputs=tuple(map(folder_of, blockers)))
        found = {**super()._inputs(), "bead": self.bead.digest}
        return as_begun(self.record, found, blockers, self._output)

    def _output(self, bead: str) -> str:
        return self.place.folder.relative(folder_of(bead), "output", "")

    def _known(self, reads: Mapping[str, str], record: StageRecord) -> dict[str, str]:
        # Beads of one session change each other's files all the time.
        del record
        return dict(reads)

    def upstream(self) -> frozenset[str]:
        """Return the names of all that the bead rests on."""
        above = self.pipeline.upstream(self.parent.stage.name)
        return above.union(map(folder_of, self.bead.blockers))

    def subject(self) -> Subject:
        """Return the bead as selectors see it."""
        return super().subject()._replace(within=self.parent.stage.name)

    def turn(self) -> dict[str, Any]:
        """Return when an iteration that is due gets its slot."""
        return {**super().turn(), **kind_of(self.parent)}

    def targets(self) -> list[str]:
        """Return no files: several beads may write the same."""
        return []

    def stale_for(self, record: StageRecord) -> tuple[str, ...]:
        """Start again when a finished bead was opened again."""
        why = why_due(self.bead, record, self.place.session)
        reopened = record.status == "complete" and why == "it was re-opened"
        return (why,) if reopened and why else ()

    def begin(self) -> None:
        """Claim the bead, opening it again if it was closed."""
        beads = self.place.beads
        if self.bead.status == "closed":
            # First of all: a crash right after this leaves a bead that is due.
            beads.tracker.reopen(self.bead_id, "its work is done again")
        if self.bead.status == "open":
            beads.claim(self.bead_id)
        super().begin()

    def job(self, step: Iterate) -> Job:
        """Return the iteration that is due, in the bead's own worktree if any."""
        job = super().job(step)._replace(bead=self.bead_id)
        if not self.isolated:
            return job
        if self._site is None:
            from looptasks.plugin.worksite import site_for  # noqa: PLC0415 - git

            # Only once: a merge that waits for its agent must be left as it is.
            self._site = site_for(self.place, self.bead_id, self.bead.title)
        return job._replace(site=self._site)

    def variables(self) -> dict[str, str]:
        """Return the prompt variables that tell of the bead."""
        text = bead_text(self.place.beads.bead(self.bead_id))
        return {
            "BEAD": text,
            "BEAD_ID": self.bead_id,
            "BD": self.place.beads.command(),
            "ITEM": text,
        }

    def environment(self, step: Iterate) -> Iterator[tuple[str, str]]:
        """Yield what the agent of the bead finds in its environment."""
        yield from super().environment(step)
        yield "LOOP_BEAD", self.bead_id
        yield "BD_ACTOR", actor_of(self.place.session, self.bead_id)


def kind_of(stage: Course) -> dict[str, Any]:
    """Return the mark of work of which a stage allows only so much at once."""
    limit = stage.stage.loop.at_once
    return {"kind": (stage.stage.name, limit)} if limit else {}
