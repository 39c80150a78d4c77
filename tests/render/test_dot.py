"""DOT text: what it says, that it is stable, that any name survives in it."""

from __future__ import annotations

import pytest

from flowengine.flow.model import Flow, Phase, Transition
from flowengine.render import RenderError, to_dot


def line_of(dot: str, start: str) -> str:
    return next(line.strip() for line in dot.splitlines() if line.strip().startswith(start))


def test_the_same_flow_gives_the_same_text(debt: Flow) -> None:
    again = Flow.model_validate(debt.model_dump(by_alias=True))
    assert to_dot(debt) == to_dot(again)


def test_a_small_flow_line_by_line() -> None:
    flow = Flow(
        flow="f",
        phases={
            "ask": Phase(title="Ask them", transitions=(Transition(to="end", on="ok"),)),
            "end": Phase(final=True),
        },
    )
    head, *_ = table = to_dot(flow).splitlines()
    assert head == "digraph flow {"
    assert [line.split(" [")[0].strip() for line in table] == [
        "digraph flow {", "graph", "node", "edge", "start", "start -> p0", "p0", "p1", "p0 -> p1",
        "}",
    ]  # fmt: skip
    assert "<B>ask</B>" in line_of(to_dot(flow), "p0 [")
    assert ">Ask them</FONT>" in line_of(to_dot(flow), "p0 [")
    assert "peripheries=2" in line_of(to_dot(flow), "p1 [")
    assert "label=<  on: ok >" in line_of(to_dot(flow), "p0 -> p1")


def test_progress_shows_in_colours_and_classes(debt: Flow) -> None:
    dot = to_dot(debt, active=["plan"], visited=["greeting"], edges_taken=["greeting.0"])
    assert 'class="phase active"' in line_of(dot, "p4 [")
    assert 'fillcolor="#2563eb"' in line_of(dot, "p4 [")
    assert 'class="phase visited"' in line_of(dot, "p1 [")
    assert 'class="own taken"' in line_of(dot, "p1 -> p2")
    assert "taken" not in to_dot(debt)


def test_kinds_of_edges_differ_in_stroke(debt: Flow) -> None:
    dot = to_dot(debt)
    exit, back = line_of(dot, "p2 -> p9"), line_of(dot, 'p4 -> p5 [id="e7"')
    assert 'color="#dc2626"' in exit
    assert "style=dashed" in exit
    assert "style=dotted" in back
    assert "dir=back" in back


def test_a_group_is_left_at_its_border(debt: Flow) -> None:
    assert "ltail=cluster_p3" in line_of(to_dot(debt), "p5 -> p7")


def test_regions_are_entered_at_the_border_that_holds_them(clinic: Flow) -> None:
    dot = to_dot(clinic)
    assert "lhead=cluster_p1" in line_of(dot, "p0 -> p1r0start")
    assert "dashed" in line_of(dot, 'graph [id="p1r0"')
    assert "dashed" in line_of(dot, 'graph [id="m0"')


def test_loops_of_one_phase_are_one_line_that_says_both() -> None:
    loops = (Transition(to="a", on="x"), Transition(to="a", on="y", external=True))
    dot = to_dot(Flow(flow="f", phases={"a": Phase(transitions=loops)}))
    assert dot.count("p0 -> p0") == 1
    assert "on: x <BR/>or<BR/>  on: y <BR/>  external" in line_of(dot, "p0 -> p0")


def test_direction_and_legend_are_asked_for(debt: Flow) -> None:
    assert "rankdir=LR" in to_dot(debt, direction="LR")
    assert "legend" not in to_dot(debt)
    assert "from any phase" in line_of(to_dot(debt, legend=True), "legend [")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("<b>", "&lt;b&gt;"),
        ('"q"', "&quot;q&quot;"),
        ("a&amp;b", "a&amp;amp;b"),
        ("back\\N", "back\\\\N"),
        ("付款", "付款"),
        ("two\nlines", "two</B></FONT>"),
        ("\u2028", "&#8232;"),
        ("end", "end"),
    ],
)
def test_a_name_is_spelled_as_html(name: str, spelled: str) -> None:
    dot = to_dot(Flow(flow=name, phases={name: Phase()}))
    assert spelled in line_of(dot, "p0 [")


def test_a_phase_that_is_not_there_cannot_be_active(debt: Flow) -> None:
    with pytest.raises(RenderError, match=r"'plam' is not the name of a phase.*'plan'"):
        to_dot(debt, active=["plam"])


def test_an_edge_that_is_not_there_was_not_taken(debt: Flow) -> None:
    with pytest.raises(RenderError, match=r"'plan\.7' is not the name of an edge"):
        to_dot(debt, edges_taken=["plan.7"])
