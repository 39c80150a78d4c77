"""A question to a language model as a source: the text of the answer is the value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flowengine.errors import SourceError
from flowengine.inputs import Json
from flowengine.llm.errors import ProviderError
from flowengine.llm.messages import ChatRequest
from flowengine.llm.provider import ChatProvider
from flowengine.llm.vocabulary import FinishReason
from flowengine.sources.template import Values, fill_prompt, prompt_keys


@dataclass(frozen=True, slots=True)
class PromptSource:
    """`{key}` shows an argument, else what State holds; `{key?yes:no}` asks whether it is set."""

    template: str = field(repr=False)
    provider: ChatProvider = field(repr=False)
    model: str

    @property
    def reads(self) -> tuple[str, ...]:
        return prompt_keys(self.template)

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        text = fill_prompt(self.template, Values(args, state))
        try:
            answer = await self.provider.chat(ChatRequest(model=self.model).user(text))
        except ProviderError as error:
            raise SourceError(f"the model did not answer ({error})", code=error.kind) from error
        if answer.finish_reason == FinishReason.LENGTH:
            raise SourceError("the model's answer was cut", code="bad_answer")
        if not answer.text or not answer.text.strip():
            raise SourceError("the model answered without text", code="bad_answer")
        return answer.text.strip()
