"""Parallel regions keep to themselves, and agree on where they leave to."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.check.graph import Graph
from flowengine.flow.diagnostic import Finding, Path, warning
from flowengine.flow.index import Edge


def across_regions(graph: Graph) -> Iterator[Finding]:
    """No transition leads from one region into another that is active beside it."""
    for edges in graph.own.values():
        for edge in edges:
            source = graph.places[edge.source or ""].regions
            target = graph.places[edge.transition.to].regions
            if _siblings(source, target):
                yield _across(edge)
    for edge in graph.wide:
        if not graph.is_main(edge.transition.to):
            yield _across(edge)


def _siblings(source: tuple[Path, ...], target: tuple[Path, ...]) -> bool:
    """Whether the first regions that differ are side by side: in one phase, or beside the flow."""
    for depth, (here, there) in enumerate(zip(source, target, strict=False)):
        if here != there:
            return depth == 0 or here[:-1] == there[:-1]
    return False


def _across(edge: Edge) -> Finding:
    return Finding(
        "across_regions",
        f"phase {edge.transition.to!r} is in another region, which is active beside this one",
        (*edge.path, "to"),
        suggestion="let the other region move itself, on a key that this one sets",
    )


def diverging_regions(graph: Graph) -> Iterator[Finding]:
    """Two regions of a phase that leave it at the same moment lead to the same place."""
    for outer, place in graph.places.items():
        leaving: dict[Path, list[Edge]] = {}
        if not place.phase.regions:
            continue
        for edge in _edges_inside(graph, outer):
            if not graph.within(edge.transition.to, outer):
                depth = len(place.regions)
                region = graph.places[edge.source or ""].regions[depth]
                leaving.setdefault(region, []).append(edge)
        yield from _diverging(outer, list(leaving.values()))


def _edges_inside(graph: Graph, outer: str) -> Iterator[Edge]:
    for name, edges in graph.own.items():
        if name != outer and graph.within(name, outer):
            yield from edges


def _diverging(outer: str, regions: list[list[Edge]]) -> Iterator[Finding]:
    if len(regions) < 2:
        return
    first = regions[0][0].transition.to
    for edge in (edge for edges in regions[1:] for edge in edges):
        if edge.transition.to != first:
            yield warning(
                "diverging_regions",
                f"another region of {outer!r} leaves to {first!r}, this one to "
                f"{edge.transition.to!r}; if both hold, the one that stands first wins",
                (*edge.path, "to"),
            )
