"""Which edges to take: per active leaf the first candidate whose whole condition is true.

The order of candidates is global, own, ancestors', fallback. A true flow-wide edge goes alone in
the main region; monitors run beside it.
"""

from __future__ import annotations

from flowengine.chart import Edge
from flowengine.kernel.parts import CompiledEdge, Plan
from flowengine.kernel.work import Work


def eventless(work: Work, plan: Plan) -> tuple[Edge, ...]:
    """The edges without event that are open now."""
    chosen: list[Edge] = []
    for position, (leaf, candidates) in enumerate(plan.offers):
        edge = _first_open(work, candidates, None) or _way_back(work, leaf, position)
        if edge is not None:
            chosen.append(edge)
    return _apart(work, chosen) if len(chosen) > 1 else tuple(chosen)


def on_event(work: Work, plan: Plan, event: str) -> tuple[Edge, ...]:
    """The edges that wait for this event and are open now."""
    found = (_first_open(work, candidates, event) for _, candidates in plan.offers)
    return _apart(work, [edge for edge in found if edge is not None])


def _apart(work: Work, chosen: list[Edge]) -> tuple[Edge, ...]:
    """Each edge once; beside one that goes alone, only those of the monitors."""
    alone = next((edge for edge in chosen if _goes_alone(edge)), None)
    if alone is not None:
        chosen = [edge for edge in chosen if edge is alone or not _is_in_main(work, edge)]
    return tuple(dict.fromkeys(chosen))


def is_open(work: Work, edge: CompiledEdge) -> bool:
    """Its guard, its wait, its time and the entry guards of what it enters, all definitely true."""
    if edge.guard is not None and not edge.guard.test(work):
        return False
    if edge.waits and not work.caller_spoke(edge.owner):
        return False
    if edge.after is not None and work.elapsed(edge.owner) < edge.after:
        return False
    for entry in edge.entries:  # noqa: SIM110 - all() would build a generator
        if not entry.test(work):
            return False
    return True


def _first_open(work: Work, candidates: tuple[CompiledEdge, ...], event: str | None) -> Edge | None:
    for edge in candidates:
        if edge.event != event:
            continue
        if edge.wide and edge.name in work.place.disarmed:
            continue
        if edge.edge.digression is not None and _is_stacked(work, edge.edge.digression):
            continue
        if is_open(work, edge):
            return edge.edge
    return None


def _goes_alone(edge: Edge) -> bool:
    return edge.kind in ("global", "digression", "resume", "restart")


def _is_in_main(work: Work, edge: Edge) -> bool:
    chart = work.flow.chart
    return edge.source is None or chart.region_of(edge.source) == chart.regions[0]


def _is_stacked(work: Work, digression: str) -> bool:
    """A digression is at most once on the return stack."""
    return any(digression in (frame.layer, frame.digression) for frame in work.place.stack)


def _way_back(work: Work, leaf: str, position: int) -> Edge | None:
    """From a digression's final phase, once its closing words have had their turn."""
    if position or not work.place.stack:
        return None
    chart = work.flow.chart
    frame = work.place.stack[-1]
    if not (work.turn_closed and chart.is_final(leaf) and work.caller_spoke(leaf)):
        return None
    if chart.digression_of(leaf) != frame.digression or chart.parent(leaf) is not None:
        return None
    resume = work.flow.flow.digressions[frame.digression].resume
    if resume == "previous":
        return chart.resume_edge(frame.digression, frame.layer or None)
    if resume != "restart":
        return None
    edge = chart.restart_edge(frame.digression)
    return edge if is_open(work, work.flow.edges[edge.index]) else None


def rearm(work: Work) -> None:
    """A flow-wide edge may fire again once its guard has not been true at rest."""
    for name in sorted(work.place.disarmed):
        edge = work.flow.by_name[name]
        if edge.guard is None or not edge.guard.test(work):
            work.place = work.place._replace(disarmed=work.place.disarmed - {name})
