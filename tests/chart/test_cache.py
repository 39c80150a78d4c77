"""Charts are compiled once per flow."""

from __future__ import annotations

from flowengine.chart import chart_of
from flowengine.chart.cache import CHARTS
from flowengine.flow.model import Flow, Phase


def flow(name: str) -> Flow:
    return Flow(flow=name, phases={"a": Phase()})


def test_equal_flows_share_a_chart() -> None:
    assert chart_of(flow("one")) is chart_of(flow("one"))
    assert chart_of(flow("one")) is not chart_of(flow("other"))


def test_a_known_hash_is_the_key() -> None:
    assert chart_of(flow("one"), key="k") is chart_of(flow("other"), key="k")


def test_the_chart_not_used_for_longest_makes_room() -> None:
    kept, lost = chart_of(flow("kept")), chart_of(flow("lost"))
    for number in range(CHARTS - 1):
        chart_of(flow(f"filler {number}"))
        assert chart_of(flow("kept")) is kept
    assert chart_of(flow("lost")) is not lost
