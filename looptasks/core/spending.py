"""Spending: what agents have cost so far. Unknown is counted, never taken as zero."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Spending(NamedTuple):
    """Money, tokens and time; `unknown` calls told no cost, `guessed` ones no own."""

    cost_usd: float = 0.0
    calls: int = 0
    unknown: int = 0
    seconds: float = 0.0
    input: int = 0
    output: int = 0
    cached: int = 0
    untold: int = 0
    guessed: int = 0

    def add(
        self,
        cost_usd: float | None,
        tokens: Mapping[str, int] | None,
        seconds: float,
        *,
        guessed: bool = False,
    ) -> "Spending":
        """Return the spending after one more agent call."""
        told, calls = tokens or {}, 1
        # Positional: a long ledger adds thousands of times.
        return Spending(
            self.cost_usd + (cost_usd or 0.0),
            self.calls + calls,
            self.unknown + (calls if cost_usd is None else 0),
            self.seconds + seconds,
            self.input + told.get("input", 0),
            self.output + told.get("output", 0),
            self.cached + told.get("cached", 0),
            self.untold + (calls if tokens is None else 0),
            self.guessed + guessed,
        )

    def plus(self, other: "Spending") -> "Spending":
        """Return both together."""
        return together((self, other))

    @property
    def cost(self) -> float | None:
        """The whole cost, or None when any part of it is unknown."""
        return None if self.unknown or not self.calls else round(self.cost_usd, 6)

    @property
    def tokens(self) -> dict[str, int] | None:
        """All tokens, or None when any call did not tell."""
        if self.untold or not self.calls:
            return None
        return {"input": self.input, "output": self.output, "cached": self.cached}

    def spoken(self) -> str:
        """Say the cost in words.

        >>> Spending().add(0.5, None, 1).add(None, None, 1).spoken()
        '$0.50 + 1 unknown'
        """
        if not self.calls:
            return "no cost yet"
        if self.unknown == self.calls:
            return "cost unknown"
        rest = f" + {self.unknown} unknown" if self.unknown else ""
        guess = " (estimated)" if self.guessed else ""
        return f"${self.cost_usd:.2f}{guess}{rest}"


def together(spendings: Iterable[Spending]) -> Spending:
    """Return the sum of spendings.

    >>> together([Spending(1.5, 1), Spending(0.5, 2)])[:2]
    (2.0, 3)
    """
    # Column by column, in C: with many stages this is asked many times.
    return Spending(*map(sum, zip(*spendings, strict=True)))
