"""The voice: sentences from outside of tasks, spoken by whoever reports the run."""

import sys
from collections.abc import Callable

_speakers: list[Callable[[str], None]] = []


def speaker(speak: Callable[[str], None]) -> None:
    """Let a reporter do the speaking from now on."""
    _speakers[:] = [speak]


def say(text: str) -> None:
    """Tell the person who watches; aside, when nobody reports in words."""
    if _speakers:
        _speakers[0](text)
    else:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
