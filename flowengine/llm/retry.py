"""Sends a failed call again when the failure may pass; an unusable output is no such failure."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from flowengine.llm.errors import ProviderError
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.provider import ChatProvider, Prepared, StreamEvent, closing_stream, warm
from flowengine.llm.resends import resent
from flowengine.llm.vocabulary import Capability, Support

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Doubling waits of `base` to `cap` seconds, each lengthened by up to `jitter` of itself.

    A provider's own hint is honoured when it is no longer than `cap`; a longer one ends retrying,
    so that the caller may decide.
    """

    max_attempts: int = 3
    base: float = 0.5
    cap: float = 20.0
    jitter: float = 0.1
    honour_retry_after: bool = True

    def wait(self, error: ProviderError, attempt: int, chance: float) -> float | None:
        """Seconds before the next attempt, None to give up; `chance` lies in 0 to 1."""
        if not error.retryable or attempt >= self.max_attempts:
            return None
        if self.honour_retry_after and error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.cap else None
        delay = min(self.base * 2 ** (attempt - 1), self.cap)
        return delay * (1 + self.jitter * chance)


@dataclass(frozen=True)
class RetryingProvider:
    """Wraps a provider. A stream is only begun again while nothing of it was delivered."""

    inner: ChatProvider
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    @property
    def name(self) -> str:
        return self.inner.name

    def capability(self, model: str, capability: Capability) -> Support:
        return self.inner.capability(model, capability)

    def prepare(self, request: ChatRequest) -> Prepared:
        return self.inner.prepare(request)

    async def warm(self, model: str) -> None:
        await self._tried(lambda: warm(self.inner, model))

    async def chat(self, request: ChatRequest) -> ChatResponse:
        return await self._tried(lambda: self.inner.chat(request))

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        attempt = 1
        while True:
            delivered = False
            try:
                async with closing_stream(self.inner.stream(request)) as events:
                    async for event in events:
                        delivered = True
                        yield event
                return
            except ProviderError as error:
                if delivered:
                    raise
                await self._wait_or_raise(error, attempt)
            attempt += 1

    async def _tried(self, ask: Callable[[], Awaitable[T]]) -> T:
        attempt = 1
        while True:
            try:
                return await ask()
            except ProviderError as error:
                await self._wait_or_raise(error, attempt)
            attempt += 1

    async def _wait_or_raise(self, error: ProviderError, attempt: int) -> None:
        delay = self.policy.wait(error, attempt, self.chance())
        if delay is None:
            raise error
        await self.sleep(delay)
        resent()
