"""The bucket of a principal: full at first, refilled with time, its own."""

import pytest

from moot.doors.http.gate.rate import Buckets


@pytest.mark.req("P-06")
def test_a_burst_of_five_seconds_then_one_at_a_time() -> None:
    now = [0.0]
    buckets = Buckets(10.0, lambda: now[0])
    assert [buckets.take("arya") for _ in range(50)] == [0.0] * 50
    assert buckets.take("arya") == pytest.approx(0.1)
    assert buckets.take("bob") == 0.0
    now[0] = 0.1
    assert buckets.take("arya") == 0.0
    assert buckets.take("arya") > 0
    now[0] = 1000.0
    assert [buckets.take("arya") for _ in range(50)] == [0.0] * 50
    assert buckets.take("arya") > 0
