"""The README, taken apart: its marked code blocks and its tables."""

import re
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^<!-- ([^\n]+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\|(.*)\|$")


class Block(NamedTuple):
    """A code block, and the words of the comment above it."""

    words: tuple[str, ...]
    text: str

    @property
    def kind(self) -> str:
        """The first word of the comment, such as `run`."""
        return self.words[0]

    @property
    def exit_code(self) -> int:
        """The exit code that `exit=N` promises."""
        codes = [word[5:] for word in self.words if word.startswith("exit=")]
        return int(codes[0]) if codes else 0


class Readme:
    """A README file."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text()
        self.blocks = [
            Block(tuple(mark.split()), text) for mark, text in _BLOCK.findall(self.text)
        ]

    def block(self, *words: str) -> str:
        """Return the one block with this comment above it."""
        (found,) = [block.text for block in self.blocks if block.words == words]
        return found

    def table(self, heading: str) -> list[list[str]]:
        """Return the rows of the first table after a line, without its head."""
        lines = self.text.partition(f"\n{heading}\n")[2].splitlines()
        start = next(n for n, line in enumerate(lines) if _ROW.match(line))
        rows = []
        for line in lines[start + 2 :]:
            if not _ROW.match(line):
                break
            rows.append([cell.strip() for cell in line[1:-1].split("|")])
        return rows

    def words(self, heading: str, column: int = 0) -> list[str]:
        """Return the words in back-ticks of a table's column."""
        cells = [row[column] for row in self.table(heading)]
        return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def missing_lines(promised: str, printed: str) -> list[str]:
    """Return the promised lines that were not printed in that order.

    In a promised line `…` stands for anything.
    """
    rest = iter(printed.splitlines())
    missing = []
    for line in promised.splitlines():
        parts = (re.escape(part) for part in line.split("…"))
        pattern = re.compile(".*".join(parts))
        if not any(pattern.fullmatch(other) for other in rest):
            missing.append(line)
    return missing
