"""What selected edges do: order of steps, regions, history, digressions, and what is remembered."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flowengine.chart import Chart, Edge, Move, chart_of
from flowengine.errors import FlowError
from flowengine.flow.model import Digression, Flow, Phase, Region, Transition
from flowengine.guards import is_true


def to(name: str, **more: Any) -> Transition:
    return Transition(to=name, when=is_true("go"), **more)


def edge(chart: Chart, source: str | None, target: str, number: int = 0) -> Edge:
    return [e for e in chart.edges if (e.source, e.target) == (source, target)][number]


def told(move: Move) -> list[str]:
    signs = {"exit": "-", "enter": "+"}
    return [signs[how] + str(what) if how in signs else "*" for how, what in move.steps]


NESTED = Flow(
    flow="nested",
    phases={
        "a": Phase(
            phases={
                "a1": Phase(phases={"a11": Phase(), "a12": Phase()}, transitions=(to("a2"),)),
                "a2": Phase(transitions=(to("a12"),)),
            },
            transitions=(to("b"),),
        ),
        "b": Phase(
            transitions=(
                to("a"), to("a", history="shallow"), to("a", history="deep"),
                to("b"), to("b", external=True),
            ),
        ),
    },
)  # fmt: skip


def test_exits_come_from_the_inside_then_actions_then_entries_from_the_outside() -> None:
    chart = chart_of(NESTED)
    move = chart.move(("a", "a1", "a11"), {}, (edge(chart, "a", "b"),))
    assert told(move) == ["-a11", "-a1", "-a", "*", "+b"]
    assert told(chart.move(("b",), {}, (edge(chart, "b", "a"),))) == [
        "-b",
        "*",
        "+a",
        "+a1",
        "+a11",
    ]


def test_a_self_transition_leaves_and_enters_only_if_external() -> None:
    chart = chart_of(NESTED)
    internal, external = (edge(chart, "b", "b", n) for n in (0, 1))
    assert told(chart.move(("b",), {}, (internal,))) == ["*"]
    assert told(chart.move(("b",), {}, (external,))) == ["-b", "*", "+b"]


@pytest.mark.parametrize(("number", "entered"), [(0, "a a1 a11"), (1, "a a1 a11"), (2, "a a1 a12")])
def test_shallow_history_recalls_the_child_and_deep_history_the_leaf(
    number: int, entered: str
) -> None:
    chart = chart_of(NESTED)
    left = chart.move(("a", "a1", "a12"), {}, (edge(chart, "a", "b"),))
    history = left.history({})
    assert history == {"phase:a": ("a12",)}
    back = chart.move(left.active, history, (edge(chart, "b", "a", number),))
    assert " ".join(back.active) == entered
    assert [step[0] for step in back.steps].count("edge") == 1


def test_history_never_recorded_is_the_initial_phase() -> None:
    chart = chart_of(NESTED)
    move = chart.move(("b",), {}, (edge(chart, "b", "a", 2),))
    assert move.active == ("a", "a1", "a11")


def test_history_that_stays_the_same_stays_the_same_object() -> None:
    chart = chart_of(NESTED)
    leave = edge(chart, "a", "b")
    history = chart.move(("a", "a2"), {}, (leave,)).history({})
    assert chart.move(("a", "a2"), history, (leave,)).history(history) is history
    assert chart.move(("b",), history, (edge(chart, "b", "b"),)).history(history) is history


def test_history_of_another_flow_is_an_error_and_the_next_move_works() -> None:
    chart = chart_of(NESTED)
    back = edge(chart, "b", "a", 2)
    with pytest.raises(FlowError, match=r"history of 'phase:a' names 'gone'"):
        chart.move(("b",), {"phase:a": ("gone",)}, (back,))
    assert chart.move(("b",), {"phase:a": ("a2",)}, (back,)).active == ("a", "a2")


def test_an_edge_of_a_phase_that_is_not_active_is_refused() -> None:
    chart = chart_of(NESTED)
    with pytest.raises(ValueError, match="out of 'a' is taken, which is not active"):
        chart.move(("b",), {}, (edge(chart, "a", "b"),))


PARALLEL = Flow(
    flow="parallel",
    phases={
        "p": Phase(
            regions={
                "left": Region(
                    phases={"l1": Phase(transitions=(to("l2"), to("out"))), "l2": Phase()}
                ),
                "right": Region(
                    phases={"r1": Phase(transitions=(to("r2"), to("out"))), "r2": Phase()}
                ),
            }
        ),
        "out": Phase(),
    },
    monitors={
        "m": Region(phases={"m1": Phase(transitions=(to("m2"),)), "m2": Phase()}),
        "n": Region(phases={"n1": Phase(transitions=(to("n2"),)), "n2": Phase()}),
    },
    fallback_transitions=(to("out"),),
)  # fmt: skip
ALL = ("p", "l1", "r1", "m1", "n1")


def test_all_regions_move_in_one_microstep() -> None:
    chart = chart_of(PARALLEL)
    pairs = (("l1", "l2"), ("r1", "r2"), ("m1", "m2"), ("n1", "n2"))
    edges = tuple(edge(chart, *pair) for pair in pairs)
    move = chart.move(ALL, {}, edges)
    assert move.active == ("p", "l2", "r2", "m2", "n2")
    assert told(move)[:4] == ["-n1", "-m1", "-r1", "-l1"]
    assert move.steps[4:8] == tuple(("edge", taken) for taken in edges)
    assert told(move)[8:] == ["+l2", "+r2", "+m2", "+n2"]


def test_the_first_leaf_wins_a_conflict_between_regions() -> None:
    chart = chart_of(PARALLEL)
    stay, leave = edge(chart, "l1", "l2"), edge(chart, "r1", "out")
    assert chart.move(ALL, {}, (stay, leave)).taken == (stay,)
    leave, stay = edge(chart, "l1", "out"), edge(chart, "r1", "r2")
    assert chart.move(ALL, {}, (leave, stay)).taken == (leave,)


def test_an_edge_from_inside_wins_over_a_fallback() -> None:
    chart = chart_of(PARALLEL)
    inside, fallback = edge(chart, "r1", "r2"), edge(chart, None, "out")
    assert chart.move(ALL, {}, (fallback, inside)).taken == (inside,)


def test_a_region_is_asked_about_once_whatever_the_others_do() -> None:
    chart = Chart(PARALLEL)
    left, m, n = (edge(chart, *pair) for pair in (("l1", "l2"), ("m1", "m2"), ("n1", "n2")))
    for edges in ((left,), (left, m), (left, n), (left, m, n), (m, n), (m,), (n,)):
        for active in (ALL, (*ALL,)):
            chart.move(active, {}, edges)
    assert chart.misses == 3


DETOURS = Flow(
    flow="detours",
    phases={
        "ask": Phase(phases={"name": Phase(), "date": Phase()}),
        "last": Phase(),
    },
    digressions={
        "hold": Digression(on="hold", phases={"wait": Phase(), "thanks": Phase()}),
        "faq": Digression(on="faq", phases={"answer": Phase()}),
        "again": Digression(on="again", resume="restart", phases={"sorry": Phase()}),
    },
    monitors={"m": Region(phases={"calm": Phase()})},
)


def test_digressions_nest_and_each_resumes_what_it_interrupted() -> None:
    chart = chart_of(DETOURS)
    first = chart.move(("ask", "date", "calm"), {}, (edge(chart, None, "wait"),))
    history = first.history({})
    inside = chart.configuration(("thanks", "calm"))
    second = chart.move(inside, history, (edge(chart, None, "answer"),))
    history = second.history(history)
    assert history == {"body": ("date",), "digression:hold": ("thanks",)}

    history = {key: tuple(v) for key, v in json.loads(json.dumps(history)).items()}
    back = chart.move(second.active, history, (chart.resume_edge("faq", "hold"),))
    assert told(back) == ["-answer", "*", "+thanks"]
    home = chart.move(back.active, back.history(history), (chart.resume_edge("hold", None),))
    assert told(home) == ["-thanks", "*", "+ask", "+date"]


def test_a_restart_enters_the_body_at_its_initial_phase() -> None:
    chart = chart_of(DETOURS)
    move = chart.move(("sorry", "calm"), {"body": ("last",)}, (chart.restart_edge("again"),))
    assert move.active == ("ask", "name", "calm")


def test_threads_share_a_chart() -> None:
    chart = Chart(PARALLEL)
    edges = tuple(edge(chart, *pair) for pair in (("l1", "l2"), ("m1", "m2")))
    expected = told(Chart(PARALLEL).move(ALL, {}, edges))
    with ThreadPoolExecutor(4) as pool:
        moves = list(pool.map(lambda _: chart.move(ALL, {}, edges), range(40)))
    assert all(told(move) == expected for move in moves)
