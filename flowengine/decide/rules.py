"""Questions answered by rule: a function of the flow, or a recognizer."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from flowengine.decide.decider import Question
from flowengine.errors import FlowError, did_you_mean
from flowengine.inputs import Json
from flowengine.transcript import Turn

Rule: TypeAlias = Callable[[Sequence[Turn], Question], Json | Awaitable[Json]]
"""(turns, question) -> an answer as `judge` reads it, None where the rule has none."""
Recognize: TypeAlias = Callable[[str, Sequence[Turn], Mapping[str, str]], Json]
"""(recognizer, turns, options) -> an answer; `flowengine.extract.answer.recognized` is one."""


class RuleDecider:
    """Answers by the function that a question names with `run`, else by its recognizer, else by
    the function of the question's own id.
    """

    def __init__(
        self, rules: Mapping[str, Rule] | None = None, recognize: Recognize | None = None
    ) -> None:
        self._rules = dict(rules or {})
        self._recognize = recognize

    def answers(self, question: Question) -> bool:
        """Whether a rule is named for the question, so that no model is asked."""
        spec = question.spec
        return bool(spec.run or spec.recognize) or question.id in self._rules

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        found: dict[str, Json] = {}
        for question in questions:
            answer = await self._answer(question, turns)
            if answer is not None:
                found[question.id] = answer
        return found

    async def _answer(self, question: Question, turns: Sequence[Turn]) -> Json:
        spec = question.spec
        if spec.recognize is not None:
            return self._read(spec.recognize, question, turns)
        name = spec.run or question.id
        rule = self._rules.get(name)
        if rule is None:
            if spec.run is None:
                return None
            raise FlowError(
                f"decision {question.id!r} is to be answered by {name!r}, which is no registered "
                f"function.{did_you_mean(name, self._rules)}"
            )
        answer = rule(turns, question)
        return await answer if inspect.isawaitable(answer) else answer

    def _read(self, recognizer: str, question: Question, turns: Sequence[Turn]) -> Json:
        if self._recognize is None:
            raise FlowError(
                f"decision {question.id!r} is to be answered by the recognizer {recognizer}: give "
                "RuleDecider a `recognize` function"
            )
        return self._recognize(recognizer, turns, question.options)
