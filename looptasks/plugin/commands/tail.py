"""`doit tail`: follow a running session from another terminal."""

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from looptasks.core.owner import clock_time
from looptasks.core.tail_line import TailLine
from looptasks.effects.agent_settings import learn_agents_secrets
from looptasks.effects.session_tail import SessionTail
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import existing
from looptasks.plugin.reporter import write
from looptasks.plugin.state import session_state
from looptasks.plugin.workplace import Workplace

_TICK = 0.2
_RUNNING, _ENDED = 5, 10  # lines to begin with
_INTERRUPTED = 130


class Tail(AskingCommand):
    """Shows what agents do, as they do it."""

    name = "tail"
    doc_purpose = "follow a running session from another terminal"
    doc_usage = "[session=S]"
    doc_description = (
        "Each line begins with its stage and iteration: what the agent does (tool and "
        "target, or text), how attempts end, checks, stops. It ends with the session's "
        "run; Ctrl-C ends it before, and changes nothing.\n"
        "`--json` prints each line of the agents' output as it is, as "
        '{"stage", "iteration", "attempt", "line"}.'
    )

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Follow the session until its run ends."""
        self.refuse_words(words)
        place = existing(self.root(), self.asked()).place
        learn_agents_secrets(place.root)
        self._json: bool = params["json"]
        try:
            self._follow(place)
        except KeyboardInterrupt:
            return _INTERRUPTED
        except BrokenPipeError:
            # Whoever read has gone, such as `head`; Python would complain at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0

    def _follow(self, place: Workplace) -> None:
        owner = place.lock.owner()
        tail = SessionTail(place.folder.path, raw=self._json)
        if owner is None:
            self._say(f"session {place.session} is not running: {_standing(place)}")
            self._tell(tail.end(_ENDED))
            return
        since = clock_time(owner.started_at)
        self._say(f"session {place.session} runs since {since} (pid {owner.pid})")
        self._tell(tail.begin(_RUNNING))
        running = True
        while running:
            time.sleep(_TICK)
            # Asked first: what was printed before the end is still told.
            running = place.lock.owner() is not None
            self._tell(tail.more())
        self._say(f"session {place.session} runs no longer: {_standing(place)}")

    def _say(self, sentence: str) -> None:
        if not self._json:
            write(self.outstream, f"{sentence}\n")

    def _tell(self, lines: Iterable[TailLine]) -> None:
        for line in lines:
            text = json.dumps(line._asdict()) if self._json else _readable(line)
            write(self.outstream, f"{text}\n")


def _readable(line: TailLine) -> str:
    return f"{line.label}  {line.line}"


def _standing(place: Workplace) -> str:
    state = session_state(place)
    return f"{state['status']}; next: {state['next']}"
