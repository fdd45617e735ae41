"""`doit explain`: what would run and why, through all descendants; runs nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from looptasks.core.outlook import Outlook
from looptasks.core.pipeline import Pipeline
from looptasks.core.suggestion import did_you_mean, listed
from looptasks.core.taskname import parsed
from looptasks.errors import UsageError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import (
    Engagement,
    engagement,
    entry_names,
    existing,
    session_for,
)
from looptasks.plugin.foresight import foreseen, outlook_fields


class Explain(AskingCommand):
    """Explains what a run would do."""

    name = "explain"
    doc_purpose = "say what would run and why, without running anything"
    doc_usage = "[TASK] [session=S]"
    doc_description = (
        "TASK is a loop, pipeline, stage or iteration. Each line is a stage:\n"
        "  run    it runs, for the reason given\n"
        "  maybe  it runs only if an earlier stage's output comes out differently\n"
        "  rest   it is up to date\n"
        "  blocked  it cannot run now"
    )

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Print the outlook of every stage that the task is about."""
        self.refuse_words(words, after=1)
        engaged, entries = self._engaged(words)
        only = _stage_asked(words)
        views = {
            entry: _kept(foreseen(engaged, entry), engaged.pipelines[entry], only)
            for entry in entries
        }
        if params["json"]:
            self.print_json(
                {
                    "session": engaged.place.session,
                    "entries": [
                        {
                            "entry": e,
                            "stages": [outlook_fields(outlook) for outlook in v],
                        }
                        for e, v in views.items()
                    ],
                }
            )
            return 0
        for view in views.values():
            for outlook in view:
                self._print(outlook)
        return 0

    def _engaged(self, words: list[str]) -> tuple[Engagement, list[str]]:
        request = self.asked()
        root = self.root()
        if not words:
            engaged = existing(root, request)
            engaged.take_on_recorded()
            return engaged, list(engaged.pipelines)
        name = parsed(words[0])
        if name is None:
            guess = did_you_mean(words[0], entry_names(root))
            raise UsageError(f"`{words[0]}` is no task of a session{guess}")
        engaged = engagement(root, request, session_for(root, request, [name]))
        engaged.take_on_recorded()
        entry = engaged.entry_of(name)
        engaged.take_on(entry)
        return engaged, [entry]

    def _print(self, view: Outlook) -> None:
        self.print(f"{view.fate:<8} {view.next_task or view.task}")
        self.print(f"         {view.reason}")
        if view.superseded:
            self.print(f"         {view.superseded} iterations go to the archive")
        if view.estimate_usd is not None:
            self.print(f"         about ${view.estimate_usd:.2f}, from history")


def _stage_asked(words: Sequence[str]) -> str:
    name = parsed(words[0]) if words else None
    return name.name if name is not None and name.kind == "stage" else ""


def _kept(view: Sequence[Outlook], pipeline: Pipeline, stage: str) -> list[Outlook]:
    """Keep a stage and what rests on it, everything without one."""
    names = [s.name for s in pipeline.stages]
    if not stage:
        return list(view)
    if stage not in names:
        raise UsageError(f"no stage `{stage}`", fix=f"there are {listed(names)}")
    below = {name for name in names if stage in pipeline.upstream(name)} | {stage}
    kept, current = [], ""
    for outlook in view:
        # Beads come right after the stage that they belong to.
        current = outlook.stage if outlook.stage in names else current
        if current in below:
            kept.append(outlook)
    return kept
