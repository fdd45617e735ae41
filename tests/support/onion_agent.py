"""An agent of an onion that works inside doit's own process, because that is quick.

`wish.json` says what is wanted, `{spec: {phase: text}}`. What the agent makes depends
on nothing but the entry that it is given, so that a model can tell what it will make.
"""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from looptasks.core.agent import Answer, Call
from looptasks.core.process import Ended
from looptasks.effects import result_file
from looptasks.effects.attempt_folder import answer_in
from looptasks.effects.system_clock import stamp
from tests.support.doit_process import environment, write_distribution

NAME = "onion"
PROMPT = "ARTIFACT=${ARTIFACT}\n---\n"


class OnionAgent:
    """Writes the artifact of its layer, or a line."""

    name = NAME

    def __init__(self, *unused: object) -> None:
        del unused

    def call(self, call: Call) -> None:
        """Note the call, and do the work, unless it is to fail."""
        folder = Path(call.folder)
        folder.mkdir(parents=True, exist_ok=True)
        with Path(call.cwd, "runs.log").open("a") as log:
            log.write(f"{call.stage}\n")
        failed = Path(call.cwd, f"fail.{call.stage.replace('/', '.')}").exists()
        (folder / "stderr").write_text("")
        (folder / "stdout").write_text("" if failed else self._work(call))
        now = stamp(time.time())
        ended = Ended("exit", int(failed), None, now, now, 0.0)
        result_file.write(os.fsencode(folder / "result.json"), ended)

    def read(self, folder: str) -> Answer | None:
        """Return what the attempt came to."""
        return answer_in(folder)

    def _work(self, call: Call) -> str:
        head, _, item = Path(call.prompt).read_text().partition("---\n")
        kind, *path = call.stage.split("/")
        # A word of feedback may follow.
        entry = json.JSONDecoder().raw_decode(item)[0] if item[:1] == "{" else {}
        if kind == "plan":
            entry = json.loads(Path(call.cwd, "wish.json").read_text())
        made = artifact(kind, path[-1] if path else "", entry)
        if made is None:
            return text(kind, entry)
        if kind == "spec" and call.iteration > 1:
            made["phases"] = [p for p in made["phases"] if not _fails(call, p["name"])]
        Path(head.partition("ARTIFACT=")[2].strip()).write_text(json.dumps(made))
        return f"wrote {call.stage}\n"


def _fails(call: Call, phase: str) -> bool:
    """Tell whether a phase cannot be done: a spec that is told so gives it up."""
    spec = call.stage.rpartition("/")[2]
    return Path(call.cwd, f"fail.phase.{spec}.{phase}").exists()


def text(kind: str, entry: Mapping[str, Any]) -> str:
    """Return what a layer without an artifact says of its entry."""
    return f"{kind} of {json.dumps(entry, sort_keys=True)}\n"


def artifact(kind: str, name: str, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a layer makes of its entry, the first one of the wish."""
    if kind == "plan":
        specs = [
            {"name": spec, "title": spec, "description": json.dumps(phases)}
            for spec, phases in entry.items()
        ]
        return {"title": "T", "overview": "O", "specs": specs}
    said = {"name": name, "title": name}
    if kind == "spec":
        phases = [
            {"name": phase, "title": phase, "description": words}
            for phase, words in json.loads(entry["description"]).items()
        ]
        return {**said, "overview": entry["description"], "phases": phases}
    if kind == "phase":
        tasks = [{"description": entry["description"]}]
        work = {"objective": "O", "tasks": tasks, "validation_command": "true"}
        return {**said, **work}
    return None


def onion_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which the agent can be asked for by its name."""
    env = environment(folder, registered=True)
    place = f"{__name__}:{OnionAgent.__name__}"
    write_distribution(folder, "onion-agent", {"looptasks.agent": {NAME: place}})
    return env
