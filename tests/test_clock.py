"""Clocks and the spelling of durations."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.clock import LONGEST, ManualClock, SystemClock, duration_ms, duration_text


def test_the_systems_clock_counts_milliseconds_since_the_epoch() -> None:
    assert abs(SystemClock().now() - time.time() * 1000) < 60_000


def test_a_manual_clock_moves_only_when_told_and_never_back() -> None:
    clock = ManualClock(1_000)
    assert clock.now() == clock.now() == 1_000
    assert clock.advance(30) == clock.now() == 1_030
    assert clock.advance(0) == 1_030
    with pytest.raises(ValueError, match="never goes back"):
        clock.advance(-1)
    assert ManualClock().now() == ManualClock().now()


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("500ms", 500), ("30s", 30_000), ("1.5s", 1_500), ("1m30s", 90_000), ("2h", 7_200_000),
     ("1d", 86_400_000), ("0s", 0)],
)  # fmt: skip
def test_durations_are_read_as_a_flow_writes_them(text: str, milliseconds: int) -> None:
    assert duration_ms(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "30", "s", "30 s", "-1s", "1m 30s", "30sec", "1e3s", "٣s", "9" * 400 + "d",
             "200000d"],
)  # fmt: skip
def test_anything_else_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        duration_ms(text)


@given(st.integers(0, LONGEST))
def test_a_duration_reads_back_from_its_shortest_spelling(milliseconds: int) -> None:
    assert duration_ms(duration_text(milliseconds)) == milliseconds


def test_the_shortest_spelling_leaves_out_what_is_zero() -> None:
    assert [duration_text(n) for n in (0, 90_000, 3_600_000, 86_400_500)] == [
        "0s", "1m30s", "1h", "1d500ms",
    ]  # fmt: skip
