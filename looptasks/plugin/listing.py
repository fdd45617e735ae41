"""A listing: what can be run, or a session's stages and what comes next in each."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from looptasks.core.count import counted
from looptasks.core.fan import Standing
from looptasks.core.outlook import Outlook
from looptasks.core.pipeline import fanning
from looptasks.core.taskname import bead_of
from looptasks.effects.session_folder import session_names
from looptasks.effects.yaml_declarations import available, describe
from looptasks.plugin.engagement import engagement
from looptasks.plugin.foresight import foreseen, outlook_fields
from looptasks.plugin.gates import waiting_gates
from looptasks.plugin.standing import bead_standings, closed_of_all
from looptasks.plugin.state import session_state

_MARKS = {"run": "R", "maybe": "?", "rest": "U", "blocked": "B", "archive": "A"}
_WORDS = {"run": "next", "maybe": "perhaps", "blocked": "held", "archive": "leaves"}


class Listing:
    """Writes what `doit list` is about: a session, or everything that can be run."""

    def __init__(self, loader: Any, stream: Any) -> None:
        self._loader = loader
        self._stream = stream
        self._engaged = loader.engagement

    def write(self, *, quiet: bool, status: bool) -> None:
        """Write lines for people."""
        if self._engaged is not None:
            for entry, view in self._views():
                self._line(entry)
                fans = fanning(self._engaged.pipelines[entry])
                for outlook in view:
                    if "/" not in outlook.stage or _is_open_instance(outlook):
                        over = outlook.stage in fans
                        self._stage(outlook, status=status, over_beads=over)
            self._waves()
        else:
            self._entries(quiet=quiet)

    def write_json(self, plain: Sequence[Any]) -> None:
        """Write JSON for programs."""
        tasks = [{"name": task.name, "doc": task.doc} for task in plain]
        self._line(json.dumps({**self._all(), "tasks": tasks}, indent=1))

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")

    def _views(self) -> Iterator[tuple[str, list[Outlook]]]:
        for entry in self._engaged.pipelines:
            yield entry, foreseen(self._engaged, entry)

    def _waves(self) -> None:
        """Write the beads, wave by wave; those that are done only as a number."""
        if not self._fans():
            return
        found = bead_standings(self._engaged.place)
        done = sum(standing.state == "done" for standing in found)
        self._line(f"  beads: {done} of {len(found)} done")
        last = 0
        for standing in found:
            if standing.state == "done":
                continue
            if standing.wave != last:
                last = standing.wave
                self._line(f"  wave:{last}")
            why = f" ({standing.reason})" if standing.reason else ""
            bead = standing.bead
            self._line(f"    {standing.state:<8} bead:{bead.id}  {bead.title}{why}")

    def _fans(self) -> bool:
        return bool(self._engaged.place.uses_beads())

    def _stage(self, view: Outlook, *, status: bool, over_beads: bool) -> None:
        mark = f"{_MARKS[view.fate]} " if status else ""
        done = counted(view.done, "iteration")
        if over_beads:
            done = closed_of_all(self._engaged.place)
        self._line(f"  {mark}{view.task:<24} {view.status:<11} {done}")
        if view.fate != "rest":
            what = f"{view.next_task}: " if view.next_task else ""
            self._line(f"      {_WORDS[view.fate]} {what}{view.reason}")

    def _entries(self, *, quiet: bool) -> None:
        root = self._loader.root
        found = available(root)
        width = max((len(entry.entry) for entry in found), default=0) + 3
        for entry in found:
            doc = "" if quiet else describe(root, entry)
            self._line((entry.entry.ljust(width) + doc).rstrip())
        for state in self._unfinished():
            name, status, then = state["session"], state["status"], state["next"]
            self._line(f"session {name}: {status}, next: {then}")

    def _unfinished(self) -> list[dict[str, Any]]:
        root, request = self._loader.root, self._loader.request()
        names = session_names(root)
        states = [session_state(engagement(root, request, n).place) for n in names]
        return [state for state in states if state["status"] != "complete"]

    def _all(self) -> dict[str, Any]:
        if self._engaged is not None:
            entries = [
                {"entry": entry, "stages": [outlook_fields(o) for o in view]}
                for entry, view in self._views()
            ]
            session = self._engaged.place.session
            beads = bead_standings(self._engaged.place) if self._fans() else []
            return {
                "session": session,
                "entries": entries,
                "gates": [
                    gate.fields(session) for gate in waiting_gates(self._engaged)
                ],
                "beads": [_standing_fields(standing) for standing in beads],
            }
        root = self._loader.root
        can = [
            {"task": found.entry, "description": describe(root, found)}
            for found in available(root)
        ]
        return {"can_run": can, "unfinished": self._unfinished()}


def _is_open_instance(view: Outlook) -> bool:
    """Tell whether an instance is worth a line: finished ones are only counted."""
    return not bead_of(view.stage) and view.fate != "rest"


def _standing_fields(standing: Standing) -> dict[str, Any]:
    bead = standing.bead
    return {
        "id": bead.id,
        "title": bead.title,
        "wave": standing.wave,
        "state": standing.state,
        "reason": standing.reason,
        "priority": bead.priority,
        "blockers": list(bead.blockers),
    }
