"""Single transitions that cannot do what their author meant."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.check.conditions import is_unconditional
from flowengine.check.graph import Graph, initial_of
from flowengine.flow.diagnostic import Finding


def exit_before_caller(graph: Graph) -> Iterator[Finding]:
    """The phase in which a conversation begins is not left before the caller spoke."""
    for name in graph.entered(initial_of(graph.index.flow.phases)):
        for edge in graph.own[name]:
            if is_unconditional(edge.transition) and edge.transition.to != name:
                yield Finding(
                    "exit_before_caller",
                    f"the initial phase {name!r} is left at once, before the caller can speak",
                    (*edge.path, "immediately" if edge.transition.immediately else "when"),
                    suggestion="drop `immediately`, or give the transition a condition",
                )


def unguarded_global(graph: Graph) -> Iterator[Finding]:
    """A global transition waits for something: it comes before every other."""
    for edge in graph.wide:
        data = edge.transition
        if edge.kind == "global" and data.when is None and data.on is None and data.after is None:
            yield Finding(
                "unguarded_global",
                f"a global transition to {data.to!r} without a condition is taken from everywhere",
                edge.path,
                suggestion="give it `when` or `on`; what is left over goes to fallback_transitions",
            )


def global_to_guarded(graph: Graph) -> Iterator[Finding]:
    """The target of a global transition has no entry guard."""
    for edge in graph.wide:
        to = edge.transition.to
        around = [graph.places[to], *graph.around[to]]
        guarded = next((p for p in around if p.phase.entry is not None), None)
        if edge.kind == "global" and guarded:
            yield Finding(
                "global_to_guarded",
                f"a global transition leads to {to!r}, but `entry` guards {guarded.name!r}",
                (*edge.path, "to"),
                suggestion="move the condition to the transitions that need it",
            )


def history_from_inside(graph: Graph) -> Iterator[Finding]:
    """What is active has no history: a transition inside a phase cannot lead to it by history."""
    for edges in graph.own.values():
        for edge in edges:
            source, to = edge.source, edge.transition.to
            if edge.transition.history and source is not None and graph.within(source, to):
                yield Finding(
                    "history_from_inside",
                    f"phase {to!r} is active here, so it has no history to enter",
                    (*edge.path, "history"),
                )
