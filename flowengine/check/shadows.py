"""Transitions that are never reached because one before them is always taken first."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.check.conditions import conjuncts, waits_for_caller
from flowengine.check.graph import Graph
from flowengine.clock import duration_ms
from flowengine.flow.diagnostic import Finding, Severity
from flowengine.flow.index import Edge
from flowengine.flow.model import Transition


def shadowed(graph: Graph) -> Iterator[Finding]:
    """Among the transitions of one phase, and among flow-wide ones, each can be taken."""
    wide = [[e for e in graph.wide if e.kind == kind] for kind in ("global", "fallback")]
    for edges in (*graph.own.values(), *wide):
        for at, edge in enumerate(edges):
            before = (earlier for earlier in edges[:at] if _covers(graph, earlier, edge))
            if earlier := next(before, None):
                yield _finding(earlier, edge)


def _covers(graph: Graph, earlier: Edge, edge: Edge) -> bool:
    """Whether the earlier one holds whenever this one does."""
    first, second = earlier.transition, edge.transition
    same_end = first.to == second.to
    if first.on != second.on or _after(first) > _after(second):
        return False
    if not same_end and _entry_guarded(graph, first.to):
        return False
    return conjuncts(first) <= conjuncts(second)


def _after(data: Transition) -> int:
    return duration_ms(data.after) if data.after else 0


def _entry_guarded(graph: Graph, name: str) -> bool:
    return any(p.phase.entry is not None for p in (graph.places[name], *graph.around[name]))


def _finding(earlier: Edge, edge: Edge) -> Finding:
    """Before the caller spoke, a transition without condition still lets a later one through."""
    partly = waits_for_caller(earlier.transition) and not waits_for_caller(edge.transition)
    severity: Severity = "warning" if partly else "error"
    when = "once the caller has spoken, " if partly else ""
    return Finding(
        "shadowed_transition",
        f"{when}the transition to {earlier.transition.to!r} before it is always taken instead",
        (*edge.path, "to"),
        severity,
        suggestion="put the more special condition first",
    )
