"""Streamed extraction: the same value, record and errors as a plain one, seen while it grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from flowengine.llm import (
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    Extractor,
    Partial,
    Restarted,
    ScriptedProvider,
    StreamBroken,
    StreamEvent,
    Usage,
    UsageLimits,
    Warning_,
    text_response,
)
from flowengine.llm.modes import SUBMIT_TOOL
from flowengine.llm.provider import Done, TextDelta, ToolCallDelta, UsageUpdate, Warned
from flowengine.llm.scripted import events_of
from flowengine.llm.vocabulary import RequestField, WarningKind

pytestmark = pytest.mark.anyio


class Line(BaseModel):
    item: str
    count: int


class Order(BaseModel):
    name: str
    lines: list[Line] = []


DONE = Done("stop")


def pieces(text: str, size: int = 4) -> list[StreamEvent]:
    return [TextDelta(text[i : i + size]) for i in range(0, len(text), size)]


ORDER = '{"name": "Ada", "lines": [{"item": "tea", "count": 12}, {"item": "jam", "count": 3}]}'


async def test_partials_grow_and_never_show_half_a_number(request_: ChatRequest) -> None:
    provider = ScriptedProvider([[*pieces(ORDER, 1), DONE]])
    counts: list[Any] = []
    async with Extractor().stream(provider, request_, Order) as stream:
        async for partial in stream.partials():
            counts += [line["count"] for line in partial.data.get("lines", []) if "count" in line]
        result = await stream.finish()
    assert set(counts) == {12, 3}
    assert result.value.lines[0].count == 12
    assert result.metadata.incremental is True


async def test_a_partial_shown_does_not_change_afterwards(request_: ChatRequest) -> None:
    provider = ScriptedProvider([[*pieces('{"name": "Ada"}', 3), DONE]])
    async with Extractor().stream(provider, request_, Order) as stream:
        shown = [partial async for partial in stream.partials()]
    assert [partial.data.get("name") for partial in shown] == [None, "Ad", "Ada"]
    assert ("name",) in [path for partial in shown for path in partial.complete_paths]


async def test_finish_gives_what_a_plain_call_gives(request_: ChatRequest) -> None:
    response = text_response(ORDER, Usage(input_tokens=3, output_tokens=2))
    plain = await Extractor().extract(ScriptedProvider([response]), request_, Order)
    streamed = await Extractor().stream(ScriptedProvider([response]), request_, Order).finish()
    assert streamed.value == plain.value
    assert streamed.response == plain.response
    skipped = {"incremental": True, "elapsed_s": True, "attempts": True}
    assert streamed.metadata.model_dump(exclude=skipped) == plain.metadata.model_dump(
        exclude=skipped
    )


async def test_items_come_as_they_are_finished_and_validated(request_: ChatRequest) -> None:
    seen_before_the_end: list[int] = []

    class Watching(ScriptedProvider):
        async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
            async for event in super().stream(request):
                if isinstance(event, Done):
                    seen_before_the_end.append(len(items))
                yield event

    items: list[Any] = []
    provider = Watching([[*pieces(ORDER), DONE]])
    async with Extractor().stream(provider, request_, Order, items="lines") as stream:
        async for item in stream.items():
            items.append(item)
    assert items == [Line(item="tea", count=12), Line(item="jam", count=3)]
    assert seen_before_the_end == [2]


async def test_the_items_of_a_bare_list_come_too(request_: ChatRequest) -> None:
    text = '{"value": [{"item": "tea", "count": 1}]}'
    provider = ScriptedProvider([[*pieces(text), DONE]])
    stream = Extractor().stream(provider, request_, list[Line], items="")
    assert [item async for item in stream.items()] == [Line(item="tea", count=1)]
    assert (await stream.finish()).value == [Line(item="tea", count=1)]


class Maybe(BaseModel):
    lines: list[Line] | None = None
    rows: Annotated[list[Line], Field(max_length=3)] = []
    many: Sequence[Line] = ()


@pytest.mark.parametrize("name", ["lines", "rows", "many"])
async def test_items_have_their_type_however_the_list_is_declared(
    request_: ChatRequest, name: str
) -> None:
    provider = ScriptedProvider([f'{{"{name}": [{{"item": "tea", "count": 1}}]}}'])
    stream = Extractor().stream(provider, request_, Maybe, items=name)
    assert [item async for item in stream.items()] == [Line(item="tea", count=1)]


@pytest.mark.parametrize(("wanted", "path"), [(Order, "name"), (Order, ""), (int, "")])
def test_what_is_no_list_has_no_items(request_: ChatRequest, wanted: Any, path: str) -> None:
    with pytest.raises(ValueError, match="no list"):
        Extractor().stream(ScriptedProvider([]), request_, wanted, items=path)


async def test_the_items_of_a_json_schema_are_validated_by_it(request_: ChatRequest) -> None:
    schema = {
        "type": "object",
        "properties": {"ns": {"type": "array", "items": {"type": "integer"}}},
    }
    provider = ScriptedProvider([[*pieces('{"ns": [1, "x", 3]}'), DONE]])
    stream = Extractor(on_item_error="drop").stream(provider, request_, schema, items="ns")
    assert [item async for item in stream.items()] == [1, 3]
    assert (await stream.finish()).value == {"ns": [1, 3]}


@pytest.mark.parametrize("text", ["true", "null", "3.5 ", '"value"', "[]"])
async def test_a_bare_value_where_an_object_is_wanted_is_a_failure_not_a_fault(
    request_: ChatRequest, text: str
) -> None:
    for wanted in (list[Line], Order):
        stream = Extractor().stream(ScriptedProvider([text]), request_, wanted)
        with pytest.raises(ExtractFailure):
            await stream.finish()


async def test_faulty_items_may_be_dropped_and_are_counted(request_: ChatRequest) -> None:
    text = '{"name": "Ada", "lines": [{"item": "tea"}, {"item": "jam", "count": 3}]}'
    provider = ScriptedProvider([[*pieces(text), DONE]])
    stream = Extractor(on_item_error="drop").stream(provider, request_, Order, items="lines")
    result = await stream.finish()
    assert result.value.lines == [Line(item="jam", count=3)]
    assert result.metadata.dropped_items == 1


async def test_faulty_items_fail_the_whole_by_default(request_: ChatRequest) -> None:
    text = '{"name": "Ada", "lines": [{"item": "tea"}]}'
    stream = Extractor().stream(ScriptedProvider([text]), request_, Order, items="lines")
    with pytest.raises(ExtractFailure, match=r"lines\[0\].count"):
        await stream.finish()


def test_a_list_that_is_not_declared_is_an_error_at_once(request_: ChatRequest) -> None:
    schema = {"type": "object", "properties": {"ns": {"type": "array"}}}
    with pytest.raises(ValueError, match="rows is not declared"):
        Extractor().stream(ScriptedProvider([]), request_, schema, items="rows")


async def test_a_bad_final_restarts_and_the_next_pass_is_streamed(request_: ChatRequest) -> None:
    provider = ScriptedProvider(
        [[*pieces('{"name": 3}'), DONE], [*pieces('{"name": "Ada"}'), DONE]]
    )
    events: list[Any] = []
    async with Extractor(retries=1).stream(provider, request_, Order) as stream:
        async for event in stream:
            events.append(event)
        result = await stream.finish()
    assert [event for event in events if isinstance(event, Restarted)] == [Restarted(1)]
    assert isinstance(events[-1], Partial)
    assert result.value.name == "Ada"
    assert result.metadata.passes == 2


async def test_items_are_not_repeated_by_a_restart(request_: ChatRequest) -> None:
    provider = ScriptedProvider([ORDER.replace('"Ada"', "3"), ORDER])
    stream = Extractor(retries=1).stream(provider, request_, Order, items="lines")
    assert len([item async for item in stream.items()]) == 2


async def test_validators_run_once_on_the_final_value_and_may_ask_again(
    request_: ChatRequest,
) -> None:
    seen: list[str] = []

    def check(value: Order, context: Any) -> None:
        seen.append(value.name)
        assert not context.partial
        if value.name == "Bob":
            raise ValueError("not Bob")

    provider = ScriptedProvider([[*pieces('{"name": "Bob"}', 1), DONE], '{"name": "Ada"}'])
    stream = Extractor(retries=1, validators=(check,)).stream(provider, request_, Order)
    assert (await stream.finish()).value.name == "Ada"
    assert seen == ["Bob", "Ada"]


class TestBrokenStreams:
    WARNING = Warning_(
        kind=WarningKind.DROPPED, field=RequestField.RESPONSE_FORMAT, code="schema.dropped.x"
    )

    async def test_it_is_no_pass_but_its_usage_and_warnings_are_kept(
        self, request_: ChatRequest
    ) -> None:
        broken = StreamBroken("gone")
        line = [
            Warned(self.WARNING),
            TextDelta('{"na'),
            UsageUpdate(Usage(input_tokens=5)),
            UsageUpdate(Usage(input_tokens=5, output_tokens=2)),
            broken,
        ]
        stream = Extractor(retries=2).stream(ScriptedProvider([line]), request_, Order)
        with pytest.raises(StreamBroken) as caught:
            await stream.finish()
        assert caught.value is broken
        record = ExtractionMetadata.from_error(broken)
        assert record is not None
        assert (record.passes, record.calls) == (0, 1)
        assert record.usage == Usage(input_tokens=5, output_tokens=2)
        assert record.degradations == (self.WARNING,)
        assert record.attempts[0].outcome == "stream_error"

    async def test_its_usage_is_added_to_that_of_the_passes_before(
        self, request_: ChatRequest
    ) -> None:
        bad = text_response("bad", Usage(input_tokens=10))
        line = [UsageUpdate(Usage(input_tokens=5)), StreamBroken("gone")]
        stream = Extractor(retries=1).stream(ScriptedProvider([bad, line]), request_, Order)
        with pytest.raises(StreamBroken) as caught:
            await stream.finish()
        record = ExtractionMetadata.from_error(caught.value)
        assert record is not None
        assert (record.passes, record.usage) == (1, Usage(input_tokens=15))

    async def test_an_error_at_the_opening_carries_the_record(self, request_: ChatRequest) -> None:
        stream = Extractor().stream(
            ScriptedProvider([StreamBroken("never began")]), request_, Order
        )
        with pytest.raises(StreamBroken) as caught:
            await anext(stream)
        record = ExtractionMetadata.from_error(caught.value)
        assert record is not None
        assert record.attempts[0].outcome == "provider_error"
        with pytest.raises(StreamBroken):
            await stream.finish()

    async def test_a_stream_that_just_stops_is_broken(self, request_: ChatRequest) -> None:
        stream = Extractor().stream(ScriptedProvider([pieces(ORDER)]), request_, Order)
        with pytest.raises(StreamBroken):
            await stream.finish()
        assert stream.metadata.passes == 0

    async def test_closing_early_closes_the_providers_stream(self, request_: ChatRequest) -> None:
        closed = asyncio.Event()

        class Closing(ScriptedProvider):
            async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
                try:
                    async for event in super().stream(request):
                        yield event
                finally:
                    closed.set()

        async with Extractor().stream(Closing([[*pieces(ORDER), DONE]]), request_, Order) as stream:
            await anext(stream)
        assert closed.is_set()
        with pytest.raises(StreamBroken):
            await stream.finish()

    @pytest.mark.parametrize(
        "events",
        [
            [ToolCallDelta(0, '{"name": "Ad', SUBMIT_TOOL, id="c"), Done("length")],
            [
                ToolCallDelta(0, '{"name"', SUBMIT_TOOL, id="c"),
                ToolCallDelta(0, ': "Ad'),
                Done("length"),
            ],
            [ToolCallDelta(0, '{"name": oops}', SUBMIT_TOOL, id="c"), Done("tool_calls")],
            [ToolCallDelta(0, '{"name": ["Ada"', SUBMIT_TOOL, id="c"), Done("tool_calls")],
        ],
    )
    async def test_a_cut_call_is_the_same_failure_streamed_or_not(
        self, request_: ChatRequest, events: list[StreamEvent]
    ) -> None:
        extractor = Extractor(mode=ExtractionMode.FORCED_TOOL)
        with pytest.raises(ExtractFailure) as streamed:
            await extractor.stream(ScriptedProvider([events]), request_, Order).finish()
        with pytest.raises(ExtractFailure) as plain:
            await extractor.extract(ScriptedProvider([events]), request_, Order)
        assert streamed.value.error == plain.value.error
        assert streamed.value.response == plain.value.response
        assert str(streamed.value) == str(plain.value)


class TestForcedTool:
    async def test_a_call_that_arrives_whole_is_said_not_to_be_incremental(
        self, request_: ChatRequest
    ) -> None:
        line = [ToolCallDelta(0, '{"name": "Ada"}', SUBMIT_TOOL), Done("tool_calls")]
        stream = Extractor(mode=ExtractionMode.FORCED_TOOL).stream(
            ScriptedProvider([line]), request_, Order
        )
        events = [event async for event in stream]
        assert len(events) == 1
        assert (await stream.finish()).metadata.incremental is False


class TestRepetition:
    @pytest.mark.parametrize(
        "endless",
        ['{"name": "' + "ha " * 400, '{"count": ' + "1" * 300, '{"name": ' + " " * 900],
    )
    async def test_an_endless_answer_is_cut_and_its_usage_kept(
        self, request_: ChatRequest, endless: str
    ) -> None:
        line = [UsageUpdate(Usage(input_tokens=1)), *pieces(endless, 20), DONE]
        stream = Extractor().stream(ScriptedProvider([line]), request_, Order)
        with pytest.raises(ExtractFailure, match="repetition") as caught:
            await stream.finish()
        assert caught.value.metadata.passes == 1
        assert caught.value.metadata.usage == Usage(input_tokens=1)

    async def test_an_ordinary_list_is_not_taken_for_it(self, request_: ChatRequest) -> None:
        text = '{"name": "Ada", "lines": ['
        text += ", ".join(f'{{"item": "tea {n}", "count": {n}}}' for n in range(60)) + "]}"
        provider = ScriptedProvider([[*pieces(text, 7), DONE]])
        result = await Extractor().stream(provider, request_, Order).finish()
        assert len(result.value.lines) == 60


async def test_a_wait_beyond_the_limit_ends_the_stream(request_: ChatRequest) -> None:
    class Stalling(ScriptedProvider):
        async def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
            yield TextDelta('{"na')
            await asyncio.sleep(60)

    limits = UsageLimits(deadline_s=0.05)
    stream = Extractor(limits=limits).stream(Stalling(), request_, Order)
    with pytest.raises(ExtractFailure, match="deadline_s"):
        await stream.finish()
    assert stream.metadata.attempts[0].outcome == "stream_error"


def test_the_events_of_a_response_bring_it_back() -> None:
    response = text_response("x", Usage(input_tokens=1))
    assert isinstance(events_of(response)[-1], Done)
