"""Samples: contenders timed in turns, so that a busy machine is busy for all of them.

Every round times every contender once and gives one ratio; the verdict is the median
of the ratios. Rounds go on until the median's 95 % range leaves no doubt about the
limit, or is narrow, or the effort is spent.
"""

import math
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

Contender = Callable[[], float]
_NARROW = 0.02


class Effort(NamedTuple):
    """How long to try: rounds at least and at most, and seconds."""

    least: int
    most: int
    seconds: float


class Ratio(NamedTuple):
    """The median of paired ratios, the range it lies in, and what it was made of."""

    value: float
    low: float
    high: float
    rounds: int
    ours_ms: float
    floor_ms: float

    def sure(self, limit: float | None) -> bool:
        """Tell whether more rounds would change nothing that matters."""
        if limit is not None and (self.high <= limit or self.low > limit):
            return True
        return self.high - self.low <= _NARROW * self.value


def compare(
    ours: Contender, floor: Contender, limit: float | None, effort: Effort
) -> Ratio:
    """Time two contenders in turns, and say how ours stands to the floor."""
    until = time.monotonic() + effort.seconds
    pairs: list[tuple[float, float]] = []
    while len(pairs) < effort.most:
        # Whoever comes second may find caches warm: they take turns at that, too.
        if len(pairs) % 2:
            second = floor()
            pairs.append((ours(), second))
        else:
            first = ours()
            pairs.append((first, floor()))
        if len(pairs) >= effort.least:
            ratio = summary(pairs)
            if ratio.sure(limit) or time.monotonic() > until:
                break
    return summary(pairs)


def summary(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """Return the paired median of ours to the floor, with its range."""
    ratios = sorted(ours / floor for ours, floor in pairs)
    low, high = median_range(ratios)
    ours_ms, floor_ms = (median(side) * 1e3 for side in zip(*pairs, strict=True))
    return Ratio(median(ratios), low, high, len(ratios), ours_ms, floor_ms)


def median_range(ordered: Sequence[float]) -> tuple[float, float]:
    """Return where the median lies with 95 % confidence, whatever the noise is like.

    >>> median_range([1.0, 2.0, 3.0])
    (1.0, 3.0)
    """
    count = len(ordered)
    reach = 0.98 * math.sqrt(count)
    first = max(math.floor(count / 2 - reach), 0)
    return ordered[first], ordered[count - 1 - first]
