"""`doit explain`: what would run and why, through all descendants; runs nothing."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from looptasks.core.count import agreeing, counted
from looptasks.core.instance import Node, Tree, node_of
from looptasks.core.outlook import Outlook
from looptasks.core.pipeline import Pipeline
from looptasks.core.suggestion import did_you_mean, listed
from looptasks.core.taskname import bead_of, parsed
from looptasks.errors import UsageError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.commands.json_option import OPT_JSON
from looptasks.plugin.engagement import (
    Engagement,
    engagement,
    entry_names,
    existing,
    session_for,
)
from looptasks.plugin.foresight import foreseen, outlook_fields

_OPT_CHANGED = {
    "name": "if_changed",
    "short": "",
    "long": "if-changed",
    "type": str,
    "default": "",
    "help": "say what would run if that file's content were another one",
}


class Explain(AskingCommand):
    """Explains what a run would do."""

    cmd_options: Any = (OPT_JSON, _OPT_CHANGED)

    name = "explain"
    doc_purpose = "say what would run and why, without running anything"
    doc_usage = "[TASK] [session=S] [--if-changed FILE]"
    doc_description = (
        "TASK is a loop, pipeline, stage or iteration. Each line is a stage, or an "
        "instance of one:\n"
        "  run    it runs, for the reason given\n"
        "  maybe  it runs only if an earlier stage's output comes out differently\n"
        "  rest   it is up to date\n"
        "  blocked  it cannot run now\n"
        "  archive  what it worked on is gone: its work goes to the archive"
    )

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Print the outlook of every stage that the task is about."""
        self.refuse_words(words, after=1)
        engaged, entries = self._engaged(words)
        if params["if_changed"]:
            suppose(engaged, params["if_changed"])
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
            count = view.superseded
            go = agreeing(count, "goes", "go")
            self.print(f"         {counted(count, 'iteration')} {go} to the archive")
        if view.estimate_usd is not None:
            self.print(f"         about ${view.estimate_usd:.2f}, from history")


def suppose(engaged: Engagement, file: str) -> None:
    """Look at the session as if a file's content were another one."""
    root = engaged.place.root
    name = os.path.relpath(os.path.join(root, file), root)
    if not os.path.exists(os.path.join(root, name)):
        raise UsageError(f"there is no file `{file}`", fix="name a file of the project")
    engaged.place.folder.supposed = name


def _stage_asked(words: Sequence[str]) -> str:
    name = parsed(words[0]) if words else None
    return name.name if name is not None and name.kind == "stage" else ""


def _kept(view: Sequence[Outlook], pipeline: Pipeline, stage: str) -> list[Outlook]:
    """Keep a stage and what rests on it, everything without one."""
    names = [s.name for s in pipeline.stages]
    if not stage:
        return list(view)
    if ":" in stage:
        return _kept_instances(view, pipeline, node_of(stage.replace(":", "/")))
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


def _kept_instances(
    view: Sequence[Outlook], pipeline: Pipeline, node: Node
) -> list[Outlook]:
    """Keep an instance and what descends from it."""
    tree = Tree(pipeline)
    kept = [
        outlook
        for outlook in view
        if "/" in outlook.stage
        and not bead_of(outlook.stage)
        and (
            outlook.stage == node.name
            or outlook.stage.startswith(f"{node.name}/")
            or tree.is_below(node_of(outlook.stage), node)
        )
    ]
    if not kept:
        known = [o.task for o in view if o.stage.startswith(f"{node.stage}/")]
        fix = f"there are {listed(known)}" if known else "there is none yet"
        raise UsageError(f"no instance `{node.task}`", fix=fix)
    return kept
