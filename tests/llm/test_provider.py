"""What every provider and every wrapper must do alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    Capability,
    ChatProvider,
    ChatRequest,
    Extractor,
    FallbackProvider,
    GeminiProvider,
    RateLimited,
    RetryingProvider,
    RetryPolicy,
    ScriptedProvider,
    Support,
    TapeProvider,
    Usage,
    extract,
)
from flowengine.llm.collect import Collector
from flowengine.llm.scripted import ScriptEnded
from flowengine.testing.fake_gemini import Chunks, FakeGemini, Reply, answer, usage_counts

pytestmark = pytest.mark.anyio

BODY = answer({"text": '{"name": "Ada"}'}, usage=usage_counts(prompt=3, candidates=2))


class Person(BaseModel):
    name: str


Wrap = Callable[[ChatProvider, Path], ChatProvider]


@pytest.fixture(
    params=[
        lambda inner, _: inner,
        lambda inner, _: RetryingProvider(inner, RetryPolicy(max_attempts=1)),
        lambda inner, _: FallbackProvider([inner]),
        lambda inner, path: TapeProvider(path / "tape", record=inner),
        lambda inner, path: RetryingProvider(FallbackProvider([TapeProvider(path / "t", inner)])),
    ],
    ids=["bare", "retrying", "fallback", "tape", "stacked"],
)
def wrapped(
    request: pytest.FixtureRequest, provider: GeminiProvider, tmp_path: Path
) -> ChatProvider:
    wrap: Wrap = request.param
    return wrap(provider, tmp_path)


async def test_extraction_needs_no_support_from_a_wrapper(
    wrapped: ChatProvider, gemini: FakeGemini, request_: ChatRequest
) -> None:
    gemini.script(Reply(BODY))
    result = await extract(wrapped, request_, Person)
    assert result.value.name == "Ada"
    assert result.metadata.usage == Usage(input_tokens=3, output_tokens=2, total_tokens=5)
    assert (result.metadata.passes, result.metadata.calls, gemini.calls) == (1, 1, 1)


async def test_a_stream_collects_to_what_a_call_returns(
    wrapped: ChatProvider, gemini: FakeGemini, request_: ChatRequest
) -> None:
    gemini.script(Reply(BODY), Chunks([BODY]))
    called = await wrapped.chat(request_)
    collector = Collector()
    async for event in wrapped.stream(request_):
        collector.add(event)
    assert collector.response() == called.model_copy(update={"raw": None})


async def test_a_stream_left_early_is_closed(
    wrapped: ChatProvider, gemini: FakeGemini, request_: ChatRequest
) -> None:
    gemini.streams('{"na', 'me": ', '"Ada"}')
    async with Extractor().stream(wrapped, request_, Person) as stream:
        await anext(stream)
    assert gemini.calls == 1


async def test_an_error_comes_through_as_the_same_object(
    wrapped: ChatProvider, gemini: FakeGemini, request_: ChatRequest
) -> None:
    gemini.fails(429, "slow", retry_delay="99s")
    with pytest.raises(RateLimited) as caught:
        await extract(wrapped, request_, Person)
    assert caught.value.retry_after == 99.0
    assert caught.value.provider == "gemini"


async def test_capabilities_come_through(wrapped: ChatProvider) -> None:
    assert wrapped.name == "gemini"
    native = Capability.STRUCTURED_OUTPUT
    assert wrapped.capability("gemini-3.1-flash", native) is Support.SUPPORTED
    assert wrapped.capability("gemma-3", native) is Support.UNSUPPORTED


async def test_a_script_that_ended_says_so(request_: ChatRequest) -> None:
    with pytest.raises(ScriptEnded, match="no answer to request 1"):
        await ScriptedProvider(name="mine").chat(request_)
