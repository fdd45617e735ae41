"""Times are RFC 3339 UTC, with milliseconds."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from looptasks.effects.system_clock import SystemClock, stamp


@given(st.floats(min_value=0, max_value=4e9))
def test_a_stamp_reads_back_as_the_same_millisecond(epoch: float) -> None:
    read = datetime.fromisoformat(stamp(epoch)).timestamp()
    assert abs(read - int(epoch * 1000) / 1000) < 1e-6


def test_now_is_between_before_and_after() -> None:
    clock = SystemClock()
    before = datetime.fromtimestamp(int(clock.epoch() * 1000) / 1000, UTC)
    now = datetime.fromisoformat(clock.now())
    assert before <= now <= datetime.now(UTC)
    assert clock.monotonic() <= clock.monotonic()
