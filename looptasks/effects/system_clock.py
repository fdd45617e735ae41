"""The system clock: the time of day, and time that only goes forward."""

import time


class SystemClock:
    """Tells the time as this machine knows it."""

    def now(self) -> str:
        """Return the time as RFC 3339 UTC, with milliseconds."""
        return stamp(time.time())

    def epoch(self) -> float:
        """Return the seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never jump, to measure with."""
        return time.monotonic()


def stamp(epoch: float) -> str:
    """Write a time as RFC 3339 UTC, with milliseconds.

    >>> stamp(1.5)
    '1970-01-01T00:00:01.500Z'
    """
    millis = int(epoch * 1000)
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(millis // 1000))
    return f"{day}.{millis % 1000:03d}Z"
