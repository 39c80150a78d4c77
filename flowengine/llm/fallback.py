"""Asks the next provider when one fails; an unusable output is no reason to change providers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from flowengine.llm.errors import InvalidRequest, ProviderError, Refusal
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.provider import ChatProvider, Prepared, StreamEvent, closing_stream, warm
from flowengine.llm.resends import resent
from flowengine.llm.vocabulary import Capability, Support


@dataclass(frozen=True)
class Backup:
    """A provider to fall back to, under its own model name if the request's is not its own."""

    provider: ChatProvider
    model: str | None = None

    def adapt(self, request: ChatRequest) -> ChatRequest:
        return request.model_copy(update={"model": self.model}) if self.model else request


class FallbackProvider:
    """Tries providers in order. A request called invalid is not carried to the next one.

    The error that is raised is the last provider's own.
    """

    def __init__(self, providers: Iterable[ChatProvider | Backup]) -> None:
        self._backups = tuple(p if isinstance(p, Backup) else Backup(p) for p in providers)
        if not self._backups:
            raise ValueError("FallbackProvider needs at least one provider")

    @property
    def name(self) -> str:
        return self._backups[0].provider.name

    def capability(self, model: str, capability: Capability) -> Support:
        """Supported only where every provider supports it, since any may be asked."""
        answers = {b.provider.capability(b.model or model, capability) for b in self._backups}
        for answer in (Support.UNSUPPORTED, Support.UNKNOWN):
            if answer in answers:
                return answer
        return Support.SUPPORTED

    def prepare(self, request: ChatRequest) -> Prepared:
        """The first provider's answer; a backup that refuses later is passed over."""
        first = self._backups[0]
        return Prepared(request, first.provider.prepare(first.adapt(request)).warnings)

    async def warm(self, model: str) -> None:
        """All of them, side by side. A fault that may pass is one only where none is left."""
        told = await asyncio.gather(
            *(warm(b.provider, b.model or model) for b in self._backups), return_exceptions=True
        )
        faults = [fault for fault in told if fault is not None]
        lasting = [fault for fault in faults if not getattr(fault, "retryable", False)]
        if lasting or len(faults) == len(told):
            raise (lasting or faults)[0]

    async def chat(self, request: ChatRequest) -> ChatResponse:
        failure: ProviderError | None = None
        for backup in self._backups:
            try:
                if failure is not None:
                    resent()
                return await backup.provider.chat(backup.adapt(request))
            except ProviderError as error:
                failure = _carried(error)
            except Refusal:
                if failure is None:
                    raise
        raise _last(failure)

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        failure: ProviderError | None = None
        for backup in self._backups:
            delivered = False
            try:
                if failure is not None:
                    resent()
                stream = backup.provider.stream(backup.adapt(request))
                async with closing_stream(stream) as events:
                    async for event in events:
                        delivered = True
                        yield event
                return
            except ProviderError as error:
                if delivered:
                    raise
                failure = _carried(error)
            except Refusal:
                if failure is None:
                    raise
        raise _last(failure)


def _carried(error: ProviderError) -> ProviderError:
    if isinstance(error, InvalidRequest):
        raise error
    return error


def _last(failure: ProviderError | None) -> ProviderError:
    return failure or ProviderError("no provider answered")
