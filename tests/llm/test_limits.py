from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    ChatRequest,
    ChatResponse,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    ScriptedProvider,
    Timeout,
    Usage,
    UsageLimits,
    extract,
    text_response,
)

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str


ADA = '{"name": "Ada"}'


@pytest.mark.parametrize(
    ("limits", "usage", "limit"),
    [
        (UsageLimits(max_passes=1), None, "max_passes"),
        (UsageLimits(max_input_tokens=10), Usage(input_tokens=10), "max_input_tokens"),
        (UsageLimits(max_output_tokens=10), Usage(output_tokens=11), "max_output_tokens"),
        (
            UsageLimits(max_total_tokens=10),
            Usage(input_tokens=5, output_tokens=5),
            "max_total_tokens",
        ),
        (UsageLimits(max_total_tokens=10), None, "max_total_tokens"),
    ],
)
async def test_a_limit_forbids_the_next_call_and_says_what_was_wrong_before(
    request_: ChatRequest, limits: UsageLimits, usage: Usage | None, limit: str
) -> None:
    provider = ScriptedProvider([text_response("bad", usage), ADA])
    with pytest.raises(ExtractFailure, match=f"the limit {limit} forbids") as caught:
        await extract(provider, request_, Person, retries=3, limits=limits)
    assert "is not JSON" in str(caught.value)
    assert len(provider.requests) == 1
    assert caught.value.response is not None


async def test_a_valid_result_is_never_thrown_away(request_: ChatRequest) -> None:
    spent = text_response(ADA, Usage(input_tokens=9999))
    result = await extract(
        ScriptedProvider([spent]), request_, Person, limits=UsageLimits(max_input_tokens=1)
    )
    assert result.value.name == "Ada"


class Slow(ScriptedProvider):
    async def chat(self, request: ChatRequest) -> ChatResponse:
        await asyncio.sleep(60)
        return await super().chat(request)


async def test_the_deadline_interrupts_a_call(request_: ChatRequest) -> None:
    with pytest.raises(ExtractFailure, match="deadline_s") as caught:
        await extract(Slow([ADA]), request_, Person, limits=UsageLimits(deadline_s=0.02))
    assert (caught.value.metadata.passes, caught.value.metadata.calls) == (0, 1)


async def test_a_single_call_that_takes_too_long_is_a_timeout(request_: ChatRequest) -> None:
    with pytest.raises(Timeout) as caught:
        await extract(Slow([ADA]), request_, Person, limits=UsageLimits(pass_timeout_s=0.02))
    record = ExtractionMetadata.from_error(caught.value)
    assert record is not None
    assert record.mode is ExtractionMode.NATIVE
