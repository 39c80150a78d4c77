"""What is on a picture, and how often."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowengine.errors import FlowError
from flowengine.flow.model import Flow, Phase, Transition
from flowengine.kernel.compiled import compile_flow
from flowengine.render import Picture, picture_of

SEEDS = st.integers(0, 100_000)


def drawn(flow: Flow) -> list[tuple[str, str, str]]:
    """Kind and ends of each edge, by name."""
    picture = picture_of(flow)
    names = {item.id: item.name for item in picture.items}
    return [(edge.kind, names[edge.source], names[edge.target]) for edge in picture.edges]


def groups_around(picture: Picture, id: str) -> set[str]:
    parents = {item.id: item.group for item in picture.items}
    around: set[str] = set()
    while (parent := parents[id]) is not None:
        around.add(parent)
        id = parent
    return around


@given(SEEDS)
def test_every_phase_is_there_once_and_counted_in_document_order(
    random_flows: ModuleType, seed: int
) -> None:
    flow = random_flows.random_flow(seed)
    items = {item.id: item.name for item in picture_of(flow).items}
    assert [items[f"p{n}"] for n, _ in enumerate(flow.walk())] == [name for name, *_ in flow.walk()]


@given(SEEDS)
def test_an_edge_never_joins_a_group_to_what_lies_in_it(
    random_flows: ModuleType, seed: int
) -> None:
    picture = picture_of(random_flows.random_flow(seed))
    for edge in picture.edges:
        assert edge.source not in groups_around(picture, edge.target)
        assert edge.target not in groups_around(picture, edge.source)


@given(SEEDS)
def test_edges_are_named_as_the_facts_of_a_session_name_them(
    random_flows: ModuleType, seed: int
) -> None:
    flow = random_flows.random_flow(seed)
    names = [name for edge in picture_of(flow).edges for name in edge.names]
    inner = {name for name in compile_flow(flow).by_name if name.startswith("correction.")}
    assert Counter(names) == Counter(set(compile_flow(flow).by_name) - inner)


def test_edges_of_the_whole_flow_are_drawn_once(debt: Flow) -> None:
    wide = [edge for edge in drawn(debt) if edge[0] in ("global", "fallback")]
    assert wide == [
        ("global", "any phase", "closed"),
        ("fallback", "otherwise", "callback"),
    ]


def test_an_exit_leaves_what_has_another_way_on(debt: Flow) -> None:
    assert [edge for edge in drawn(debt) if edge[0] == "exit"] == [
        ("exit", "verify", "wrong_party"),
        ("exit", "negotiation", "dispute"),
    ]


def test_loops_and_ways_back_have_kinds_of_their_own(debt: Flow) -> None:
    edges = drawn(debt)
    assert ("self", "verify", "verify") in edges
    assert ("back", "promise", "plan") in edges
    assert ("own", "recap", "closed") in edges


def test_event_time_and_guard_are_lines_of_an_edge(debt: Flow) -> None:
    said = {edge.names[0]: edge.condition for edge in picture_of(debt).edges}
    assert said["verify.0"] == ("on: id_failed", "attempts < 3")
    assert said["verify.1"] == ("is_true(right_party)", "and is_true(id_verified)")
    assert said["plan.0"] == ("after 30s",)


def test_history_is_a_mark_in_its_group(clinic: Flow) -> None:
    picture = picture_of(clinic)
    marks = {node.name: node.group for node in picture.nodes if node.kind == "history"}
    names = {item.id: item.name for item in picture.items}
    assert {mark: names[group or ""] for mark, group in marks.items()} == {
        "H": "time",
        "H*": "visit",
    }


def test_a_digression_is_entered_from_anywhere_and_left_by_an_edge(clinic: Flow) -> None:
    edges = drawn(clinic)
    assert [edge for edge in edges if edge[0] == "digression"] == [
        ("digression", "any phase", name) for name in ("hours", "language", "abuse")
    ]
    assert [edge for edge in edges if edge[0] == "return"] == [
        ("return", "hours", "where it left"),
        ("return", "language", "the beginning"),
        ("return", "abuse", ""),
    ]


def test_an_entry_guard_stands_with_its_phase(debt: Flow) -> None:
    notes = {item.name: item.notes for item in picture_of(debt).items}
    assert notes["negotiation"] == ("entry: is_true(id_verified)",)


def test_an_edge_to_nowhere_names_the_phase_that_was_meant() -> None:
    flow = Flow(flow="f", phases={"greeting": Phase(transitions=(Transition(to="greting"),))})
    with pytest.raises(FlowError, match="leads to 'greting', which is no phase") as failure:
        picture_of(flow)
    assert "Did you mean 'greeting'?" in str(failure.value)


def test_two_hundred_phases_fit_on_one_picture() -> None:
    names = [f"phase {n}" for n in range(200)]
    ends = zip(names, [*names[1:], names[0]], strict=True)
    flow = Flow(flow="f", phases={n: Phase(transitions=(Transition(to=to),)) for n, to in ends})
    picture = picture_of(flow)
    assert len(picture.nodes) == len(picture.edges) == 200
    assert [edge.kind for edge in picture.edges].count("back") == 1


def test_a_title_that_only_repeats_the_name_gives_way_to_the_description() -> None:
    phase = Phase(title="Verify identity", description="2 of 3 identifiers")
    (node,) = picture_of(Flow(flow="f", phases={"verify_identity": phase})).nodes
    assert node.goal == "2 of 3 identifiers"
