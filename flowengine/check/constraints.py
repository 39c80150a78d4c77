"""Rules of order that no conversation can keep."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.check.graph import Graph
from flowengine.check.unused import offering
from flowengine.flow.cycles import cycles
from flowengine.flow.diagnostic import Finding, Path


def order_cycles(graph: Graph) -> Iterator[Finding]:
    """No two things must each come before the other."""
    ways: dict[str, list[str]] = {}
    places: dict[tuple[str, str], Path] = {}
    for at, rule in enumerate(graph.index.flow.constraints):
        if rule.before is not None:
            first, then = rule.before
            ways.setdefault(first, []).append(then)
            places[first, then] = ("constraints", at, "before")
    for cycle in cycles(ways):
        chain = " before ".join([*cycle, cycle[0]])
        path = places[cycle[-1], cycle[0]]
        yield Finding("order_cycle", f"rules of order go in a circle: {chain}", path)


def unkept_orders(graph: Graph) -> Iterator[Finding]:
    """What must come before a phase can come before it."""
    for at, rule in enumerate(graph.index.flow.constraints):
        if rule.before is None or rule.before[1] not in graph.places:
            continue
        first, then = rule.before
        if first == then or _can_come(first, graph.reachable_without(then), graph):
            continue
        yield Finding(
            "order_cycle",
            f"{first!r} must come before {then!r}, but only {then!r} leads to it",
            ("constraints", at, "before"),
            suggestion="turn the two around, or give the first another way in",
        )


def _can_come(name: str, reachable: set[str], graph: Graph) -> bool:
    if name in graph.places:
        return name in reachable
    return any(leaf in reachable for leaf in offering(graph.index, name))
