"""What was asked: the words of a command line, read by the table of flags."""

from __future__ import annotations

from looptasks.beads.flags import COMMANDS, EVERYWHERE
from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Asked:
    """A command as it was typed: its words, and the values of its flags."""

    __slots__ = ("command", "values", "words")

    def __init__(self, command: str) -> None:
        self.command = command
        self.words: list[str] = []
        self.values: dict[str, Any] = {}

    def text(self, name: str) -> str:
        """Return a flag's text, empty when it was not said."""
        return self.values.get(name, "")  # type: ignore[no-any-return]

    def list(self, name: str) -> tuple[str, ...]:
        """Return a flag's words."""
        return tuple(self.values.get(name, ()))

    def yes(self, name: str) -> bool:
        """Tell whether a flag was set."""
        return bool(self.values.get(name))


def parse(command: str, typed: list[str]) -> Asked:
    """Return what was asked for."""
    known = spellings(command)
    asked = Asked(command)
    rest = iter(typed)
    for word in rest:
        if word == "--":
            asked.words += rest
        elif not word.startswith("-") or word == "-":
            asked.words.append(word)
        else:
            flag, has_value, value = _split(word, known)
            name, kind = known[flag]
            if kind != "yes" and not has_value:
                value = _following(rest, flag)
            _keep(asked.values, name, kind, value if has_value or kind != "yes" else "")
    return asked


def spellings(command: str) -> dict[str, tuple[str, str]]:
    """Return name and kind of each flag that a command knows."""
    return {
        spelling: (name, kind)
        for forms, name, kind, _ in (*EVERYWHERE, *COMMANDS[command][2])
        for spelling in forms.split()
    }


def _split(word: str, known: dict[str, tuple[str, str]]) -> tuple[str, bool, str]:
    """Return the flag, whether a value hangs on it, and the value."""
    if not word.startswith("--"):
        flag, value = word[:2], word[2:]
        has_value, value = bool(value), value.removeprefix("=")
    else:
        flag, equals, value = word.partition("=")
        has_value = bool(equals)
    if flag not in known:
        from looptasks.core.suggestion import did_you_mean  # noqa: PLC0415 - mistakes

        near = did_you_mean(flag, [name for name in known if name != "|"])
        raise UsageError(f"unknown flag `{flag}`{near}", fix="`--help` lists the flags")
    return flag, has_value, value


def _following(rest: Any, flag: str) -> str:  # noqa: ANN401 - an iterator
    value = next(rest, None)
    if value is None:
        raise UsageError(f"`{flag}` needs a value", fix=f"write `{flag} VALUE`")
    return str(value)


def _keep(values: dict[str, Any], name: str, kind: str, value: str) -> None:
    if kind == "yes":
        values[name] = value.lower() not in ("false", "0", "no")
    elif kind == "list":
        parts = [part.strip() for part in value.split(",")]
        values.setdefault(name, []).extend(part for part in parts if part)
    else:
        values[name] = value
