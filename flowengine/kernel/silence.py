"""Silence: what a phase does when nobody speaks, step by step.

The clock runs from the end of a turn, or from the model's last words; it stands still while a tool
runs, and the caller's words start it again. Noise without words does not.
"""

from __future__ import annotations

from flowengine.facts import NoInput
from flowengine.kernel.actions import perform
from flowengine.kernel.settle import settle
from flowengine.kernel.work import Work


def begin_silence(work: Work) -> None:
    """Somebody has just finished speaking; the step of the ladder stays where it is."""
    if work.flow.ladders:
        step = work.wait.quiet[1] if work.wait.quiet else 0
        work.wait = work.wait._replace(quiet=(work.at, step))


def end_silence(work: Work) -> None:
    """The caller speaks."""
    if work.wait.quiet is not None:
        work.wait = work.wait._replace(quiet=None)


def silent_until(work: Work) -> int | None:
    """When the next step is due; None while there is none or the clock stands still."""
    step = _next_step(work)
    return None if step is None else step[1]


def climb(work: Work) -> None:
    """Take the step that is due, if one is."""
    if (passed := pass_rung(work)) is not None:
        phase, rung = passed
        perform(work.flow.phases[phase].no_input[rung][1], work)
        settle(work)


def pass_rung(work: Work) -> tuple[str, int] | None:
    """Count the step that is due as taken, whatever comes of it: (phase, rung), if one is due."""
    step = _next_step(work)
    if step is None or step[1] > work.at:
        return None
    name, _, rung = step
    work.wait = work.wait._replace(quiet=(work.at, rung + 1))
    work.facts.append(NoInput(name, rung))
    return name, rung


def _next_step(work: Work) -> tuple[str, int, int] | None:
    """(Phase, when, rung) of the innermost active phase with a ladder."""
    quiet = work.wait.quiet
    if quiet is None or work.wait.calls or work.place.ended:
        return None
    since, rung = quiet
    for name in reversed(work.place.active):
        ladder = work.flow.phases[name].no_input
        if ladder:
            return (name, since + ladder[rung][0], rung) if rung < len(ladder) else None
    return None
