"""Collects the events of a stream into the response a plain call would have returned."""

from __future__ import annotations

from dataclasses import dataclass, field

from flowengine.llm.messages import ChatResponse, ToolCall
from flowengine.llm.provider import Done, StreamEvent, TextDelta, ToolCallDelta, UsageUpdate
from flowengine.llm.usage import Usage
from flowengine.llm.warnings import Warning_


@dataclass(slots=True)
class _Call:
    name: str = ""
    id: str | None = None
    signature: str | None = None
    arguments: list[str] = field(default_factory=list[str], repr=False)


@dataclass(slots=True)
class Collector:
    """What a stream has brought so far; usable at any moment, also after it broke."""

    usage: Usage | None = None
    warnings: list[Warning_] = field(default_factory=list[Warning_])
    done: Done | None = None
    _text: list[str] = field(default_factory=list[str], repr=False)
    _calls: dict[int, _Call] = field(default_factory=dict[int, _Call])

    def add(self, event: StreamEvent) -> None:
        match event:
            case TextDelta(text):
                self._text.append(text)
            case ToolCallDelta():
                self._add_call(event)
            case UsageUpdate(usage):
                self.usage = self.usage.latest(usage) if self.usage else usage
            case Done():
                self.done = event
            case _:
                self.warnings.append(event.warning)

    def response(self, finish_reason: str | None = None) -> ChatResponse:
        """The response so far; `finish_reason` overrides the one the stream gave."""
        done = self.done or Done(None)
        return ChatResponse(
            text="".join(self._text) if self._text else None,
            tool_calls=tuple(
                ToolCall(
                    name=call.name,
                    arguments="".join(call.arguments),
                    id=call.id,
                    signature=call.signature,
                )
                for _, call in sorted(self._calls.items())
            ),
            finish_reason=finish_reason or done.finish_reason,
            finish_detail=done.finish_detail,
            usage=self.usage,
            warnings=tuple(self.warnings),
            model=done.model,
            id=done.id,
        )

    def _add_call(self, delta: ToolCallDelta) -> None:
        call = self._calls.setdefault(delta.index, _Call())
        call.name = delta.name or call.name
        call.id = delta.id or call.id
        call.signature = delta.signature or call.signature
        call.arguments.append(delta.arguments)
