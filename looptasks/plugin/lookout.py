"""A lookout: sees what a stage works from, and how that was when it last looked."""

from collections.abc import Iterable, Mapping

from looptasks.core.completion import Evidence
from looptasks.core.digest import of_bytes
from looptasks.core.pipeline import Pipeline, Stage
from looptasks.core.prompt import variables
from looptasks.core.request import Request
from looptasks.core.selector import Subject
from looptasks.core.sight import Sight
from looptasks.core.stage_record import StageRecord
from looptasks.plugin.workplace import Workplace


class Lookout:
    """A stage in its place; `forced` is whether all of it is to be done again."""

    def __init__(
        self,
        place: Workplace,
        pipeline: Pipeline,
        stage: Stage,
        request: Request,
        *,
        forced: bool = False,
    ) -> None:
        self.place = place
        self.pipeline = pipeline
        self.stage = stage
        self.request = request
        self.forced = forced
        self._listed: tuple[str, ...] = ()
        self._sight: Sight | None = None

    @property
    def record(self) -> StageRecord:
        """What the ledger says of the stage by now."""
        return self.place.record().stage(self.stage.name)

    @property
    def sight(self) -> Sight:
        """What was seen of the project when the stage's turn came."""
        if self._sight is None:
            self._sight = self.look(self.record)
        return self._sight

    def look_again(self) -> None:
        """Forget what was seen, because time has passed or the owner changed."""
        self._sight = None

    def look(self, record: StageRecord) -> Sight:
        """See what the stage works from."""
        folder = self.place.folder
        for number in folder.lost(self.stage.name, len(record.iterations)):
            record.forget(number, "its output is gone")
        reads = self.place.digests(self.stage.loop.reads)
        return Sight(
            inputs=self._inputs(),
            reads=reads,
            known_reads=self._known(reads, record),
            evidence=Evidence(items=self._items(record)),
            forced=self.forced and not self._is_begun(record),
            stale=self.stale_for(record),
            since=len(record.iterations),
        )

    def _is_begun(self, record: StageRecord) -> bool:
        """Tell whether this very run has begun the stage: an earlier round has."""
        return self.place.owned and record.begun > self.place.record().run_at

    def stale_for(self, record: StageRecord) -> tuple[str, ...]:
        """Return reasons to start again that are not in files."""
        del record
        return ()

    def _inputs(self) -> dict[str, str]:
        loop = self.stage.loop
        inputs: dict[str, str] = {}
        for name in self.stage.inputs:
            inputs |= self.place.folder.outputs(name)
        if "GOAL" in variables(loop.texts):
            inputs["goal"] = of_bytes((self.request.goal or "").encode())
        inputs["prompt"] = of_bytes(loop.prompt.encode())
        inputs["config"] = self.stage.digest
        return inputs

    def _known(self, reads: Mapping[str, str], record: StageRecord) -> dict[str, str]:
        name, session = self.stage.name, self.place.record()
        watched = self._watched(reads, record)
        upstream = self.upstream() if watched else frozenset[str]()
        return {path: session.baseline(name, path, upstream) for path in watched}

    def upstream(self) -> frozenset[str]:
        """Return the names of all that the stage rests on."""
        return self.pipeline.upstream(self.stage.name)

    def subject(self) -> Subject:
        """Return the stage as selectors see it."""
        return Subject(self.stage.name, self.upstream())

    def _watched(self, reads: Mapping[str, str], record: StageRecord) -> Iterable[str]:
        """Return the files that the stage has looked for before, gone ones too."""
        loop = self.stage.loop
        if record.reads is None or not (record.left or record.reads or loop.reads):
            return ()
        if list(record.reads) != list(loop.reads):
            # A file that is only now named is no change.
            return self.place.digests(set(record.reads) & set(loop.reads))
        unseen = set(record.left).difference(reads, loop.writes)
        return [*reads, *self.place.missing(unseen)]

    def _items(self, record: StageRecord) -> tuple[str, ...]:
        if self.stage.loop.items is None:
            return ()
        from looptasks.plugin.items import items_of  # noqa: PLC0415

        known = record.items or self._listed
        self._listed = items_of(self.stage, self.place.root, known)
        return self._listed
