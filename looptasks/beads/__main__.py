"""`python -m looptasks.beads`: the tracker without doit, for it is asked very often."""

from __future__ import annotations

import gc
import sys

from looptasks.errors import LoopError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.beads.asked import Asked

_PROGRAM = "looptasks-beads"
_REFUSED = 1  # as `bd` has it
_MODULES = {
    "list": "looking",
    "ready": "looking",
    "blocked": "looking",
    "show": "looking",
    "create": "changing",
    "update": "changing",
    "close": "changing",
    "reopen": "changing",
    "label": "changing",
    "dep": "depending",
    "graph": "drawing",
    "import": "exchange",
    "export": "exchange",
}


def main(typed: list[str] | None = None, program: str = _PROGRAM) -> int:
    """Do what was typed; return the exit code."""
    words = sys.argv[1:] if typed is None else typed
    try:
        return _obey(words, program)
    except LoopError as error:
        _print_error(error, as_json="--json" in words)
        return _REFUSED
    except BrokenPipeError:
        # Whoever read has seen enough; Python shall not complain when it flushes.
        sys.stdout = None
        return _REFUSED


def _print_error(error: LoopError, *, as_json: bool) -> None:
    from looptasks.beads.printing import print_error  # noqa: PLC0415 - mistakes only

    what = f"{error.where}: {error.what}" if error.where else error.what
    print_error(what, fix=error.fix, as_json=as_json)


def _obey(words: list[str], program: str) -> int:
    command, rest = _command(words)
    if command in ("", "help", "-h", "--help"):
        return _help(rest[0] if rest else "", program)
    if command not in _MODULES:
        from looptasks.core.suggestion import choice  # noqa: PLC0415 - mistakes only

        raise UsageError(f"unknown command `{command}`", fix=choice(command, _MODULES))
    from looptasks.beads.asked import parse  # noqa: PLC0415 - after the help
    from looptasks.effects.tracker_choice import hand_over  # noqa: PLC0415

    handed = hand_over(words)
    if handed is not None:
        return handed
    asked = parse(command, rest)
    if asked.yes("help"):
        return _help(command, program)
    code = _run(asked)
    sys.stdout.flush()
    return code


def _command(words: list[str]) -> tuple[str, list[str]]:
    """Return the command and the rest; flags for all commands may stand before it."""
    ahead: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in ("-h", "--help"):
        ahead.append(rest.pop(0))
        if ahead[-1] == "--actor" and rest:
            ahead.append(rest.pop(0))
    return (rest[0], ahead + rest[1:]) if rest else ("", ahead)


def _run(asked: Asked) -> int:
    module = __import__(
        f"looptasks.beads.{_MODULES[asked.command]}", fromlist=["COMMANDS"]
    )
    answer = module.COMMANDS[asked.command]
    return int(answer(asked) or 0)


def _help(command: str, program: str) -> int:
    from looptasks.beads import help  # noqa: PLC0415 - only who asks pays

    known = command in _MODULES
    sys.stdout.write(help.on(command, program) if known else help.overview(program))
    return 0


if __name__ == "__main__":
    gc.disable()  # over before there is anything to collect
    sys.exit(main())
