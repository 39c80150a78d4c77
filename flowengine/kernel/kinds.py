"""For each kind of input: what is recorded, which always stands, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from flowengine.facts import InputIgnored, TimerFired, WordsHeard, WordsSaid
from flowengine.inputs import (
    Admin,
    Generated,
    Heard,
    Input,
    Outcome,
    Said,
    Timer,
    ToolCalled,
    TurnEnded,
)
from flowengine.kernel.calls import cancel_calls
from flowengine.kernel.claims import check_claims
from flowengine.kernel.gate import hear_waiting, tool_called
from flowengine.kernel.outcomes import outcome_follows, outcome_recorded
from flowengine.kernel.questions import forget_answers
from flowengine.kernel.repair import count_interruption
from flowengine.kernel.rest import rest
from flowengine.kernel.runs import start_on_generation
from flowengine.kernel.settle import settle
from flowengine.kernel.silence import begin_silence, climb, end_silence
from flowengine.kernel.turn import close, end_turn_keys, read_records, settle_barrier, turn_ended
from flowengine.kernel.verbatim import check_verbatim
from flowengine.kernel.work import Work
from flowengine.tools.names import named_by_model


def _heard(work: Work, heard: Heard) -> None:
    if work.transcript.current.model and not work.transcript.current.user:
        close(work)  # the model spoke first, as in a greeting: that is a turn of its own
    work.transcript = work.transcript.heard(heard.text, heard.at, heard.alternatives)
    work.settled = False
    if heard.text.strip():
        end_silence(work)
        forget_answers(work)
    work.facts.append(WordsHeard(work.transcript.current.number, len(heard.text)))


def _said(work: Work, said: Said) -> None:
    work.transcript = work.transcript.said(said.text, said.at, said.interrupted)
    turn = work.transcript.current
    if work.settled:
        passing = work.passing
        end_turn_keys(work)
        if not turn.model:
            # They belong to the turn that has settled: what ends with it is settled with the next.
            work.passing, work.settled = passing, True
    number = turn.number if turn.model else turn.number - 1
    work.facts.append(WordsSaid(number, len(said.text), said.interrupted))


def _turn_ended(work: Work, _: TurnEnded) -> None:
    close(work)


def _heard_follows(work: Work, heard: Heard) -> None:
    if work.wait.calls:
        hear_waiting(work)
    _words_follow(work, heard)


def _said_follows(work: Work, said: Said) -> None:
    turn = work.transcript.current
    if not turn.model:
        # It belongs to a turn that has closed: now nobody speaks.
        turn = work.transcript.turns[-1] if work.transcript.turns else turn
        begin_silence(work)
        rest(work)
        work.touched.clear()
    check_verbatim(work, turn.model)
    check_claims(work, turn.model, len(turn.model) - len(said.text))
    if said.interrupted:
        cancel_calls(work)
        count_interruption(work)
    _words_follow(work, said)


def _generated_follows(work: Work, generated: Generated) -> None:
    start_on_generation(work, generated.text)
    read_records(work, "on_generation_complete")


def _timer(work: Work, timer: Timer) -> None:
    due = work.wait.timer
    if due is not None and due[0] == timer.timer:
        work.wait = work.wait._replace(timer=None)
        work.facts.append(TimerFired(timer.timer))


def _record_nothing(work: Work, input: Input) -> None:
    """The input is kept as it is; it has no other record."""


def _words_follow(work: Work, _: Heard | Said) -> None:
    """Words wait for the end of their turn; what they change at once does not."""
    if work.touched or work.dirty or work.events:
        settle(work)


def _tool_called(work: Work, called: ToolCalled) -> None:
    tool_called(work, by_own_name(work, called))
    if work.touched:
        settle(work)


def by_own_name(work: Work, called: ToolCalled) -> ToolCalled:
    """A model may call a tool by the name under which it was told."""
    return replace(called, tool=named_by_model(called.tool, work.flow.tools))


def _timer_follows(work: Work, timer: Timer) -> None:
    if not work.facts or not isinstance(work.facts[-1], TimerFired):
        work.facts.append(InputIgnored(timer.id, "no such timer is set"))
        return
    barrier = work.wait.barrier
    if barrier is not None and barrier.due_at <= work.at:
        settle_barrier(work, "timed out")
    else:
        settle(work)
    climb(work)


def _admin_follows(work: Work, admin: Admin) -> None:
    for key, value in admin.set.items():
        work.put(key, value, admin.by)
    for key in admin.remove:
        work.drop(key, admin.by)
    settle(work, admin.event)


KINDS: Mapping[type, tuple[Callable[..., None], Callable[..., None]]] = {
    Heard: (_heard, _heard_follows),
    Said: (_said, _said_follows),
    Generated: (_record_nothing, _generated_follows),
    TurnEnded: (_turn_ended, turn_ended),
    ToolCalled: (_record_nothing, _tool_called),
    Outcome: (outcome_recorded, outcome_follows),
    Timer: (_timer, _timer_follows),
    Admin: (_record_nothing, _admin_follows),
}
"""Kind of input -> its record part, and what follows."""
