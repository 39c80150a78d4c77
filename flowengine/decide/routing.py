"""Each question of a round to whoever answers it: rules at once, a model within its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from flowengine.clock import duration_ms
from flowengine.decide.decider import Decider, Question, asked_models
from flowengine.decide.rules import RuleDecider
from flowengine.errors import FlowEngineError, FlowError
from flowengine.inputs import Json
from flowengine.transcript import Turn

if TYPE_CHECKING:
    from flowengine.llm.provider import ServedModel

OnFailure = Callable[[tuple[str, ...], str], None]


class RoutingDecider:
    """Rules first, then `model` for the rest, within the longest `timeout` of its questions.

    A model that fails or is late takes no rule's answer with it: its questions are left out, and
    `on_failure` gets their ids and a code. Where no rule answered, its error is raised.
    """

    def __init__(
        self, rules: RuleDecider, model: Decider | None = None, on_failure: OnFailure | None = None
    ) -> None:
        self._rules = rules
        self._model = model
        self._on_failure = on_failure

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        ruled = [question for question in questions if self._rules.answers(question)]
        rest = [question for question in questions if not self._rules.answers(question)]
        answers = dict(await self._rules.decide(ruled, turns, context))
        if not rest:
            return answers
        try:
            answers.update(await self._ask(rest, turns, context))
        except (FlowEngineError, TimeoutError) as error:
            if not answers:
                raise
            if self._on_failure is not None:
                code = getattr(error, "code", "timed_out")
                self._on_failure(tuple(question.id for question in rest), code)
        return answers

    def asked_models(self, questions: Sequence[Question]) -> tuple[ServedModel, ...]:
        return asked_models(self._model, [one for one in questions if not self._rules.answers(one)])

    async def _ask(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        if self._model is None:
            names = ", ".join(question.id for question in questions)
            raise FlowError(
                f"no model answers {names}: name one under `models.decision`, or give the decision "
                "`run` or `recognize`"
            )
        async with asyncio.timeout(max(duration_ms(one.spec.timeout) for one in questions) / 1000):
            return await self._model.decide(questions, turns, context)
