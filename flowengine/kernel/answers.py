"""Calls that are open, and the one answer that each call id gets."""

from __future__ import annotations

from collections.abc import Mapping

from flowengine.effects import AnswerTool, ToolAnswer
from flowengine.facts import ToolDecided
from flowengine.kernel.admission import Refusal, denial
from flowengine.kernel.snapshot import Call, Run
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
    work.facts.append(ToolDecided(id, call.tool, False, refusal.kind, refusal.missing))
    finish(work, id, call, denial(work, refusal.kind, refusal.say, refusal.missing))


def finish(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    """The one terminal answer of a call id."""
    let_go(work, id)
    remember(work, id, call, answer)


def remember(work: Work, id: str, call: Call, answer: ToolAnswer) -> None:
    answered = (*work.wait.answered, (id, answer))[-REMEMBERED:]
    work.wait = work.wait._replace(answered=answered)
    answer_call(work, id, call.tool, answer)


def answer_call(work: Work, id: str, tool: str, answer: ToolAnswer) -> None:
    work.effects.append(AnswerTool(work.effect_id(), id, tool, answer))
