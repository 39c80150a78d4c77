"""The edges of a flow in the order in which they are listed; each is listed once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flowengine.chart.move import Edge, EdgeKind, frame, phase_key
from flowengine.chart.tree import Node, Tree
from flowengine.errors import FlowError
from flowengine.flow.model import Flow, Transition


def edges_of(flow: Flow, tree: Tree) -> tuple[Edge, ...]:
    """Own edges in document order, then the flow-wide ones, kind by kind."""
    fields = (
        *(own for node in tree.phases.values() for own in _own(tree, node)),
        *(_flow_wide(tree, "global", edge) for edge in flow.global_transitions),
        *_digressions(flow, tree),
        *(_flow_wide(tree, "fallback", edge) for edge in flow.fallback_transitions),
        *_returns(flow, tree),
        *_corrections(tree),
    )
    return tuple(Edge(index, **field) for index, field in enumerate(fields))


def _own(tree: Tree, source: Node) -> Iterator[dict[str, Any]]:
    for transition in source.phase.transitions if source.phase else ():
        who = f"a transition of phase {source.name!r}"
        target = tree.phase(transition.to, who)
        if tree.region(source) is not tree.region(target):
            raise FlowError(
                f"{who} leads to {target.name!r} in another region: raise an event there instead"
            )
        internal = target is source and not transition.external
        fields = _fields(tree, "own", transition, target, tree.domain(source, target))
        yield fields | {"source": source.name} | (_INTERNAL if internal else {})


_INTERNAL = {"internal": True, "history": None, "recalls": None, "entry_guarded": ()}


def _flow_wide(tree: Tree, kind: EdgeKind, transition: Transition) -> dict[str, Any]:
    target = tree.phase(transition.to, f"a {kind} transition")
    if not target.lies_in(tree.main):
        raise FlowError(f"a {kind} transition leads to {target.name!r}, a phase of a monitor")
    return _fields(tree, kind, transition, target, tree.main)


def _fields(
    tree: Tree, kind: EdgeKind, transition: Transition, target: Node, domain: Node
) -> dict[str, Any]:
    history = transition.history if target.children else None
    return {
        "kind": kind,
        "source": None,
        "target": target.name,
        "transition": transition,
        "event": transition.on,
        "history": history,
        "recalls": phase_key(target.name) if history else None,
        "entry_guarded": _entry_guarded(target, domain),
    }


def _entry_guarded(target: Node, domain: Node) -> tuple[str, ...]:
    """An edge leaves all there is below its domain, so every phase from there on is entered."""
    entered = (node for node in target.path() if node.lies_in(domain))
    return tuple(node.name for node in entered if node.phase and node.phase.entry is not None)


def _digressions(flow: Flow, tree: Tree) -> Iterator[dict[str, Any]]:
    for name, digression in flow.digressions.items():
        initial = tree.digressions[name].initial()
        yield {
            "kind": "digression",
            "source": None,
            "target": initial.name,
            "event": digression.on,
            "digression": name,
            "entry_guarded": _entry_guarded(initial, tree.main),
        }


def _returns(flow: Flow, tree: Tree) -> Iterator[dict[str, Any]]:
    for name, digression in flow.digressions.items():
        ends: dict[str, Any] = {"source": None, "digression": name}
        if digression.resume == "previous":
            for into in (None, *flow.digressions):
                if into != name:
                    returns = {"kind": "resume", "target": None, "into": into}
                    yield ends | returns | {"history": "deep", "recalls": frame(into)}
        elif digression.resume == "restart":
            initial = tree.body.initial()
            guarded = _entry_guarded(initial, tree.main)
            yield ends | {"kind": "restart", "target": initial.name, "entry_guarded": guarded}


def _corrections(tree: Tree) -> Iterator[dict[str, Any]]:
    """Back to any phase of the body, for when a correction has undone it."""
    for node in tree.phases.values():
        if node.lies_in(tree.body):
            yield {"kind": "correction", "source": None, "target": node.name}
