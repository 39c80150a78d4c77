"""Several deciders asked side by side: an answer counts that enough of them give."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from flowengine.decide.decider import Decider, Question, asked_models
from flowengine.decide.judge import judge, unjudged
from flowengine.errors import FlowEngineError, FlowError
from flowengine.guards.view import Decision
from flowengine.inputs import Json
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.llm.provider import ServedModel

_log = logging.getLogger("flowengine")
Answers: TypeAlias = Mapping[str, Json]


class VotingDecider:
    """An answer counts that `at_least` so many give, each sure enough by itself: 1 for any of
    them, their number for all. Where two answers have as many, there is none.

    It is as certain as the least sure of the surest so many. Each has `within` seconds, which
    the questions' own `timeout` must leave it; one that fails or is late has no vote. Where all
    fail, the error of the first is raised.
    """

    def __init__(self, deciders: Sequence[Decider], *, at_least: int, within: float = 1.5) -> None:
        if not 1 <= at_least <= len(deciders):
            raise FlowError(f"at_least is 1 to {len(deciders)}, as there are deciders: {at_least}")
        self._deciders = tuple(deciders)
        self._at_least, self._within = at_least, within

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        if not questions:
            return {}
        rounds = [self._ask(decider, questions, turns, context) for decider in self._deciders]
        told = await asyncio.gather(*rounds)
        given = [answers for answers in told if not isinstance(answers, Exception)]
        if not given:
            raise next(error for error in told if isinstance(error, Exception))
        counted = {one.id: self._count(one, given) for one in questions}
        return {id: answer for id, answer in counted.items() if answer is not None}

    def asked_models(self, questions: Sequence[Question]) -> tuple[ServedModel, ...]:
        return tuple(model for one in self._deciders for model in asked_models(one, questions))

    async def _ask(
        self,
        decider: Decider,
        questions: Sequence[Question],
        turns: Sequence[Turn],
        context: Mapping[str, Json],
    ) -> Answers | Exception:
        try:
            async with asyncio.timeout(self._within):
                return await decider.decide(questions, turns, context)
        except (FlowEngineError, TimeoutError) as error:
            _log.warning("a decider failed: %s", getattr(error, "code", "timed_out"))
            return error

    def _count(self, question: Question, given: Sequence[Answers]) -> Json:
        votes: dict[str, list[Decision]] = defaultdict(list)
        for answers in given:
            vote = judge(question.spec, answers.get(question.id), question.options)
            if vote.outcome != "unsure":
                votes[_ballot(vote)].append(vote)
        most = max(map(len, votes.values()), default=0)
        first = [box for box in votes.values() if len(box) == most]
        if most < self._at_least or len(first) > 1:
            return None
        surest = sorted(first[0], key=lambda vote: vote.confidence, reverse=True)
        return unjudged(surest[self._at_least - 1])


def _ballot(vote: Decision) -> str:
    """Answers that are the same; levels are, if they are nearest to the same whole one."""
    if vote.outcome != "scored":
        return f"{vote.outcome} {vote.value}"
    return f"level {math.floor(cast('float', vote.value) + 0.5)}"
