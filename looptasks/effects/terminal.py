"""The terminal: where a person can be asked, and waited for."""

import os
import select
import sys
from collections.abc import Callable, Mapping

_LOOK = 0.3  # seconds between two looks at whether the question still stands
_LONG = 1 << 16


def has_person(environment: Mapping[str, str]) -> bool:
    """Tell whether somebody sits here who could answer: not in CI, nor in a pipe."""
    if environment.get("CI", "").lower() not in ("", "0", "false", "no"):
        return False
    try:
        return os.isatty(sys.stdin.fileno()) and os.isatty(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return False


def forget_typed() -> None:
    """Drop what was typed before the question: it cannot have been meant for it."""
    import termios  # noqa: PLC0415 - seldom

    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def show(text: str) -> None:
    """Write to the terminal at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def line(question: str, until: Callable[[], bool]) -> str | None:
    """Ask for a line; None at the end of input, or when `until` has come true."""
    show(question)
    descriptor = sys.stdin.fileno()
    while not select.select([descriptor], [], [], _LOOK)[0]:
        if until():
            show("\n")
            return None
    # A terminal hands over one line at a time; a buffer of ours would hide the next.
    typed = os.read(descriptor, _LONG)
    return typed.decode("utf-8", "replace").strip() if typed else None
