"""A provider that answers from a script and logs what it was asked: for tests without a network."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from flowengine.llm.collect import Collector
from flowengine.llm.errors import FlowLLMError, Refusal
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.provider import (
    Done,
    Prepared,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    UsageUpdate,
    Warned,
)
from flowengine.llm.usage import Usage
from flowengine.llm.vocabulary import Capability, FinishReason, Support

Chunks: TypeAlias = Sequence[StreamEvent | BaseException]
Line: TypeAlias = str | ChatResponse | BaseException | Chunks


class ScriptEnded(FlowLLMError):
    """The provider was asked more often than its script answers."""

    code = "script_ended"


class ScriptedProvider:
    """Answers in order: a text, a response, an error to raise, or the events of a stream.

    An event list may end in an error, for a stream that breaks. Every kind serves `chat` and
    `stream` alike. `refuse` is asked by `prepare`; `requests` holds what was sent.
    """

    def __init__(
        self,
        script: Iterable[Line] = (),
        *,
        name: str = "scripted",
        capabilities: Mapping[Capability, Support] | None = None,
        refuse: Callable[[ChatRequest], Refusal | None] | None = None,
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._script: deque[Line] = deque(script)
        self._capabilities = dict.fromkeys(Capability, Support.SUPPORTED)
        self._capabilities.update(capabilities or {})
        self._refuse = refuse

    def capability(self, model: str, capability: Capability) -> Support:
        return self._capabilities[capability]

    def prepare(self, request: ChatRequest) -> Prepared:
        refusal = self._refuse(request) if self._refuse else None
        if refusal is not None:
            raise refusal
        return Prepared(request)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        line = self._next(request)
        if isinstance(line, ChatResponse):
            return line
        collector = Collector()
        for event in line:
            if isinstance(event, BaseException):
                raise event
            collector.add(event)
        return collector.response()

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        line = self._next(request)
        for event in events_of(line) if isinstance(line, ChatResponse) else line:
            if isinstance(event, BaseException):
                raise event
            yield event

    def _next(self, request: ChatRequest) -> ChatResponse | Chunks:
        self.requests.append(request)
        if not self._script:
            raise ScriptEnded(f"{self.name} has no answer to request {len(self.requests)}")
        line = self._script.popleft()
        if isinstance(line, BaseException):
            raise line
        return text_response(line) if isinstance(line, str) else line


def text_response(text: str, usage: Usage | None = None) -> ChatResponse:
    """A regular answer of text."""
    return ChatResponse(text=text, finish_reason=FinishReason.STOP, usage=usage)


def events_of(response: ChatResponse) -> list[StreamEvent]:
    """The shortest stream that brings a response."""
    events: list[StreamEvent] = [Warned(warning) for warning in response.warnings]
    if response.text is not None:
        events.append(TextDelta(response.text))
    for index, call in enumerate(response.tool_calls):
        events.append(
            ToolCallDelta(index, call.arguments, call.name, id=call.id, signature=call.signature)
        )
    if response.usage is not None:
        events.append(UsageUpdate(response.usage))
    detail = response.finish_detail
    events.append(Done(response.finish_reason, detail, response.model, response.id))
    return events
