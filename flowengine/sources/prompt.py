"""A question to a language model as a source: the text of the answer is the value."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flowengine.errors import SourceError
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.llm.errors import ProviderError
from flowengine.llm.messages import ChatRequest
from flowengine.llm.provider import ChatProvider
from flowengine.llm.vocabulary import FinishReason
from flowengine.sources.template import shown
from flowengine.state.types import json_form

_SLOT = re.compile(r"\{([\w:.-]+)\}")


def prompt_keys(template: str) -> tuple[str, ...]:
    """The keys that a prompt shows, each once, in order."""
    return tuple(dict.fromkeys(_SLOT.findall(template)))


@dataclass(frozen=True, slots=True)
class PromptSource:
    """`{key}` shows an argument, else what State holds; a key without a value is an error."""

    template: str = field(repr=False)
    provider: ChatProvider = field(repr=False)
    model: str

    @property
    def reads(self) -> tuple[str, ...]:
        return prompt_keys(self.template)

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        known: Mapping[str, Any] = ChainMap(dict(args), state)  # pyright: ignore[reportArgumentType] - only read
        text = _SLOT.sub(lambda slot: _shown(slot[1], known), self.template)
        try:
            answer = await self.provider.chat(ChatRequest(model=self.model).user(text))
        except ProviderError as error:
            raise SourceError(f"the model did not answer ({error})", code=error.kind) from error
        if answer.finish_reason == FinishReason.LENGTH:
            raise SourceError("the model's answer was cut", code="bad_answer")
        if not answer.text or not answer.text.strip():
            raise SourceError("the model answered without text", code="bad_answer")
        return answer.text.strip()


def _shown(key: str, known: Mapping[str, Any]) -> str:
    value = look_up(key, known.get)
    if value is None:
        raise SourceError(f"{{{key}}} has no value: set the key before", code="missing_value")
    return shown(json_form(value))
