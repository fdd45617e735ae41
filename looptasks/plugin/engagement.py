"""An engagement: one command's session, with the entries that it is about."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from looptasks import __version__
from looptasks.core.pipeline import Pipeline, Stage, fanning
from looptasks.core.record import SessionRecord
from looptasks.core.request import Request, remembered
from looptasks.core.session import checked_name, find, new_name
from looptasks.core.suggestion import did_you_mean, listed
from looptasks.core.taskname import TaskName, parsed
from looptasks.effects.session_folder import session_names
from looptasks.effects.yaml_declarations import available, load
from looptasks.errors import LoopError, UsageError
from looptasks.plugin.course import Course
from looptasks.plugin.workplace import Workplace, workplace

_ENTRIES = ("loop", "pipeline")


class Engagement:
    """A session, what is asked of it, and the pipelines that it runs.

    `shown` are the digests of what a person has been asked about right here.
    """

    def __init__(self, place: Workplace, request: Request) -> None:
        self.place = place
        self.request = request
        self.pipelines: dict[str, Pipeline] = {}
        self.requests: dict[str, Request] = {}
        self.shown: set[str] = set()

    def take_on(self, entry: str) -> None:
        """Load an entry's declarations, with what was asked of it before."""
        if entry in self.pipelines:
            return
        request = remembered(self.request, _asked_before(self.place.record(), entry))
        pipeline = load(self.place.root, entry, overrides=request.settings())
        self._refuse_clash(pipeline)
        self._refuse_other_fan(pipeline)
        self.pipelines[entry] = pipeline
        self.requests[entry] = request

    def take_on_recorded(self) -> None:
        """Load the entries that the session already has."""
        for event in self.place.record().entries:
            self.take_on(event["entry"])

    def _refuse_clash(self, pipeline: Pipeline) -> None:
        names = {e["entry"]: e.get("stages", ()) for e in self.place.record().entries}
        for entry, other in self.pipelines.items():
            names[entry] = [stage.name for stage in other.stages]
        for entry, taken in names.items():
            both = {stage.name for stage in pipeline.stages}.intersection(taken)
            if entry != pipeline.entry and both:
                raise UsageError(
                    f"session `{self.place.session}` already has a stage "
                    f"{listed(sorted(both))}, of {entry}",
                    where=pipeline.entry,
                    fix="give the stage another name, or use another session",
                )

    def _refuse_other_fan(self, pipeline: Pipeline) -> None:
        """Raise when two entries would work through the same beads."""
        mine = fanning(pipeline)
        others = self._other_fans(pipeline.entry) if mine else []
        if others:
            name, entry = others[0]
            raise UsageError(
                f"`{mine[0]}` works through the beads of session "
                f"`{self.place.session}`, and so does `{name}` of {entry}",
                where=pipeline.entry,
                fix="use another session for one of them; each has beads of its own, "
                "by the label `loop/SESSION`",
            )

    def _other_fans(self, mine: str) -> list[tuple[str, str]]:
        """Return the stages over beads of the session's other entries."""
        entries = {event["entry"] for event in self.place.record().entries}
        found = []
        for entry in sorted({*entries, *self.pipelines} - {mine}):
            with suppress(LoopError):  # what is gone cannot be run either
                other = self.pipelines.get(entry) or load(self.place.root, entry)
                found += [(name, entry) for name in fanning(other)]
        return found

    def courses(self, entry: str, *, forced: bool = False) -> list[Course]:
        """Return the courses of an entry's stages, in their order."""
        pipeline, request = self.pipelines[entry], self.requests[entry]
        return [
            Course(self.place, pipeline, stage, request, forced=forced)
            for stage in pipeline.stages
        ]

    def entry_of(self, name: TaskName) -> str:
        """Return the entry that a task of ours belongs to."""
        if name.kind in _ENTRIES and not name.iteration:
            return name.whole
        for entry, pipeline in self.pipelines.items():
            if any(_belongs(name, stage) for stage in pipeline.stages):
                return entry
        if name.kind == "loop":
            return name.whole
        if name.kind in ("bead", "wave"):
            return self._fanning()
        tasks = [s.task for p in self.pipelines.values() for s in p.stages]
        guess = did_you_mean(name.whole, tasks)
        raise UsageError(
            f"session `{self.place.session}` has no `{name.whole}`{guess}",
            fix=f"its tasks are {listed(tasks)}" if tasks else "start a pipeline first",
        )

    def _fanning(self) -> str:
        """Return the entry whose stage works through beads."""
        for entry, pipeline in self.pipelines.items():
            if any(stage.loop.each == "beads" for stage in pipeline.stages):
                return entry
        raise UsageError(
            f"session `{self.place.session}` has no stage with `each: beads`",
            fix="start one first, such as `doit loop:swarm session="
            f"{self.place.session}`",
        )

    def announce(self, entries: Iterable[str]) -> None:
        """Have the ledger and `session.json` say what is asked, once it is owned."""
        self.place.asked = [self._entry_event(entry) for entry in entries]

    def _entry_event(self, entry: str) -> dict[str, Any]:
        pipeline, request = self.pipelines[entry], self.requests[entry]
        return {
            "entry": entry,
            "goal": request.goal,
            "variables": request.kept(),
            "stages": [stage.name for stage in pipeline.stages],
            "version": __version__,
        }


def _belongs(name: TaskName, stage: Stage) -> bool:
    """Tell whether a task is a stage's own, or one of its instances'."""
    below = bool(stage.parent) and name.whole.startswith(f"{stage.task}:")
    return below or name.whole == stage.task


def _asked_before(record: SessionRecord, entry: str) -> dict[str, Any]:
    for event in record.entries:
        if event["entry"] == entry:
            variables: dict[str, Any] = event.get("variables", {})
            return variables
    return {}


def engagement(root: str, request: Request, session: str, run: str = "") -> Engagement:
    """Return the engagement with a session of that name."""
    return Engagement(workplace(root, checked_name(session), run), request)


def existing(root: str, request: Request, *, planned: bool = False) -> Engagement:
    """Return the engagement with a session that must already be there.

    One that is only `planned` has beads, and nothing else so far.
    """
    names = session_names(root)
    if request.session is None:
        if len(names) == 1:
            return engagement(root, request, names[0])
        raise UsageError(
            "which session?",
            fix=f"add `session=NAME`; there are {listed(names)}"
            if names
            else "start one: `doit list` shows what can be run",
        )
    name = find(request.session, names)
    if name not in names:
        if planned and workplace(root, name, "").uses_beads():
            return engagement(root, request, name)
        guess = did_you_mean(name, names)
        there = f"there are {listed(names)}" if names else "there is none yet"
        raise UsageError(f"there is no session `{name}`{guess}", fix=there)
    return engagement(root, request, name)


def session_for(root: str, request: Request, names: Sequence[TaskName]) -> str:
    """Return the session that a run is about."""
    known = session_names(root)
    if request.session is not None:
        return find(request.session, known)
    if request.goal is not None:
        return new_name(request.goal, known)
    own = list(dict.fromkeys(n.name for n in names if n.kind in _ENTRIES))
    if len(own) == 1:
        return checked_name(own[0])
    if not own:
        return existing(root, request).place.session
    raise UsageError(
        f"{listed(own)} would be sessions of their own",
        fix="name one session for both by `session=NAME`, or run one at a time",
    )


def ours(names: Iterable[str]) -> list[TaskName]:
    """Return those of the names that are tasks of ours."""
    return [name for text in names if (name := parsed(text)) is not None]


def entry_names(root: str) -> list[str]:
    """Return every entry that can be run, without reading what it says."""
    return [f"{found.kind}:{found.name}" for found in available(root)]
