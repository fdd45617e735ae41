"""A price: what a model's tokens cost, for agents that tell tokens but no cost."""

from collections.abc import Mapping
from typing import NamedTuple

from looptasks.core.agent import Tokens

_MILLION = 1_000_000


class Price(NamedTuple):
    """Dollars for a million tokens."""

    input: float
    output: float
    cached: float

    def of(self, tokens: Tokens) -> float:
        """Return what the tokens cost.

        >>> Price(1.0, 10.0, 0.1).of(Tokens(1_000_000, 100_000, 1_000_000))
        2.1
        """
        parts = zip(self, tokens, strict=True)
        return round(sum(price * count for price, count in parts) / _MILLION, 6)


def estimate(
    tokens: Tokens | None, model: str, prices: Mapping[str, Price]
) -> float | None:
    """Return the cost by the table, None when it or the tokens do not tell.

    A provider's name before the model's is not needed in the table.
    """
    price = prices.get(model) or prices.get(model.rpartition("/")[2])
    return price.of(tokens) if price and tokens else None
