"""Calls that are open, and the one answer that each call id gets."""

from __future__ import annotations

from collections.abc import Mapping

from flowengine.effects import AnswerTool, ToolAnswer
from flowengine.facts import MASK, ToolDecided
from flowengine.kernel.admission import Refusal, denial
from flowengine.kernel.snapshot import Call, Run
from flowengine.kernel.used import is_used, with_id
from flowengine.kernel.work import Work

REMEMBERED = 32
"""Ended calls whose answer is kept, so that asking twice gives the same."""


def in_order(calls: Mapping[str, Call]) -> list[tuple[str, Call]]:
    """Calls as they were asked for; a snapshot's JSON may have sorted them by name."""
    return sorted(calls.items(), key=lambda each: each[1].order)


def hold(work: Work, id: str, call: Call) -> None:
    work.wait = work.wait._replace(calls={**work.wait.calls, id: call})


def let_go(work: Work, id: str) -> None:
    calls = {k: v for k, v in work.wait.calls.items() if k != id}
    work.wait = work.wait._replace(calls=calls)


def open_run(work: Work, effect: str, run: Run) -> None:
    work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})


def deny(work: Work, id: str, call: Call, refusal: Refusal) -> None:
    # A name that is no tool's may be a caller's words.
    told = call.tool if call.tool in work.flow.tools else MASK
    work.facts.append(ToolDecided(id, told, False, refusal.kind, refusal.missing))
    finish(work, id, call, denial(work, refusal.kind, refusal.say, refusal.missing))


def finish(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    """The one terminal answer of a call id."""
    let_go(work, id)
    remember(work, id, call, answer)


def remember(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    """Answer the call; an older answer makes room, and of its call the id is still known."""
    answered, used = (*work.wait.answered, (id, answer)), work.wait.used
    if len(answered) > REMEMBERED:
        (oldest, _), *answered = answered
        used = with_id(used, oldest)
    work.wait = work.wait._replace(answered=tuple(answered), used=used)
    answer_call(work, id, call.tool, answer)


def earlier_answer(work: Work, id: str) -> ToolAnswer | None:
    """What a call of this id was answered, or what can still be said of it; None if it was not."""
    answer = dict(work.wait.answered).get(id)
    if answer is not None or not is_used(work.wait.used, id):
        return answer
    if id in work.wait.calls:
        return ToolAnswer("accepted")  # nothing else is both open and answered
    return denial(work, "used", f"Call {id} was answered long ago; a new call needs a new id.")


def answer_call(work: Work, id: str, tool: str, answer: ToolAnswer) -> None:
    work.effects.append(AnswerTool(work.effect_id(), id, tool, answer))
