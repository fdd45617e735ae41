"""`doit hooks`: reminders for people who sit in Claude Code themselves."""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from looptasks.core.bead import urgency
from looptasks.core.count import counted
from looptasks.core.hook import EVENTS, stop_answer, with_hooks, without_hooks
from looptasks.core.request import Request
from looptasks.core.suggestion import choice
from looptasks.effects.files import make_folder, read_bytes, write_whole
from looptasks.effects.session_folder import session_names
from looptasks.errors import LoopError, UsageError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import engagement
from looptasks.plugin.state import session_state
from looptasks.plugin.workplace import Workplace

_SETTINGS = os.path.join(".claude", "settings.json")
_WORDS = ("install", "uninstall", "stop", "start")


class Hooks(AskingCommand):
    """Installs the hooks, and answers them."""

    name = "hooks"
    doc_purpose = "install or remove the Stop and SessionStart hooks of Claude Code"
    doc_usage = "install | uninstall"
    doc_description = (
        "The hooks go into the project's `.claude/settings.json`; all else stays.\n"
        "Stop: as long as beads of an unfinished session are pending, the agent is "
        "reminded once to go on. SessionStart: one line per unfinished session.\n"
        "`stop` and `start` are what the hooks themselves call."
    )
    cmd_options: Any = ()

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Do as the one word says."""
        request, root = self.asked(), self.root()
        word = words[0] if len(words) == 1 else ""
        if word in ("install", "uninstall"):
            self._change(root, install=word == "install")
        elif word == "stop":
            self._stop(root, request)
        elif word == "start":
            self._start(root, request)
        else:
            raise UsageError(
                f"`hooks` does not know `{' '.join(words)}`", fix=choice(word, _WORDS)
            )
        return 0

    def _change(self, root: str, *, install: bool) -> None:
        path = os.path.join(root, _SETTINGS)
        before = _settings(path)
        commands = {event: _command(word) for event, word in EVENTS.items()}
        after = with_hooks(before, commands) if install else without_hooks(before)
        if after == before:
            self.print(f"{_SETTINGS}: nothing to change")
            return
        make_folder(os.path.dirname(path))
        write_whole(path, (json.dumps(after, indent=2) + "\n").encode())
        done = "installed in" if install else "removed from"
        self.print(f"hooks {done} {_SETTINGS}")

    def _stop(self, root: str, request: Request) -> None:
        pending = [
            (bead["id"], str(bead.get("title", "")))
            for place in _sessions(root, request)
            if place.uses_beads()
            for found in [place.beads.progress()]
            for some in (found.in_progress, found.ready)
            for bead in sorted(some, key=urgency)
        ]
        reply = stop_answer(_asked(), pending)
        if reply is not None:
            self.print(json.dumps(reply))

    def _start(self, root: str, request: Request) -> None:
        for place in _sessions(root, request):
            state = session_state(place)
            if state["status"] == "complete":
                continue
            stage = next(
                (s for s in state["stages"] if s["status"] != "complete"), None
            )
            where = f", stage {stage['stage']}" if stage else ""
            wave = f", wave {state['wave']}" if state["wave"] else ""
            self.print(
                f"looptasks session {place.session}: {state['status']}{where}, "
                f"{counted(state['iterations'], 'iteration')} done{wave}; "
                f"next: {state['next']}"
            )


def _asked() -> dict[str, Any]:
    try:
        asked = json.loads(sys.stdin.read() or "{}")
    except ValueError:
        return {}
    return asked if isinstance(asked, dict) else {}


def _sessions(root: str, request: Request) -> Iterator[Workplace]:
    """Yield the sessions, only the one asked for if any."""
    for name in session_names(root):
        if request.session in (None, name):
            yield engagement(root, request, name).place


def _command(word: str) -> str:
    python = shlex.quote(sys.executable)
    return f'cd "$CLAUDE_PROJECT_DIR" && {python} -m doit hooks {word}'


def _settings(path: str) -> dict[str, Any]:
    data = read_bytes(path)
    try:
        found = json.loads(data) if data else {}
    except ValueError as error:
        raise LoopError(
            f"is not JSON: {error}", where=_SETTINGS, fix="mend it, then try again"
        ) from error
    if not isinstance(found, dict):
        raise LoopError("is not an object", where=_SETTINGS, fix="mend it first")
    return found
