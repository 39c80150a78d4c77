"""Phases that no conversation comes to, and phases that none gets out of."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.check.graph import Graph
from flowengine.flow.diagnostic import Finding, warning


def unreachable(graph: Graph) -> Iterator[Finding]:
    """Every phase can become active."""
    for name, place in graph.places.items():
        outer_is_reachable = place.parent is None or place.parent in graph.reachable
        if name not in graph.reachable and outer_is_reachable:
            yield Finding(
                "unreachable_phase",
                f"no transition leads to phase {name!r}",
                place.path,
                suggestion="add a transition to it, or take it out",
                on_key=True,
            )


def dead_ends(graph: Graph) -> Iterator[Finding]:
    """A phase that is not final has a way on; one phase alone may last to the end of the call."""
    for name, place in graph.places.items():
        if not place.phase.is_leaf() or place.phase.final or place.regions[0][0] == "monitors":
            continue
        alone = len(graph.index.flow.phases) == 1 and place.parent is None
        if (alone and not graph.in_digression(name)) or any(graph.ways_out(name)):
            continue
        if name in graph.reachable and not _others_lead_on(graph, name):
            yield Finding(
                "dead_end",
                f"phase {name!r} has no way on",
                place.path,
                suggestion="give it a transition, or mark it `final: true`",
                on_key=True,
            )


def _others_lead_on(graph: Graph, name: str) -> bool:
    """In a parallel region one may rest for good while another region leaves for all of them."""
    for outer in graph.around[name]:
        if outer.phase.regions:
            inside = [n for n in graph.places if graph.within(n, outer.name)]
            edges = (edge for n in inside for edge in graph.own[n])
            if any(not graph.within(edge.transition.to, outer.name) for edge in edges):
                return True
    return False


def no_way_to_an_end(graph: Graph) -> Iterator[Finding]:
    """Where a flow has final phases, one can be reached from everywhere."""
    main = graph.index.flow.phases
    finals = [name for name, phase in main.items() if phase.final and name in graph.reachable]
    if not finals:
        return
    ending = graph.reaching(finals)
    for name, place in graph.places.items():
        if graph.in_digression(name) or not graph.is_main(name) or not place.phase.is_leaf():
            continue
        if name in graph.reachable and name not in ending and any(graph.ways_out(name)):
            message = f"no final phase can be reached from {name!r}"
            yield warning("no_end", message, place.path, on_key=True)
