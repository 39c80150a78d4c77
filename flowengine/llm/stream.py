"""A typed value while it is being written: partials, finished items, restarts, then the value."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

from flowengine.llm.collect import Collector
from flowengine.llm.data import JSON, Path, is_object
from flowengine.llm.errors import StreamBroken
from flowengine.llm.items import ItemList
from flowengine.llm.messages import ChatRequest
from flowengine.llm.metadata import Extracted, ExtractionMetadata
from flowengine.llm.partial import PartialJson
from flowengine.llm.provider import StreamEvent, TextDelta, ToolCallDelta, closing_stream
from flowengine.llm.repetition import Repetition
from flowengine.llm.run import Run
from flowengine.llm.schema import WRAP, Target
from flowengine.llm.snapshots import Snapshots
from flowengine.llm.vocabulary import ExtractionMode, FinishReason

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Partial:
    """The value so far, as plain JSON: no half number or word, and strings may still grow.

    `complete_paths` became final and `changed_paths` changed since the last one. It shares with
    the others what did not change, so it is only to be read.
    """

    data: JSON = field(repr=False)
    complete_paths: tuple[Path, ...] = field(repr=False)
    changed_paths: tuple[Path, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Item:
    """One finished and validated item of the list asked for."""

    index: int
    value: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class Restarted:
    """What was shown so far is void: the output could not be used and is asked for again."""

    attempt: int


Event: TypeAlias = Partial | Item | Restarted


class ExtractionStream(Generic[T]):
    """An async iterator of events and an async context manager; `finish()` gives the value."""

    def __init__(
        self,
        wanted: Any,
        target: Target[T],
        items: str | None,
        on_item_error: Literal["raise", "drop"],
    ) -> None:
        self._target = target
        self._items = ItemList(wanted, target, items, on_item_error) if items is not None else None
        self._run: Run[T]
        self._events: AsyncGenerator[Event]
        self._result: Extracted[T] | None = None
        self._error: BaseException | None = None

    def drive(self, run: Run[T]) -> None:
        """Bind the extraction this is the stream of."""
        self._run = run
        self._events = self._extract()

    @property
    def metadata(self) -> ExtractionMetadata:
        """The record so far."""
        return self._run.record.metadata

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._events.aclose()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def finish(self) -> Extracted[T]:
        """Read to the end; the value, response and record are those of a plain call."""
        async for _ in self:
            pass
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise StreamBroken("the stream was closed before it was finished")
        return self._result

    async def partials(self) -> AsyncIterator[Partial]:
        """Only the partials; they begin anew after a restart."""
        async for event in self:
            if isinstance(event, Partial):
                yield event

    async def items(self) -> AsyncIterator[Any]:
        """Only the finished items, each once, also after a restart that repeats it."""
        seen: dict[int, Any] = {}
        async for event in self:
            if isinstance(event, Item) and (
                event.index not in seen or seen[event.index] != event.value
            ):
                seen[event.index] = event.value
                yield event.value

    def filter_items(self, value: JSON) -> tuple[JSON, int]:
        """The value without faulty items, where they are to be dropped."""
        return self._items.without_faulty(value) if self._items else (value, 0)

    async def _extract(self) -> AsyncGenerator[Event]:
        try:
            async with self._run.leaving_record():
                while self._result is None:
                    request = await self._run.next_request()
                    async with aclosing(self._one_pass(request)) as events:
                        async for event in events:
                            yield event
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                self._error = error
            raise

    async def _one_pass(self, request: ChatRequest) -> AsyncGenerator[Event]:
        collector = Collector()
        reader = _Reader(self._target, self._run.record.mode, self._items)
        try:
            async with aclosing(self._provider_events(request)) as events:
                async for event in events:
                    collector.add(event)
                    for shown in reader.read(event):
                        yield shown
                    if reader.stuck:
                        break
            if collector.done is None and not reader.stuck:
                raise StreamBroken("it ended before it was done", provider=self._run.provider.name)
        except GeneratorExit:
            raise
        except BaseException as error:
            if not await self._run.failed(error, collector):
                raise
        else:
            self._run.record.streamed(incremental=reader.pieces > 1)
            finish = str(FinishReason.REPETITION) if reader.stuck else None
            self._result = await self._run.received(collector.response(finish))
        if self._result is None and reader.shown:
            yield Restarted(self._run.record.metadata.calls)

    async def _provider_events(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:
        async with closing_stream(self._run.provider.stream(request)) as events:
            while True:
                async with self._run.within_time():
                    event = await anext(events, None)
                if event is None:
                    return
                yield event


class _Reader:
    """Turns the provider's events of one pass into what is shown."""

    def __init__(self, target: Target[Any], mode: ExtractionMode, items: ItemList | None) -> None:
        self.shown = False
        self.pieces = 0
        self._by_tool = mode is ExtractionMode.FORCED_TOOL
        self._wrapped = target.wrapped
        self._items = items
        self._json = PartialJson()
        self._snapshots = Snapshots()
        self._repetition = Repetition()

    @property
    def stuck(self) -> bool:
        return self._repetition.stuck

    def read(self, event: StreamEvent) -> list[Event]:
        text = self._text(event)
        if not text:
            return []
        self.pieces += 1
        self._repetition.feed(text)
        self._json.feed(text)
        if not self._json.changed and not self._json.complete:
            return []
        self.shown = True
        return [*self._partial(), *self._finished_items()]

    def _text(self, event: StreamEvent) -> str:
        match event:
            case TextDelta(text) if not self._by_tool:
                return text
            case ToolCallDelta(index=0, arguments=text) if self._by_tool:
                return text
            case _:
                return ""

    def _partial(self) -> list[Event]:
        complete, changed = tuple(self._json.complete), tuple(self._json.changed)
        data = self._snapshots.take(self._json.value, self._json.changed)
        if self._wrapped:
            if not is_object(data) or WRAP not in data:
                return []
            complete = tuple(path[1:] for path in complete if path)
            changed = tuple(path[1:] for path in changed if path)
            data = data[WRAP]
        return [Partial(data, complete, changed)]

    def _finished_items(self) -> list[Event]:
        if self._items is None:
            return []
        found = self._items.finished(self._json.value, self._json.complete)
        return [Item(index, value) for index, value in found]
