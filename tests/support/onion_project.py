"""An onion: a project whose plan becomes specs, phases and code, all by one script.

`wish.json` says what is wanted: `{spec: {phase: text}}`. The plan has an entry per
spec, its description lists the phases, and so on down: whoever gets another text
hands on another text.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.git_repository import git
from tests.support.project import Project

AGENT = '''\
"""Writes the artifact of its layer, from its entry or from what is wished for."""
import json, os, sys, time

kind, item = os.environ["LOOP_TYPE"], os.environ.get("LOOP_ITEM", "")
head, _, item_text = sys.stdin.read().partition("---\\n")
artifact = head.partition("ARTIFACT=")[2].strip()
entry = json.JSONDecoder().raw_decode(item_text)[0] if item_text[:1] == "{" else {}
with open(os.environ["RUNS"], "a") as log:
    log.write(f"{kind}:{item}" if item else kind)
    log.write("\\n")
while os.path.exists(f"{os.environ['GATE']}/{kind}.{item}"):
    time.sleep(0.02)
if os.path.exists(f"{os.environ['GATE']}/../fail.{kind}.{item}"):
    sys.exit(1)
if kind == "plan":
    wish = json.load(open("wish.json"))
    after = wish.pop("_after", {})
    made = {"title": "T", "overview": "O", "specs": [
        {"name": name, "title": name, "description": json.dumps(phases, sort_keys=True)}
        for name, phases in wish.items()]}
    for spec in made["specs"]:
        if spec["name"] in after:
            spec["dependencies"] = after[spec["name"]]
elif kind == "spec":
    made = {"name": item, "title": item, "overview": entry["description"], "phases": [
        {"name": name, "title": name, "description": text}
        for name, text in json.loads(entry["description"]).items()]}
elif kind == "phase":
    made = {"name": item, "title": item, "objective": entry["description"],
            "tasks": [{"description": "do it"}], "validation_command": "true"}
else:
    if os.path.exists(f"{os.environ['GATE']}/write"):
        os.makedirs("out", exist_ok=True)
        with open(f"out/{item}.txt", "w") as file:
            file.write(entry["objective"] + "\\n")
    print(f"coded {entry['objective']}")
    sys.exit()
with open(artifact, "w") as file:
    json.dump(made, file)
print(f"wrote {kind} {item}")
'''
PROMPT = "ARTIFACT=${ARTIFACT}\n---\n"
LAYERS = ("plan", "spec", "phase", "code")


class OnionProject(Project):
    """A project with the pipeline `onion` and a wish."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write("onion.py", AGENT)
        self.path("gates").mkdir()
        where = f"RUNS={root}/runs.log GATE={root}/gates"
        self.write("agent.sh", f"#!/bin/sh\n{where} exec python3 onion.py\n")
        self.layers()

    def layers(self, **changed: Mapping[str, Any]) -> None:
        """Declare the pipeline, some layers with other settings."""
        each = {"spec": "plan.specs", "phase": "spec.phases", "code": "phase"}
        stages = []
        for name in LAYERS:
            stage: dict[str, Any] = {"name": name, "runs": 1, "backoff": 0}
            stage["agent"] = {"command": "./agent.sh"}
            stage["prompt"] = PROMPT
            if name in each:
                stage |= {"each": each[name], "prompt": PROMPT + "${ITEM}"}
            if name != "code":
                stage["artifact"] = name
            if name == "plan":
                stage["reads"] = ["wish.json"]
            if name == "spec":
                stage["entries"] = [1, 9]
            stages.append({**stage, **changed.get(name, {})})
        self.pipeline("onion", *stages)

    def wish(self, wanted: Mapping[str, Any]) -> None:
        """Say what is wanted."""
        self.write("wish.json", json.dumps(wanted))

    def edit(self, node: str, kind: str, change: Mapping[str, Any]) -> None:
        """Change fields of an artifact by hand, as a person would."""
        path = self.path(".loop", "s", node, "output", f"{kind}.json")
        value = json.loads(path.read_text())
        path.write_text(json.dumps({**value, **change}))

    def track(self) -> None:
        """Put the project under git, and have its code agents write files."""
        self.write("gates/write", "")
        self.write(".gitignore", "runs.log\ngates/\nfail.*\n.doit.db*\n")
        self.write(".loop/.gitignore", "*\n!.gitignore\n")
        self.git("init", "--quiet", "-b", "main")
        self.git("config", "user.name", "Ann")
        self.git("config", "user.email", "ann@example.org")
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "first")

    def git(self, *words: str) -> str:
        """Return what git prints."""
        return git(self.root, *words)

    def new_runs(self) -> list[str]:
        """Return the agent calls since this was last asked, sorted."""
        log = self.path("runs.log")
        found = log.read_text().split() if log.exists() else []
        log.write_text("")
        return sorted(found)
