"""The one timer of a session: the next instant at which time alone can change something."""

from __future__ import annotations

from flowengine.effects import SetTimer
from flowengine.kernel.silence import silent_until
from flowengine.kernel.work import Work
from flowengine.state.patterns import due_at


def set_timer(work: Work) -> None:
    """Ask for the next instant at which time alone can change something."""
    due = _next_instant(work)
    present = work.wait.timer
    if due == (present[1] if present else None):
        return
    id = work.effect_id()
    work.effects.append(SetTimer(id, due))
    work.wait = work.wait._replace(timer=None if due is None else (id, due))


def _next_instant(work: Work) -> int | None:
    wait, flow = work.wait, work.flow
    times = flow.plan(work.place.active).times
    silence = silent_until(work) if flow.ladders else None
    if not (times or flow.patterns or wait.calls or wait.barrier or silence):
        return None
    instants = [work.place.entered[phase][0] + after for phase, after in times]
    for compiled in flow.patterns:
        entered = work.place.entered[work.main_leaf()][0]
        instants += [entered + after for after in compiled.guard.thresholds]
        progress = wait.patterns.get(compiled.pattern.name)
        if progress is not None and (due := due_at(compiled.pattern, progress)) is not None:
            instants.append(due)
    instants += [call.due_at for call in wait.calls.values() if not call.effect and not call.joins]
    # These two move by a timer alone, so one that is due already must still ring.
    overdue = [wait.barrier.due_at] if wait.barrier is not None else []
    overdue += [silence] if silence is not None else []
    return min((*overdue, *(i for i in instants if i > work.at)), default=None)
