"""A table: one row per ratio, with its limit and the verdict."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.samples import Ratio

THRESHOLDS = Path(__file__).with_name("thresholds.toml")
_TITLES = ("measure", "ratio", "95 % range", "limit", "rounds", "ours", "floor", "")


class Row(NamedTuple):
    """One measured ratio; without a limit it only informs."""

    name: str
    ratio: Ratio
    limit: float | None
    note: str = ""
    unit: str = " ms"
    goal: float | None = None

    @property
    def verdict(self) -> str:
        """Say whether the limit holds; `near` is over it, but by no more than noise."""
        if self.limit is None:
            return "info"
        if self.ratio.value <= self.limit:
            return "ok"
        return "BROKEN" if self.ratio.low > self.limit else "near"

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        ratio = self.ratio
        verdict = f"{self.verdict} ({self.note})" if self.note else self.verdict
        return (
            self.name,
            f"{ratio.value:.2f}",
            f"{ratio.low:.2f} to {ratio.high:.2f}",
            self._allowed(),
            str(ratio.rounds),
            self._spoken(ratio.ours_ms),
            self._spoken(ratio.floor_ms),
            verdict,
        )

    def _allowed(self) -> str:
        if self.limit is None:
            return ""
        far = self.goal is not None and self.goal != self.limit
        return f"{self.limit:.2f}" + (f", goal {self.goal:.2f}" if far else "")

    def _spoken(self, value: float) -> str:
        exact = value < 10 and self.unit
        return f"{value:.2f}{self.unit}" if exact else f"{value:.0f}{self.unit}"


class Limit(NamedTuple):
    """What a ratio may be at most, and what we want it to be."""

    most: float
    goal: float


def limits() -> dict[str, Limit]:
    """Return the limit of each measure."""
    declared = tomllib.loads(THRESHOLDS.read_text(encoding="utf-8"))
    return {
        name: Limit(float(entry["limit"]), float(entry.get("goal", entry["limit"])))
        for name, entry in declared.items()
    }


def markdown(rows: Iterable[Row]) -> str:
    """Return the rows as a Markdown table that is also readable as it is."""
    cells = [_TITLES, *(row.cells() for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(_TITLES))]
    lines = [_line(line, widths) for line in cells]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"
