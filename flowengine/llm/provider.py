"""The protocol of a chat provider, and the events of a streamed answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.usage import Usage
from flowengine.llm.vocabulary import Capability, Support
from flowengine.llm.warnings import Warning_


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer's text."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the call at `index`; `arguments` are appended, the rest is set when given."""

    index: int
    arguments: str = field(default="", repr=False)
    name: str | None = None
    id: str | None = None
    signature: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class UsageUpdate:
    """A running total, which replaces the one before."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the provider could not honour."""

    warning: Warning_


@dataclass(frozen=True, slots=True)
class Done:
    """The regular end of a stream; one that ends without it was cut."""

    finish_reason: str | None
    finish_detail: str | None = None
    model: str | None = None
    id: str | None = None


StreamEvent: TypeAlias = TextDelta | ToolCallDelta | UsageUpdate | Warned | Done


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request a provider is willing to send, and what will be lost on the way."""

    request: ChatRequest
    warnings: tuple[Warning_, ...] = ()


@asynccontextmanager
async def closing_stream(
    events: AsyncIterator[StreamEvent],
) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
    """Closes a provider's stream at once when its reader stops early."""
    try:
        yield events
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


class ChatProvider(Protocol):
    """A chat model behind some service, or a wrapper round another provider."""

    @property
    def name(self) -> str: ...

    def capability(self, model: str, capability: Capability) -> Support:
        """What is known of this model; `unknown` when nothing is."""
        ...

    def prepare(self, request: ChatRequest) -> Prepared:
        """Check a request without any I/O. Raises `Refusal` for one that will not be sent."""
        ...

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """One answer. Raises `ProviderError`."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """The answer in pieces; errors are raised while iterating."""
        ...


class ServedModel(NamedTuple):
    """A model's name and the provider that serves it."""

    name: str
    provider: ChatProvider


@runtime_checkable
class Warmable(Protocol):
    """A provider that can be made ready; one that cannot is simply asked when it is needed."""

    async def warm(self, model: str) -> None:
        """Open a connection, and see that key and model exist. Nothing is generated.

        Raises `ProviderError`.
        """
        ...


async def warm(provider: ChatProvider, model: str) -> None:
    """Make a provider ready for `model` if it can be made ready. Raises `ProviderError`."""
    if isinstance(provider, Warmable):
        await provider.warm(model)
