"""Asks a model for a value of a type, and says exactly how it went."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from pydantic import TypeAdapter

from flowengine.llm.data import compact
from flowengine.llm.errors import ExtractFailure
from flowengine.llm.judge import Accepted, Judge, Rejection, fields_said
from flowengine.llm.ladder import Ladder
from flowengine.llm.messages import ChatRequest, ChatResponse
from flowengine.llm.metadata import Extracted, ExtractionMetadata
from flowengine.llm.modes import SUBMIT_TOOL, answer_of, mode_of, usable_modes
from flowengine.llm.provider import ChatProvider
from flowengine.llm.reasons import Reason, SchemaFailed
from flowengine.llm.run import Run
from flowengine.llm.schema import NoSchema, Target, target
from flowengine.llm.settings import Settings
from flowengine.llm.stream import ExtractionStream
from flowengine.llm.update import SlotDelta, slot_target, with_known_values
from flowengine.llm.vocabulary import ExtractionMode

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Extractor(Settings):
    """A reusable way to extract; see `Settings` for its keyword arguments.

    A type is a pydantic model, TypedDict, dataclass, Enum, list, union, scalar, `TypeAdapter`, or
    a JSON Schema as a mapping, for which the value is plain JSON.
    """

    _levels: dict[str, int] = field(default_factory=dict[str, int], repr=False, compare=False)

    def with_(self, **changes: Any) -> Extractor:
        """A copy with some settings changed; what was learned of schemas is shared."""
        return replace(self, **changes)

    @overload
    async def extract(
        self, provider: ChatProvider, request: ChatRequest, wanted: type[T] | TypeAdapter[T]
    ) -> Extracted[T]: ...
    @overload
    async def extract(
        self, provider: ChatProvider, request: ChatRequest, wanted: Any
    ) -> Extracted[Any]: ...
    async def extract(
        self, provider: ChatProvider, request: ChatRequest, wanted: Any
    ) -> Extracted[Any]:
        """One value. Raises `ExtractFailure`, or the provider's error with the record attached."""
        return await self._drive(provider, request, self._target(wanted, request))

    @overload
    def stream(
        self,
        provider: ChatProvider,
        request: ChatRequest,
        wanted: type[T] | TypeAdapter[T],
        *,
        items: str | None = None,
    ) -> ExtractionStream[T]: ...
    @overload
    def stream(
        self, provider: ChatProvider, request: ChatRequest, wanted: Any, *, items: str | None = None
    ) -> ExtractionStream[Any]: ...
    def stream(
        self, provider: ChatProvider, request: ChatRequest, wanted: Any, *, items: str | None = None
    ) -> ExtractionStream[Any]:
        """The value while it is written; `items` names a list whose finished items are wanted.

        Nothing is sent before the stream is iterated or finished.
        """
        found = self._target(wanted, request)
        stream = ExtractionStream(wanted, found, items, self.on_item_error)
        judge = self._judge(found, stream.filter_items)
        stream.drive(self._run(provider, request, judge))
        return stream

    @overload
    def parse(
        self, response: ChatResponse | str, wanted: type[T] | TypeAdapter[T]
    ) -> Extracted[T]: ...
    @overload
    def parse(self, response: ChatResponse | str, wanted: Any) -> Extracted[Any]: ...
    def parse(self, response: ChatResponse | str, wanted: Any) -> Extracted[Any]:
        """The value of an answer already at hand: no call, no validators, no grounding."""
        if isinstance(response, str):
            response = ChatResponse(text=response)
        mode = self._mode_read(response)
        record = ExtractionMetadata.new(mode)
        found = self._target(wanted, None, mode)
        text = answer_of(response, mode, "")
        if isinstance(text, Reason):
            raise ExtractFailure(text, response, record)
        verdict = self._judge(found, bare=True).judge(text, mode, "", self.context or {})
        if isinstance(verdict, Rejection):
            counted = int(getattr(verdict.reason, "code", "") == "undeclared_key")
            record = record.model_copy(update={"undeclared_key_rejections": counted})
            raise ExtractFailure(verdict.reason, response, record)
        return _parsed(found, verdict, response, record)

    async def update(
        self,
        provider: ChatProvider,
        request: ChatRequest,
        wanted: Any,
        current: Mapping[str, Any] | Any,
    ) -> Extracted[SlotDelta]:
        """What the conversation changes in values already known: set, cleared, or kept."""
        found = self._target(wanted, request)
        try:
            slots = slot_target(found, current)
        except NoSchema as error:
            raise self._no_schema(error, request) from None
        return await self._drive(provider, with_known_values(request, current), slots)

    async def _drive(
        self, provider: ChatProvider, request: ChatRequest, found: Target[Any]
    ) -> Extracted[Any]:
        run = self._run(provider, request, self._judge(found))
        result = None
        async with run.leaving_record():
            while result is None:
                sent = await run.next_request()
                try:
                    async with run.within_time():
                        response = await provider.chat(sent)
                except BaseException as error:
                    if not await run.failed(error):
                        raise
                else:
                    result = await run.received(response)
        return result

    def _run(self, provider: ChatProvider, request: ChatRequest, judge: Judge[T]) -> Run[T]:
        asked = mode_of(request, self.mode)
        modes = usable_modes(provider, request.model, asked, allow_prompted=self.allow_prompted)
        schema = hashlib.sha256(compact(judge.target.schema).encode()).hexdigest()
        key = f"{provider.name}/{request.model}/{schema}"
        ladder = Ladder(asked, modes, judge.target, self._levels, key)
        return Run(provider, request, judge, self, ladder)

    def _judge(self, found: Target[T], filter_items: Any = None, *, bare: bool = False) -> Judge[T]:
        return Judge(found, self.repair_level, self.undeclared, filter_items, bare)

    def _target(
        self, wanted: Any, request: ChatRequest | None, mode: ExtractionMode | None = None
    ) -> Target[Any]:
        try:
            return target(wanted)
        except NoSchema as error:
            raise self._no_schema(error, request, mode) from None

    def _no_schema(
        self, error: NoSchema, request: ChatRequest | None, mode: ExtractionMode | None = None
    ) -> ExtractFailure:
        asked = mode_of(request, self.mode) if request else mode or self.mode
        return ExtractFailure(SchemaFailed(message=str(error)), None, ExtractionMetadata.new(asked))

    def _mode_read(self, response: ChatResponse) -> ExtractionMode:
        """Where to look in an answer whose request is unknown."""
        if self.mode is not ExtractionMode.AUTO:
            return self.mode
        called = any(call.name == SUBMIT_TOOL for call in response.tool_calls)
        return ExtractionMode.FORCED_TOOL if called else ExtractionMode.NATIVE


def _parsed(
    found: Target[T], verdict: Accepted[T], response: ChatResponse, record: ExtractionMetadata
) -> Extracted[T]:
    repairs = verdict.repairs
    record = record.model_copy(update={"repaired": bool(repairs), "repairs": repairs})
    unset, null = fields_said(found, verdict.json)
    return Extracted(verdict.value, response, record, (), unset, null)


@overload
async def extract(
    provider: ChatProvider, request: ChatRequest, wanted: type[T] | TypeAdapter[T], **settings: Any
) -> Extracted[T]: ...
@overload
async def extract(
    provider: ChatProvider, request: ChatRequest, wanted: Any, **settings: Any
) -> Extracted[Any]: ...
async def extract(
    provider: ChatProvider, request: ChatRequest, wanted: Any, **settings: Any
) -> Extracted[Any]:
    """`Extractor(**settings).extract(...)`: by default one call, parsed strictly."""
    return await Extractor(**settings).extract(provider, request, wanted)
