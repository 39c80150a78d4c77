"""What a chart says about its phases and about what may be taken."""

from __future__ import annotations

import pytest

from flowengine.chart import Chart, Edge, chart_of
from flowengine.errors import FlowError
from flowengine.flow.model import Digression, Flow, Phase, Region, Transition
from flowengine.guards import is_true


def to(name: str, **more: object) -> Transition:
    return Transition(to=name, when=is_true("go"), **more)  # type: ignore[arg-type]


def booking() -> Flow:
    return Flow(
        flow="booking",
        phases={
            "greet": Phase(transitions=(to("order"),)),
            "order": Phase(
                phases={"size": Phase(transitions=(to("date"),)), "date": Phase(initial=True)},
                transitions=(to("pay"), to("greet")),
            ),
            "pay": Phase(
                regions={
                    "money": Region(phases={"card": Phase(transitions=(to("paid"),))}),
                    "papers": Region(phases={"receipt": Phase()}),
                },
                transitions=(to("paid"),),
            ),
            "paid": Phase(final=True),
            "close": Phase(),
        },
        digressions={
            "hold": Digression(when=is_true("wait"), phases={"waiting": Phase(), "back": Phase()}),
            "faq": Digression(on="ask", resume="restart", phases={"answer": Phase()}),
        },
        monitors={
            "mood": Region(phases={"calm": Phase(transitions=(to("angry"),)), "angry": Phase()})
        },
        global_transitions=(to("close"),),
        fallback_transitions=(to("greet"),),
    )


@pytest.fixture
def chart() -> Chart:
    return chart_of(booking())


def shown(edges: tuple[Edge, ...]) -> list[tuple[str, str | None]]:
    return [(edge.kind, edge.target) for edge in edges]


def test_it_starts_in_the_initial_phase_of_every_region(chart: Chart) -> None:
    start = chart.start()
    assert start.active == ("greet", "calm")
    assert start.steps == (("enter", "greet"), ("enter", "calm"))
    assert start.history({}) == {}


def test_the_phase_marked_initial_is_entered_with_its_compound(chart: Chart) -> None:
    (edge,) = chart.candidates("greet")[3:4]
    assert chart.move(chart.start().active, {}, (edge,)).active == ("order", "date", "calm")


def test_candidates_stand_in_order_of_precedence(chart: Chart) -> None:
    assert shown(chart.candidates("size")) == [
        ("global", "close"),
        ("digression", "waiting"),
        ("digression", "answer"),
        ("own", "date"),
        ("own", "pay"),
        ("own", "greet"),
        ("fallback", "greet"),
    ]


def test_an_edge_of_a_compound_is_the_same_edge_for_each_of_its_leaves(chart: Chart) -> None:
    by_leaf = [
        {edge for edge in chart.candidates(leaf) if edge.source == "order"}
        for leaf in ("size", "date")
    ]
    assert len(by_leaf[0]) == 2
    assert by_leaf[0] == by_leaf[1]


def test_a_leaf_of_a_region_sees_its_own_edges_and_those_around_all_regions(chart: Chart) -> None:
    own = [edge.source for edge in chart.candidates("receipt") if edge.kind == "own"]
    assert own == ["pay"]
    assert [e.source for e in chart.candidates("card") if e.kind == "own"] == ["card", "pay"]


@pytest.mark.parametrize("leaf", ["paid", "calm"])
def test_flow_wide_edges_stay_out_of_final_phases_and_monitors(chart: Chart, leaf: str) -> None:
    assert all(edge.kind == "own" for edge in chart.candidates(leaf))


def test_a_flow_wide_edge_is_no_candidate_where_it_leads(chart: Chart) -> None:
    assert ("global", "close") not in shown(chart.candidates("close"))
    assert ("fallback", "greet") not in shown(chart.candidates("greet"))


def test_a_digression_does_not_interrupt_itself(chart: Chart) -> None:
    for leaf in ("waiting", "back"):
        assert [e.target for e in chart.candidates(leaf) if e.kind == "digression"] == ["answer"]


def test_offers_leave_out_flow_wide_edges_to_what_another_region_is_in() -> None:
    flow = Flow(
        flow="f",
        phases={
            "both": Phase(
                regions={
                    "left": Region(phases={"l": Phase()}),
                    "right": Region(phases={"r": Phase()}),
                }
            )
        },
        global_transitions=(to("r"),),
    )
    chart = chart_of(flow)
    assert shown(chart.candidates("l")) == [("global", "r")]
    assert chart.offers(chart.start().active) == (("l", ()), ("r", ()))


def test_every_flow_wide_edge_is_listed_once(chart: Chart) -> None:
    assert [edge.kind for edge in chart.edges if edge.source is None] == [
        "global", "digression", "digression", "fallback", "resume", "resume", "restart",
        *["correction"] * 9,
    ]  # fmt: skip
    assert [edge.index for edge in chart.edges] == list(range(len(chart.edges)))


def test_where_phases_lie(chart: Chart) -> None:
    assert chart.regions == ("main", "mood")
    assert chart.ancestors("card") == ("pay",)
    assert (chart.parent("size"), chart.parent("order")) == ("order", None)
    assert [chart.region_of(name) for name in ("card", "answer", "angry")] == [
        "main",
        "main",
        "mood",
    ]
    assert [chart.digression_of(name) for name in ("card", "answer", "angry")] == [
        None,
        "faq",
        None,
    ]
    assert (chart.is_final("paid"), chart.is_final("pay")) == (True, False)
    names = [name for name, _, _ in booking().walk()]
    assert sorted(names, key=chart.order) == names


def test_leaves_of_a_configuration(chart: Chart) -> None:
    active = chart.configuration(["angry", "pay", "receipt", "card"])
    assert active == ("pay", "card", "receipt", "angry")
    assert chart.leaves(active) == ("card", "receipt", "angry")
    assert chart.main_leaf(active) == "card"
    assert chart.leaf_of(active, "mood") == "angry"


def test_a_configuration_is_one_tuple_however_it_was_reached(chart: Chart) -> None:
    started = chart.start().active
    assert chart.configuration(list(reversed(started))) is started


def test_a_configuration_of_another_flow_is_named_with_a_guess(chart: Chart) -> None:
    with pytest.raises(
        FlowError, match=r"'recipt' is no phase of this flow. Did you mean 'receipt'"
    ):
        chart.configuration(["pay", "card", "recipt", "calm"])
