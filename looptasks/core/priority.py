"""A priority: how much work that is ready deserves the next free slot.

The innermost work goes first, because it brings the whole to an end; waiting raises
it, so that nothing waits for ever; failing lowers it.
"""

_DEEPEST, _LAYER = 100, 20
_LEVEL, _FAILED = 10, 5
_MINUTE, _MOST_WAITING, _MOST_FAILED = 60.0, 50, 30


def base(depth: int, deepest: int, declared: int | None = None) -> int:
    """Return where a stage begins: leaves first, unless it is declared.

    >>> [base(depth, 3) for depth in range(4)]
    [40, 60, 80, 100]
    """
    if declared is not None:
        return declared
    return max(_DEEPEST - _LAYER * (deepest - depth), 0)


def priority(base: int, depth: int, waited: float = 0.0, failed: int = 0) -> int:
    """Return the priority of work that has waited so many seconds for a slot.

    >>> priority(80, 2, waited=30 * 60)
    130
    """
    aged = min(int(max(waited, 0.0) // _MINUTE), _MOST_WAITING)
    return base + aged + _LEVEL * depth - min(_FAILED * failed, _MOST_FAILED)
