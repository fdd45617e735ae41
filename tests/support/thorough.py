"""Thoroughness: how many of the possible instants a sweep tries.

A sweep that kills at every step takes minutes. By default each tries a part of them,
others than its neighbours do; `LOOPTASKS_THOROUGH=1` tries all.
"""

import itertools
import os
from collections.abc import Iterator

THOROUGH = os.environ.get("LOOPTASKS_THOROUGH", "") not in ("", "0")


def instants(count: int, every: int, first: int = 0) -> list[int]:
    """Return the numbers up to `count` that a sweep tries, the last one included."""
    if THOROUGH:
        return list(range(1, count + 1))
    chosen = set(range(1 + first % every, count + 1, every))
    return sorted(chosen | {count})


def onwards(every: int, first: int = 0) -> Iterator[int]:
    """Yield the instants of a sweep that finds out by itself where it ends."""
    return itertools.count(1) if THOROUGH else itertools.count(1 + first, every)
