from __future__ import annotations

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    Backup,
    Capability,
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    Extractor,
    FallbackProvider,
    InvalidRequest,
    Overloaded,
    RateLimited,
    Refusal,
    ScriptedProvider,
    StreamBroken,
    Support,
    extract,
)
from flowengine.llm.provider import Done, TextDelta

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str


ADA = '{"name": "Ada"}'


async def test_the_next_provider_is_asked_under_its_own_model(request_: ChatRequest) -> None:
    first, second = ScriptedProvider([Overloaded()]), ScriptedProvider([ADA])
    both = FallbackProvider([first, Backup(second, "other-model")])
    result = await extract(both, request_, Person)
    assert second.requests[0].model == "other-model"
    assert (result.metadata.passes, result.metadata.calls) == (1, 2)


async def test_the_record_is_on_the_error_that_ended_it(request_: ChatRequest) -> None:
    fell, ended = Overloaded(), RateLimited()
    both = FallbackProvider([ScriptedProvider([fell]), ScriptedProvider([ended])])
    with pytest.raises(RateLimited) as caught:
        await extract(both, request_, Person)
    assert caught.value is ended
    assert ExtractionMetadata.from_error(ended) is not None
    assert ExtractionMetadata.from_error(fell) is None


async def test_an_unusable_output_changes_no_provider(request_: ChatRequest) -> None:
    second = ScriptedProvider([ADA])
    with pytest.raises(ExtractFailure):
        await extract(FallbackProvider([ScriptedProvider(["bad"]), second]), request_, Person)
    assert second.requests == []


async def test_an_invalid_request_is_not_carried_on(request_: ChatRequest) -> None:
    second = ScriptedProvider([ADA])
    both = FallbackProvider([ScriptedProvider([InvalidRequest("wrong field")]), second])
    with pytest.raises(InvalidRequest):
        await extract(both, request_, Person)
    assert second.requests == []


async def test_a_backup_that_refuses_is_passed_over(request_: ChatRequest) -> None:
    down = Overloaded()
    refusing = ScriptedProvider([Refusal("no", "not this")])
    both = FallbackProvider([ScriptedProvider([down]), refusing])
    with pytest.raises(Overloaded) as caught:
        await extract(both, request_, Person)
    assert caught.value is down


async def test_streams_fall_back_only_before_anything_was_delivered(
    request_: ChatRequest,
) -> None:
    good = [TextDelta(ADA), Done("stop")]
    both = FallbackProvider([ScriptedProvider([Overloaded()]), ScriptedProvider([good])])
    result = await Extractor().stream(both, request_, Person).finish()
    assert result.value.name == "Ada"
    second = ScriptedProvider([good])
    cut = ScriptedProvider([[TextDelta("{"), StreamBroken()]])
    with pytest.raises(StreamBroken):
        await Extractor().stream(FallbackProvider([cut, second]), request_, Person).finish()
    assert second.requests == []


def test_a_capability_counts_only_where_all_have_it() -> None:
    yes = ScriptedProvider()
    unsure = ScriptedProvider(capabilities={Capability.TOOL_CALLS: Support.UNKNOWN})
    both = FallbackProvider([yes, unsure])
    assert both.capability("m", Capability.TOOL_CALLS) is Support.UNKNOWN
    assert both.capability("m", Capability.STREAMING) is Support.SUPPORTED


def test_an_empty_list_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="at least one"):
        FallbackProvider([])
