"""Questions answered by a language model: all of a round in one structured request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

from flowengine.decide.decider import Question
from flowengine.decide.request import ask, named, schema_of
from flowengine.inputs import Json
from flowengine.llm.extractor import Extractor
from flowengine.llm.hooks import Hooks
from flowengine.llm.messages import Thinking
from flowengine.llm.provider import ChatProvider, ServedModel
from flowengine.llm.retry import RetryingProvider, RetryPolicy
from flowengine.transcript import Turn

# A commit waits for the answer: one passing fault is tried again, a provider's own hint is not.
ONCE_AGAIN = RetryPolicy(max_attempts=2, base=0.3, jitter=0.0, honour_retry_after=False)


@dataclass(frozen=True, eq=False)
class LlmDecider:
    """Asks `model` of a provider; a question may name its own model and thinking budget.

    The questions of one model and budget go in one request, those of several models side by
    side. A choice without options is not asked. An answer of the wrong form is left out, the
    others stand. Raises the provider's error, or `ExtractFailure`.
    """

    provider: ChatProvider = field(repr=False)
    model: str
    _: KW_ONLY
    thinking: Thinking = 0
    hooks: Hooks | None = field(default=None, repr=False)
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)

    async def decide(
        self, questions: Sequence[Question], turns: Sequence[Turn], context: Mapping[str, Json]
    ) -> Mapping[str, Json]:
        groups: dict[tuple[str, Thinking], list[Question]] = {}
        for question in questions:
            spec = question.spec
            if spec.type != "choice" or question.options:
                budget = self.thinking if spec.thinking_budget is None else spec.thinking_budget
                groups.setdefault((spec.model or self.model, budget), []).append(question)
        rounds = [self._ask(*group, asked, turns, context) for group, asked in groups.items()]
        answers: dict[str, Json] = {}
        for found in await _all(rounds):
            answers.update(found)
        return answers

    def asked_models(self, questions: Sequence[Question]) -> tuple[ServedModel, ...]:
        names = dict.fromkeys(question.spec.model or self.model for question in questions)
        return tuple(ServedModel(name, self._provider) for name in names)

    async def _ask(
        self,
        model: str,
        thinking: Thinking,
        questions: Sequence[Question],
        turns: Sequence[Turn],
        context: Mapping[str, Json],
    ) -> dict[str, Json]:
        request = ask(model, questions, turns, context, thinking)
        result = await self._extractor.extract(self._provider, request, schema_of(questions))
        given: Mapping[str, Json] = result.value
        return {one.id: given[name] for name, one in named(questions) if name in given}

    @cached_property
    def _provider(self) -> ChatProvider:
        if isinstance(self.provider, RetryingProvider):
            return self.provider
        return RetryingProvider(self.provider, ONCE_AGAIN, self.sleep)

    @cached_property
    def _extractor(self) -> Extractor:
        return Extractor(
            repair=True, retries=0, undeclared="ignore", on_exhausted="partial",
            allow_prompted=True, hooks=self.hooks,
        )  # fmt: skip


async def _all(rounds: Sequence[Awaitable[dict[str, Json]]]) -> list[dict[str, Json]]:
    """All results; the first error, and the other rounds are given up."""
    tasks = [asyncio.ensure_future(one) for one in rounds]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
