"""Taking edges: exits, actions and entries in the machine's order, and what each leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowengine.chart import Edge, Move
from flowengine.errors import FlowError, did_you_mean
from flowengine.facts import (
    ConversationEnded,
    DigressionEnded,
    PhaseEntered,
    PhaseExited,
    TransitionTaken,
)
from flowengine.inputs import Json
from flowengine.kernel.actions import perform
from flowengine.kernel.order import note_disorder
from flowengine.kernel.snapshot import Entered, Frame
from flowengine.kernel.work import Work
from flowengine.state.evidence import Evidence

if TYPE_CHECKING:
    from flowengine.kernel.parts import CompiledFlow

TRAIL = 8


def take(work: Work, edges: tuple[Edge, ...], event: str | None) -> None:
    """One microstep: all selected edges at once."""
    place, leaf = work.place, work.main_leaf()
    move = work.flow.chart.move(place.active, place.history, edges)
    if work.flow.watched_entries:
        note_disorder(work, move)
    saved = _digress(work, move)
    leaving = ("exit", leaf) in move.steps
    for kind, what in move.steps:
        if kind == "exit":
            _exit(work, str(what), move)
            continue
        if leaving:
            leaving = False
            _change_phase_keys(work, saved)
        if kind == "edge":
            _pass(work, what, event)  # pyright: ignore[reportArgumentType]
        else:
            _enter(work, str(what))
    _arrive(work, move, saved)


def start(work: Work, move: Move) -> None:
    """Enter the initial phases."""
    for _, phase in move.steps:
        _enter(work, str(phase))
    _arrive(work, move, None)


def straight_to(flow: CompiledFlow, phase: str) -> Move:
    """Enters a phase of the body, with what lies around and beside it, and nothing else."""
    edge = flow.chart.back_to(phase)
    if edge is None:
        what = "lies in a digression or a monitor: start in a phase of the body, and lead it there"
        if phase not in flow.phases:
            what = f"is no phase of this flow.{did_you_mean(phase, flow.phases)}"
        raise FlowError(f"a call cannot start in {phase!r}, which {what}")
    active = flow.chart.move(flow.chart.start().active, {}, (edge,)).active
    return Move(active, (), tuple(("enter", name) for name in active), {})


def _exit(work: Work, phase: str, move: Move) -> None:
    compiled = work.flow.phases[phase]
    perform(compiled.on_exit, work)
    work.facts.append(PhaseExited(phase))
    work.arrived.pop(phase, None)
    left_by_own = any(edge.source == phase for edge in move.taken)
    if compiled.done is None and left_by_own and phase not in work.place.done:
        work.mark_done(phase)


def _pass(work: Work, edge: Edge, event: str | None) -> None:
    compiled = work.flow.edges[edge.index]
    work.facts.append(TransitionTaken(compiled.name, edge.source, edge.target, event))
    if compiled.wide and compiled.guard is not None:
        work.place = work.place._replace(disarmed=work.place.disarmed | {compiled.name})
    perform(compiled.actions, work)


def _enter(work: Work, phase: str) -> None:
    work.facts.append(PhaseEntered(phase))
    work.arrived[phase] = None
    perform(work.flow.phases[phase].on_enter, work)


def _arrive(work: Work, move: Move, saved: Frame | None) -> None:
    """The configuration as the chart has it, with the times of the phases that are active."""
    place, chart, active = work.place, work.flow.chart, move.active
    now = (work.at, work.turns)
    entered = {**place.entered, **dict.fromkeys(work.arrived, now)}
    if saved is not None:
        entered |= _shifted(saved, work)
    leaf = chart.main_leaf(active)
    ended = chart.is_final(leaf) and chart.parent(leaf) is None and _nothing_follows(work, leaf)
    left = [(what, work.turns) for kind, what in move.steps if kind == "exit"]
    fresh = [name for name in work.arrived if name not in place.visited]
    work.place = place._replace(
        active=active,
        history=move.history(place.history),
        entered={name: entered[name] for name in active},
        trail=(*place.trail, *left)[-TRAIL:] if left else place.trail,  # pyright: ignore[reportArgumentType]
        visited=(*place.visited, *fresh) if fresh else place.visited,
        ended=ended,
    )
    if ended and not place.ended:
        work.facts.append(ConversationEnded(leaf, missing(work)))


def missing(work: Work) -> tuple[str, ...]:
    """Required phases that are not done; a final phase is done by being there."""
    done = work.place.done | {n for n in work.place.active if work.flow.phases[n].phase.final}
    required = (name for rule in work.flow.flow.constraints for name in rule.require)
    return tuple(dict.fromkeys(name for name in required if name not in done))


def _nothing_follows(work: Work, leaf: str) -> bool:
    digression = work.flow.chart.digression_of(leaf)
    if digression is None:
        return True
    return work.flow.flow.digressions[digression].resume == "terminate"


# -- the return stack -----------------------------------------------------------------------------


def _digress(work: Work, move: Move) -> Frame | None:
    """Push or pop the return stack; the frame that is being put back, if any."""
    saved: Frame | None = None
    for edge in move.taken:
        stack = work.place.stack
        if edge.kind == "digression":
            work.place = work.place._replace(stack=(*stack, _frame(work, edge)))
        elif edge.kind == "resume":
            saved = stack[-1]
            work.place = work.place._replace(stack=stack[:-1])
            work.facts.append(DigressionEnded(saved.digression, "previous"))
        elif stack and _leaves_digression(work, edge):
            work.place = work.place._replace(stack=())
            work.facts.append(DigressionEnded(stack[-1].digression, edge.kind))
        if edge.kind == "restart":
            work.place = work.place._replace(done=frozenset())
    return saved


def _leaves_digression(work: Work, edge: Edge) -> bool:
    chart = work.flow.chart
    return edge.target is not None and (
        chart.region_of(edge.target) == chart.regions[0]
        and chart.digression_of(edge.target) != work.place.stack[-1].digression
    )


def _frame(work: Work, edge: Edge) -> Frame:
    chart, place = work.flow.chart, work.place
    layer = chart.digression_of(work.main_leaf()) or ""
    main = [name for name in place.active if chart.region_of(name) == chart.regions[0]]
    entered = {name: place.entered[name] for name in main}
    kept = {key: (work.values[key], work.evidence[key]) for key in _phase_keys(work)}
    return Frame(layer, edge.digression or "", work.at, work.turns, entered, kept)


def _shifted(frame: Frame, work: Work) -> dict[str, Entered]:
    """Time and turns spent in a digression do not count for what it interrupted."""
    away, turns = work.at - frame.at, work.turns - frame.turns
    return {name: (at + away, count + turns) for name, (at, count) in frame.entered.items()}


# -- phase: keys ----------------------------------------------------------------------------------


def _change_phase_keys(work: Work, saved: Frame | None) -> None:
    """`phase:` keys end with the phase, or come back with the one that was interrupted."""
    kept: Mapping[str, tuple[Json, Evidence]] = saved.kept if saved is not None else {}
    for key in _phase_keys(work):
        if key not in kept:
            work.forget(key)
    for key, (value, evidence) in kept.items():
        work.bring_back(key, value, evidence)


def _phase_keys(work: Work) -> list[str]:
    # A slice, not `startswith`: every key is looked at whenever a phase is left.
    return [key for key in work.values if key[:6] == "phase:"]
