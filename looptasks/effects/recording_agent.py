"""A recording agent: another agent, whose good answers are kept to be replayed."""

import json
import os
from collections.abc import Mapping

from looptasks.core.agent import Agent, Answer, Call
from looptasks.core.taskname import padded
from looptasks.effects import folder_tree
from looptasks.effects.files import make_folder, storing, write_whole
from looptasks.effects.replay_agent import ARTIFACT
from looptasks.effects.scrub import scrub

_LARGEST = 10 << 20


class RecordingAgent:
    """Makes its calls through `inner`, and writes what a `ReplayAgent` plays."""

    def __init__(self, inner: Agent, folder: str) -> None:
        self._inner = inner
        self._folder = folder

    @property
    def name(self) -> str:
        """The word for the agent that does the work."""
        return self._inner.name

    def call(self, call: Call) -> None:
        """Make the attempt, and record it if it is good."""
        before = folder_tree.states(call.cwd, self._folder)
        self._inner.call(call)
        answer = self._inner.read(call.folder)
        if answer is not None and answer.verdict == "ok":
            self._keep(call, answer, before)

    def read(self, folder: str) -> Answer | None:
        """Return what the attempt in `folder` came to; None when it never ended."""
        return self._inner.read(folder)

    def _keep(
        self, call: Call, answer: Answer, before: Mapping[str, folder_tree.State]
    ) -> None:
        after = folder_tree.states(call.cwd, self._folder)
        make_folder(self._folder)
        target = folder_tree.place(
            self._folder, f"{call.stage}/{padded(call.iteration)}"
        )
        aside = f"{target}.{os.getpid()}.tmp"
        _remove_tree(aside)
        make_folder(aside)
        folder_tree.copy_file(answer.text, f"{aside}/output.md")
        scrub(f"{aside}/output.md")
        _write_json(f"{aside}/usage.json", _usage(answer))
        _copy_artifact(call, f"{aside}/{ARTIFACT}")
        _copy_changed(call.cwd, f"{aside}/files", before, after)
        _write_json(f"{aside}/deleted.json", sorted(before.keys() - after.keys()))
        _swap_in(aside, target)


def _usage(answer: Answer) -> dict[str, object]:
    tokens = answer.tokens._asdict() if answer.tokens else None
    return {"cost_usd": answer.cost_usd, "tokens": tokens}


def _copy_artifact(call: Call, target: str) -> None:
    """Keep what the agent handed in; its judge has made nothing."""
    path = call.env.get("LOOP_ARTIFACT", "")
    judges = "LOOP_ROLE" in call.env
    if not judges and os.path.isfile(path) and not os.path.islink(path):
        folder_tree.copy_file(path, target)
        scrub(target)


def _copy_changed(
    cwd: str,
    files: str,
    before: Mapping[str, folder_tree.State],
    after: Mapping[str, folder_tree.State],
) -> None:
    for path, state in after.items():
        if before.get(path) != state and state[1] <= _LARGEST:
            source = os.path.join(os.path.realpath(cwd), path)
            if os.path.exists(source):
                folder_tree.copy_file(source, f"{files}/{path}")


def _swap_in(aside: str, target: str) -> None:
    old = f"{aside}.old"
    with storing(target):
        if os.path.lexists(target):
            os.rename(target, old)
        os.rename(aside, target)
    _remove_tree(old)


def _write_json(path: str, value: object) -> None:
    write_whole(path, (json.dumps(value, indent=1) + "\n").encode())


def _remove_tree(path: str) -> None:
    import shutil  # noqa: PLC0415 - recording is rare

    shutil.rmtree(path, ignore_errors=True)
