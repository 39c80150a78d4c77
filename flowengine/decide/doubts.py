"""When an answer is in doubt, so that somebody else is asked: rules for `FallbackDecider`.

A rule is a function of the question and the answer as it came; write others in the same way. An
answer that is missing is in doubt by each of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from flowengine.decide.decider import Question
from flowengine.decide.judge import UNSURE, judge, probability
from flowengine.errors import FlowError
from flowengine.inputs import Json

Doubt: TypeAlias = Callable[[Question, Json], bool]


def unsure(question: Question, answer: Json) -> bool:
    """Less certain than the question asks for, or no answer to it at all."""
    return judge(question.spec, answer, question.options).outcome == "unsure"


def confidence_below(least: float) -> Doubt:
    """Less certain than this of what was answered, yes and no alike, whatever would count."""
    _check(0, least)
    if not least:
        raise FlowError("no answer is less certain than 0: give confidence_below more than that")

    def below(question: Question, answer: Json) -> bool:
        return judge(question.spec, answer, question.options).confidence < least

    return below


def probability_between(low: float, high: float) -> Doubt:
    """A yes, an option or a level whose probability lies in this band, its ends included.

    A no that is certain has a low probability of yes, and lies below the band.
    """
    _check(low, high)

    def between(question: Question, answer: Json) -> bool:
        if judge(question.spec, answer, question.options) == UNSURE:
            return True  # it is no answer to the question
        found = probability(question.spec, answer)
        return found is None or low <= found <= high

    return between


def doubted_by(least: int, *doubts: Doubt) -> Doubt:
    """So many of the rules at least: 1 for any of them, their number for all."""
    if not 1 <= least <= len(doubts):
        raise FlowError(f"doubted_by takes 1 to {len(doubts)} of these rules, not {least}")

    def enough(question: Question, answer: Json) -> bool:
        return sum(doubt(question, answer) for doubt in doubts) >= least

    return enough


def _check(low: float, high: float) -> None:
    if not 0 <= low <= high <= 1:
        raise FlowError(f"a probability lies between 0 and 1, the lower one first: {low}, {high}")
