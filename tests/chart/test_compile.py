"""Names of a flow never reach python-statemachine."""

from __future__ import annotations

import pytest

from flowengine.chart import Chart, chart_of
from flowengine.flow.model import Flow, Phase, Transition
from flowengine.guards import is_true

ODD = [
    "end", "default", "model", "state", "send", "on_enter_state", "class", "s1", "root", "main",
    "付款", "x[y]", 'the "q"', "<b>", "a:b", "two words", "", "états ünïcode",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_any_name_is_a_phase_an_event_and_a_key_at_once(name: str) -> None:
    go = Transition(to="there", when=is_true(name or "x"), on=name)
    back = Transition(to=name, when=is_true(name or "x"), on=name)
    flow = Flow(
        flow="odd",
        phases={name: Phase(transitions=(go,)), "there": Phase(transitions=(back,))},
    )
    chart = chart_of(flow)
    there = chart.move(chart.start().active, {}, (chart.edges[0],)).active
    assert there == ("there",)
    assert chart.move(there, {}, (chart.edges[1],)).active == (name,)


def test_an_edge_that_stays_open_is_taken_once() -> None:
    round_and_round = {
        "a": Phase(transitions=(Transition(to="b", immediately=True),)),
        "b": Phase(transitions=(Transition(to="a", immediately=True),)),
    }
    chart = Chart(Flow(flow="loop", phases=round_and_round))
    assert chart.move(("a",), {}, (chart.edges[0],)).active == ("b",)


def test_a_final_phase_leaves_the_chart_usable() -> None:
    phases = {"a": Phase(transitions=(Transition(to="z"),)), "z": Phase(final=True)}
    chart = Chart(Flow(flow="ends", phases=phases))
    for _ in range(2):
        assert chart.move(("a",), {}, (chart.edges[0],)).active == ("z",)
