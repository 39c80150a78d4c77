"""A second decider for what the first leaves in doubt: a quick model, then a better one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flowengine.decide.decider import Decider, Question, asked_models
from flowengine.decide.doubts import Doubt, unsure
from flowengine.errors import FlowEngineError
from flowengine.inputs import Json
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.llm.provider import ServedModel

_log = logging.getLogger("flowengine")


class FallbackDecider:
    """Asks `first`; the questions whose answers are in doubt, unsure ones if nothing else is
    said, go to `then` in one round.

    `then` has `within` seconds, which the questions' own `timeout` must leave it. Where it fails
    or is late, the answers of `first` stand. Where `first` fails, all questions go to `then`, and
    its error is raised.
    """

    def __init__(
        self, first: Decider, then: Decider, *, when: Doubt = unsure, within: float = 1.0
    ) -> None:
        self._first, self._then, self._when, self._within = first, then, when, within

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        try:
            answers = dict(await self._first.decide(questions, turns, context))
        except (FlowEngineError, TimeoutError) as error:
            _report("first", error)
            return await self._second(questions, turns, context)
        doubted = [one for one in questions if self._when(one, answers.get(one.id))]
        if doubted:
            try:
                answers.update(await self._second(doubted, turns, context))
            except (FlowEngineError, TimeoutError) as error:
                _report("second", error)
        return answers

    def asked_models(self, questions: Sequence[Question]) -> tuple[ServedModel, ...]:
        return asked_models(self._first, questions) + asked_models(self._then, questions)

    async def _second(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        async with asyncio.timeout(self._within):
            return await self._then.decide(questions, turns, context)


def _report(which: str, error: Exception) -> None:
    _log.warning("the %s decider failed: %s", which, getattr(error, "code", "timed_out"))
