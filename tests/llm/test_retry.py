from __future__ import annotations

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    Extractor,
    InvalidRequest,
    Overloaded,
    ProviderError,
    RateLimited,
    RetryingProvider,
    RetryPolicy,
    ScriptedProvider,
    StreamBroken,
    Timeout,
    extract,
)
from flowengine.llm.provider import Done, TextDelta

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str


ADA = '{"name": "Ada"}'


class Waits(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def retrying(*script: object, **policy: object) -> tuple[RetryingProvider, ScriptedProvider, Waits]:
    inner, waits = ScriptedProvider(script), Waits()  # pyright: ignore
    settled = RetryPolicy(**policy)  # pyright: ignore
    return RetryingProvider(inner, settled, sleep=waits, chance=lambda: 0.0), inner, waits


async def test_passing_errors_are_retried_with_doubling_waits(request_: ChatRequest) -> None:
    provider, inner, waits = retrying(Overloaded(), Timeout(), ADA)
    result = await extract(provider, request_, Person)
    assert result.value.name == "Ada"
    assert waits == [0.5, 1.0]
    assert len(inner.requests) == 3


async def test_inner_attempts_are_calls_but_no_passes(request_: ChatRequest) -> None:
    provider, _, _ = retrying(Overloaded(), Overloaded(), ADA)
    result = await extract(provider, request_, Person)
    assert (result.metadata.passes, result.metadata.calls) == (1, 3)


async def test_the_providers_hint_is_honoured_up_to_the_cap(request_: ChatRequest) -> None:
    provider, _, waits = retrying(RateLimited(retry_after=7.0), ADA)
    await extract(provider, request_, Person)
    assert waits == [7.0]
    provider, _, waits = retrying(RateLimited(retry_after=70.0), ADA)
    with pytest.raises(RateLimited) as caught:
        await extract(provider, request_, Person)
    assert (waits, caught.value.retry_after) == ([], 70.0)


async def test_the_last_error_is_raised_as_it_came(request_: ChatRequest) -> None:
    last = Overloaded("third")
    provider, _, _ = retrying(Overloaded("first"), Overloaded("second"), last)
    with pytest.raises(Overloaded) as caught:
        await extract(provider, request_, Person)
    assert caught.value is last
    record = ExtractionMetadata.from_error(last)
    assert record is not None
    assert (record.passes, record.calls) == (0, 3)


@pytest.mark.parametrize("error", [InvalidRequest("x is wrong"), ProviderError("odd")])
async def test_other_errors_are_not_retried(request_: ChatRequest, error: ProviderError) -> None:
    provider, inner, waits = retrying(error, ADA)
    with pytest.raises(type(error)):
        await extract(provider, request_, Person)
    assert (len(inner.requests), waits) == (1, [])


async def test_an_unusable_output_is_no_reason_to_send_again(request_: ChatRequest) -> None:
    provider, inner, _ = retrying("bad", ADA)
    with pytest.raises(ExtractFailure):
        await extract(provider, request_, Person)
    assert len(inner.requests) == 1


async def test_a_stream_is_only_begun_again_while_nothing_was_delivered(
    request_: ChatRequest,
) -> None:
    provider, _, _ = retrying(Overloaded(), [TextDelta(ADA), Done("stop")])
    result = await Extractor().stream(provider, request_, Person).finish()
    assert result.metadata.calls == 2
    provider, inner, _ = retrying([TextDelta("{"), StreamBroken()], ADA)
    with pytest.raises(StreamBroken):
        await Extractor().stream(provider, request_, Person).finish()
    assert len(inner.requests) == 1


def test_a_wait_is_lengthened_by_chance_and_capped() -> None:
    policy = RetryPolicy(max_attempts=99, base=1.0, cap=4.0, jitter=0.5)
    assert policy.wait(Overloaded(), 1, 1.0) == 1.5
    assert policy.wait(Overloaded(), 9, 0.0) == 4.0
    assert policy.wait(Overloaded(), 99, 0.0) is None
