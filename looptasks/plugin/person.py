"""A person: who gives a session a word."""

import getpass

from looptasks.core.request import Request


def person(request: Request) -> str:
    """Return who speaks: the name that was given, or the user of this shell."""
    return (request.by or "").strip() or user()


def user() -> str:
    """Return the user of this shell."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
