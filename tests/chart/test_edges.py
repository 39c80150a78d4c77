"""How the edges of a flow become edges of its chart, and which flows have none."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.chart import Edge, chart_of
from flowengine.errors import FlowError
from flowengine.flow.model import Digression, Flow, Phase, Region, Transition
from flowengine.guards import is_true

GO = is_true("go")


def to(name: str, **more: Any) -> Transition:
    return Transition(to=name, when=GO, **more)


def edges(**flow: Any) -> tuple[Edge, ...]:
    """All edges but those that a correction takes, which every phase has."""
    found = chart_of(Flow(flow="f", **flow)).edges
    return tuple(edge for edge in found if edge.kind != "correction")


def test_entry_guards_are_those_of_the_target_and_of_the_phases_entered_on_the_way() -> None:
    inner = {"x": Phase(entry=GO, transitions=(to("y"), to("in"))), "y": Phase(entry=GO)}
    phases = {
        "out": Phase(transitions=(to("y"), to("top"))),
        "top": Phase(entry=GO, phases={"in": Phase(entry=GO, phases=inner)}),
    }
    guarded = {(e.source, e.target): e.entry_guarded for e in edges(phases=phases)}
    assert guarded == {
        ("out", "y"): ("y", "in", "top"),
        ("out", "top"): ("top",),
        ("x", "y"): ("y",),
        ("x", "in"): ("in",),
    }


def test_a_flow_wide_edge_enters_its_target_anew_with_all_around_it() -> None:
    phases = {"top": Phase(entry=GO, phases={"x": Phase(), "y": Phase()})}
    (edge,) = edges(phases=phases, global_transitions=(to("y"),))
    assert edge.entry_guarded == ("top",)
    chart = chart_of(Flow(flow="f", phases=phases, global_transitions=(to("y"),)))
    steps = chart.move(("top", "x"), {}, (chart.edges[0],)).steps
    assert [step[1] for step in steps if step[0] == "enter"] == ["top", "y"]


def test_a_self_transition_is_internal_unless_external() -> None:
    phases = {"p": Phase(entry=GO, transitions=(to("p"), to("p", external=True)))}
    inside, outside = edges(phases=phases)
    assert (inside.internal, inside.entry_guarded) == (True, ())
    assert (outside.internal, outside.entry_guarded) == (False, ("p",))


def test_history_of_a_leaf_is_the_leaf() -> None:
    (edge,) = edges(phases={"p": Phase(transitions=(to("q", history="deep"),)), "q": Phase()})
    assert (edge.history, edge.recalls) == (None, None)


def test_a_digression_leads_to_its_initial_phase_and_reads_its_entry_guard() -> None:
    detour = Digression(on="ask", phases={"a": Phase(), "b": Phase(initial=True, entry=GO)})
    edge = edges(phases={"p": Phase()}, digressions={"d": detour})[0]
    assert (edge.kind, edge.target, edge.event) == ("digression", "b", "ask")
    assert edge.entry_guarded == ("b",)


def test_a_correction_leads_back_to_any_phase_of_the_body() -> None:
    detour = Digression(on="ask", phases={"a": Phase()})
    phases = {"p": Phase(phases={"q": Phase(entry=GO)}), "r": Phase()}
    chart = chart_of(Flow(flow="f", phases=phases, digressions={"d": detour}))
    back = chart.back_to("q")
    assert back is not None
    assert (back.kind, back.target, back.entry_guarded) == ("correction", "q", ())
    assert chart.move(("a",), {}, (back,)).active == ("p", "q")
    assert chart.back_to("a") is None
    assert back not in chart.candidates("r")


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            {"phases": {"greet": Phase(transitions=(to("clsoe"),)), "close": Phase()}},
            "a transition of phase 'greet' leads to 'clsoe', which is no phase. "
            "Did you mean 'close'?",
        ),
        (
            {"phases": {"p": Phase()}, "global_transitions": (to("nowhere"),)},
            "a global transition leads to 'nowhere', which is no phase.",
        ),
        (
            {"phases": {"p": Phase(phases={"q": Phase()}), "q": Phase()}},
            "two phases are called 'q': rename one of them",
        ),
        (
            {
                "phases": {"p": Phase()},
                "monitors": {"m": Region(phases={"q": Phase(transitions=(to("p"),))})},
            },
            "a transition of phase 'q' leads to 'p' in another region: "
            "raise an event there instead",
        ),
        (
            {
                "phases": {"p": Phase()},
                "monitors": {"m": Region(phases={"q": Phase()})},
                "fallback_transitions": (to("q"),),
            },
            "a fallback transition leads to 'q', a phase of a monitor",
        ),
        (
            {"phases": {"p": Phase()}, "monitors": {"main": Region(phases={"q": Phase()})}},
            "a monitor cannot be called 'main': call it something else",
        ),
    ],
)
def test_a_flow_that_cannot_be_compiled_says_what_to_change(
    flow: dict[str, Any], message: str
) -> None:
    with pytest.raises(FlowError) as caught:
        edges(**flow)
    assert str(caught.value) == message
