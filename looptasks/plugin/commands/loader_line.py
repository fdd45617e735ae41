"""The loader line: the one line of a configuration file that selects our loader."""

import re
from configparser import ConfigParser
from configparser import Error as IniError
from typing import Any, Protocol

from looptasks.errors import DeclarationError


class Config(Protocol):
    """A kind of configuration file that doit reads."""

    def loader(self, text: str, path: str) -> str | None:
        """Return the loader that the file selects, if any."""

    def with_loader(self, text: str, path: str) -> str:
        """Return the file with our line in it, and all else as it was."""


class Toml:
    """`pyproject.toml`: `loader` under `[tool.doit]`."""

    def loader(self, text: str, path: str) -> str | None:
        """Return the loader that the file selects, if any."""
        doit = self._parsed(text, path).get("tool", {}).get("doit", {})
        return doit.get("loader") if isinstance(doit, dict) else None

    def with_loader(self, text: str, path: str) -> str:
        """Return the file with our line in it, and all else as it was."""
        header = r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*doit[ \t]*\][ \t]*(#[^\r\n]*)?"
        line = 'loader = "loops"'
        edited = _with_line(text, header, "[tool.doit]", line)
        wanted = self._parsed(text, path)
        try:
            wanted.setdefault("tool", {}).setdefault("doit", {})["loader"] = "loops"
            certain = self._parsed(edited, path) == wanted
        except (DeclarationError, TypeError, AttributeError):
            certain = False
        return edited if certain else _by_hand(path, f"`{line}` under `[tool.doit]`")

    def _parsed(self, text: str, path: str) -> dict[str, Any]:
        import tomllib  # noqa: PLC0415 - only `init` needs it

        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _unparsable(path, str(error)) from error


class Ini:
    """`doit.cfg`: `loader` under `[GLOBAL]`."""

    def loader(self, text: str, path: str) -> str | None:
        """Return the loader that the file selects, if any."""
        return self._parsed(text, path).get("GLOBAL", {}).get("loader")

    def with_loader(self, text: str, path: str) -> str:
        """Return the file with our line in it, and all else as it was."""
        edited = _with_line(text, r"^\[GLOBAL\][^\r\n]*", "[GLOBAL]", "loader = loops")
        wanted = self._parsed(text, path)
        wanted.setdefault("GLOBAL", {})["loader"] = "loops"
        try:
            certain = self._parsed(edited, path) == wanted
        except DeclarationError:
            certain = False
        hand = "`loader = loops` under `[GLOBAL]`"
        return edited if certain else _by_hand(path, hand)

    def _parsed(self, text: str, path: str) -> dict[str, dict[str, str | None]]:
        # As doit does it: only the equal sign, and names keep their case.
        parser = ConfigParser(allow_no_value=True, delimiters=("=",))
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        try:
            parser.read_string(text)
            return {name: dict(parser[name]) for name in parser.sections()}
        except IniError as error:
            raise _unparsable(path, str(error)) from error


def _with_line(text: str, header: str, section: str, line: str) -> str:
    """Return the text with `line` first in its section, or in a new one at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    found = re.search(header + r"(?=\r?$)", text, re.MULTILINE)
    if found:
        return text[: found.end()] + newline + line + text[found.end() :]
    end = "" if not text or text.endswith("\n") else newline
    gap = newline if text else ""
    return text + end + gap + section + newline + line + newline


def _unparsable(path: str, why: str) -> DeclarationError:
    first, *_ = why.splitlines()
    return DeclarationError(
        f"this cannot be read: {first}", where=path, fix="mend it, and run it again"
    )


def _by_hand(path: str, line: str) -> str:
    raise DeclarationError(
        "this is written in a way that is not safe to edit",
        where=path,
        fix=f"add {line} yourself",
    )
