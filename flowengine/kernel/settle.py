"""Bringing a step to rest: computed keys, watchers, patterns, then transitions, until all is quiet.

writes ─▶ computed ─▶ watchers ─┐         once: patterns
          ▲──── their writes ───┘                  │
          ▲──────────── hooks' writes ─── transitions (at most 100)
"""

from __future__ import annotations

from flowengine.chart import Edge
from flowengine.effects import Say, Tell
from flowengine.errors import UnsettledError
from flowengine.facts import EventOffered, PatternFired
from flowengine.kernel.actions import perform
from flowengine.kernel.gate import decide_waiting
from flowengine.kernel.move import take
from flowengine.kernel.parts import Plan
from flowengine.kernel.repair import forget_left
from flowengine.kernel.rest import rest
from flowengine.kernel.select import eventless, on_event, rearm
from flowengine.kernel.work import Work
from flowengine.state.patterns import IDLE, advance

MICROSTEPS = 100


def settle(work: Work, event: str | None = None) -> None:
    """Settle what was written, offer `event` and those raised meanwhile, and settle again.

    Raises:
        UnsettledError: watchers or transitions that never come to rest.
    """
    if event is not None:
        work.events.insert(0, event)
    rest(work)
    if work.flow.patterns:
        _patterns(work)
    steps: list[tuple[Edge, ...]] = []
    if work.corrected_keys:
        _correct(work, steps)
    _transitions(work, steps)
    while work.events:
        _offer(work, work.events.pop(0), steps)
    if work.place.disarmed:
        rearm(work)


def greet(work: Work) -> None:
    """What is said on entry, only for the phases where the step comes to rest."""
    for name in work.arrived:
        phase = work.flow.phases[name]
        if words := phase.say(work.find):
            work.effects.append(Say(work.effect_id(), words))
        if words := phase.enter_prompt(work.find):
            work.effects.append(Tell(work.effect_id(), words, phase.phase.prompt_on_enter))


def _patterns(work: Work) -> None:
    """Each pattern once an input; turn counters move only if the caller's turn closed."""
    fired = False
    for compiled in work.flow.patterns:
        name = compiled.pattern.name
        before = work.wait.patterns.get(name, IDLE)
        holds = compiled.guard.test(work)
        spoke = work.turn_closed
        after, fires = advance(compiled.pattern, before, holds, work.at, spoke)
        if after != before:
            work.wait = work.wait._replace(patterns={**work.wait.patterns, name: after})
        if fires:
            fired = True
            work.facts.append(PatternFired(name))
            perform(compiled.actions, work)
    if fired:
        rest(work)


def _transitions(work: Work, steps: list[tuple[Edge, ...]]) -> None:
    plan = work.flow.plan(work.place.active)
    if not (work.arrived or _is_worth_asking(work, plan)):
        return
    while True:
        work.touched.clear()
        _latch(work, plan)
        edges = eventless(work, plan)
        if not edges:
            break
        plan = _take(work, edges, None, steps)


def _is_worth_asking(work: Work, plan: Plan) -> bool:
    """Whether something changed that this configuration asks about."""
    if plan.times:
        return True
    if not work.touched:
        return False
    if plan.everything or work.place.disarmed or work.place.stack:
        return True
    return not plan.reads.isdisjoint(work.touched)


def _offer(work: Work, event: str, steps: list[tuple[Edge, ...]]) -> None:
    edges = on_event(work, work.flow.plan(work.place.active), event)
    work.facts.append(EventOffered(event, bool(edges)))
    if edges:
        _take(work, edges, event, steps)
        _transitions(work, steps)


def _take(
    work: Work, edges: tuple[Edge, ...], event: str | None, steps: list[tuple[Edge, ...]]
) -> Plan:
    if not steps and work.wait.calls:
        decide_waiting(work)
    steps.append(edges)
    if len(steps) > MICROSTEPS:
        raise UnsettledError(_cycle(steps))
    take(work, edges, event)
    if work.wait.repeats:
        forget_left(work)
    work.touched.add("@phase")
    rest(work)
    return work.flow.plan(work.place.active)


def _cycle(steps: list[tuple[Edge, ...]]) -> str:
    """The path from one taking of the last edges to the next."""
    last = len(steps) - 1
    earlier = next((n for n in reversed(range(last)) if steps[n] == steps[last]), -1)
    loop = [edge for edges in steps[earlier + 1 :] for edge in edges]
    first = loop[-1].target or loop[-1].source
    path = " -> ".join(str(name) for name in (first, *(e.target or e.source for e in loop)))
    return (
        f"transitions do not come to rest after {MICROSTEPS}: {path}; give one edge of the cycle "
        "a guard that its own phase makes false, or an event to wait for"
    )


def _latch(work: Work, plan: Plan) -> None:
    """Mark active phases done whose done guard has come true; one may depend on another."""
    fresh = True
    while fresh:
        fresh = False
        for phase in plan.open_phases:
            if phase.name not in work.place.done and phase.done and phase.done.test(work):
                work.mark_done(phase.name)
                fresh = True


def _correct(work: Work, steps: list[tuple[Edge, ...]]) -> None:
    """Go back to the earliest visited phase that a correction has left undone.

    An edge that asks `corrected(key)` goes first.
    """
    flow, place = work.flow, work.place
    undone = [
        name
        for name in place.visited
        if name in place.done and (done := flow.phases[name].done) and not done.test(work)
    ]
    for name in undone:
        work.mark_done(name, False)
    plan = flow.plan(place.active)
    if plan.corrected and any(_asks_corrected(work, edge) for edge in eventless(work, plan)):
        return
    back = next((edge for name in undone if (edge := flow.chart.back_to(name))), None)
    if back is not None and not place.ended and not _is_around(work, back.target):
        _take(work, (back,), None, steps)


def _is_around(work: Work, phase: str | None) -> bool:
    """A compound phase that is active stays; a leaf that was undone is entered anew."""
    return phase in work.place.active and not work.flow.phases[str(phase)].phase.is_leaf()


def _asks_corrected(work: Work, edge: Edge) -> bool:
    guard = work.flow.edges[edge.index].guard
    return guard is not None and any(read.startswith("@corrected") for read in guard.reads)
