"""Transitions that would be taken again and again without anything new to go on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.check.conditions import (
    is_unconditional,
    may_falsify,
    stays_true,
    waits_for_caller,
)
from flowengine.check.graph import Graph
from flowengine.flow.action import Action
from flowengine.flow.cycles import cycles
from flowengine.flow.diagnostic import Finding
from flowengine.flow.index import Edge
from flowengine.guards import Guard, always


def endless_self(graph: Graph) -> Iterator[Finding]:
    """A self transition without event makes its own guard false."""
    for name, edges in graph.own.items():
        for edge in edges:
            data = edge.transition
            if data.to == name and data.on is None and data.after is None and _repeats(graph, edge):
                yield Finding(
                    "endless_self",
                    f"a transition of {name!r} to itself leaves its own condition true, so it "
                    "never stops",
                    (*edge.path, "to"),
                    suggestion="let its `do` change what its guard reads, or give it an event",
                )


def _repeats(graph: Graph, edge: Edge) -> bool:
    data = edge.transition
    if waits_for_caller(data):
        return not data.external
    guard = always() if data.when is None else data.when
    if data.external and not stays_true(guard):
        return False
    return not may_falsify(graph.index.flow, _actions(graph, edge), guard)


def _actions(graph: Graph, edge: Edge) -> Iterator[Action]:
    """What is done when the transition is taken; an internal one enters and leaves nothing."""
    data = edge.transition
    yield from data.do
    if data.to != edge.source or data.external:
        if edge.source is not None:
            for place in (graph.places[edge.source], *graph.around[edge.source]):
                yield from place.phase.on_exit
        for name in graph.entered(data.to):
            yield from graph.places[name].phase.on_enter


def endless_cycles(graph: Graph) -> Iterator[Finding]:
    """No circle of transitions can be taken without something new: an event, words, time."""
    groups = _by_guard(graph)
    free = groups.pop(always(), [])
    seen: set[frozenset[str]] = set()
    for guard, edges in ((always(), free), *groups.items()):
        ring = [e for e in (*free, *edges) if not _ends_it(graph, e, guard)]
        for cycle in cycles(_joined(graph, ring)):
            if frozenset(cycle) not in seen:
                seen.add(frozenset(cycle))
                yield _endless(graph, cycle, guard)


def _by_guard(graph: Graph) -> dict[Guard, list[Edge]]:
    groups: dict[Guard, list[Edge]] = {}
    for edges in graph.own.values():
        for edge in edges:
            data = edge.transition
            if data.to == edge.source or data.on is not None or data.after is not None:
                continue
            if is_unconditional(data):
                groups.setdefault(always(), []).append(edge)
            elif data.when is not None and stays_true(data.when):
                groups.setdefault(data.when, []).append(edge)
    return groups


def _ends_it(graph: Graph, edge: Edge, guard: Guard) -> bool:
    guarded = graph.places[edge.transition.to].phase.entry is not None
    return guarded or may_falsify(graph.index.flow, _actions(graph, edge), guard)


def _joined(graph: Graph, edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Phase -> the phases one step on; a phase can use the transitions of those around it."""
    ways: dict[str, list[str]] = {}
    for edge in edges:
        for entered in graph.entered(edge.transition.to):
            ways.setdefault(edge.source or "", []).append(entered)
    return ways


def _endless(graph: Graph, cycle: list[str], guard: Guard) -> Finding:
    chain = " -> ".join([*cycle, cycle[0]])
    when = "" if guard == always() else f" while {guard}"
    return Finding(
        "endless_cycle",
        f"transitions go in a circle without waiting for anything{when}: {chain}",
        graph.places[cycle[0]].path,
        suggestion="give one of them an event or a condition that the others exclude",
        on_key=True,
    )
