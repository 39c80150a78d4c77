"""What a reader of every turn relies on: the settings the page on typed extraction recommends."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.llm import (
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    Extractor,
    GeminiProvider,
    Overloaded,
    RetryingProvider,
    RetryPolicy,
    UsageLimits,
)
from flowengine.testing.fake_gemini import FakeGemini, Reply, error_reply

pytestmark = pytest.mark.anyio

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"mood": {"enum": ["calm", "angry"]}, "amount": {"type": "number"}},
}
ASKED = ChatRequest(
    model="gemini-3.5-flash-lite", system="Extract mood and amount.", thinking=64
).user("CALLER: forty, and not a cent more!")
EXTRACTOR = Extractor(repair=True, on_exhausted="partial", limits=UsageLimits(deadline_s=5))


class Waits(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def quick(provider: GeminiProvider, waits: Waits) -> RetryingProvider:
    policy = RetryPolicy(max_attempts=2, base=0.3, jitter=0.0, honour_retry_after=False)
    return RetryingProvider(provider, policy, sleep=waits)


async def test_the_instruction_the_window_and_the_budget_are_sent(
    gemini: FakeGemini, quick: RetryingProvider
) -> None:
    gemini.says('{"mood": "angry", "amount": 40}')
    result = await EXTRACTOR.extract(quick, ASKED, SCHEMA)
    assert result.value == {"mood": "angry", "amount": 40}
    body = gemini.requests[0].body
    assert body["systemInstruction"]["parts"] == [{"text": "Extract mood and amount."}]
    assert body["contents"][0]["parts"] == [{"text": "CALLER: forty, and not a cent more!"}]
    assert body["generationConfig"]["thinkingConfig"] == {"thinking_budget": 64}


async def test_each_entry_has_its_own_budget_on_one_provider(
    gemini: FakeGemini, quick: RetryingProvider
) -> None:
    for thinking in (0, 512, "low", None):
        gemini.says("{}")
        update = {"thinking": thinking, "model": "gemini-3.1-flash"}
        await EXTRACTOR.extract(quick, ASKED.model_copy(update=update), SCHEMA)
    configs = [seen.body.get("generationConfig", {}) for seen in gemini.requests]
    assert [config.get("thinkingConfig") for config in configs] == [
        {"thinking_budget": 0},
        {"thinking_budget": 512},
        {"thinking_level": "LOW"},
        None,
    ]


async def test_syntax_is_mended_and_nothing_is_asked_twice(
    gemini: FakeGemini, quick: RetryingProvider
) -> None:
    gemini.says("```json\n{'mood': 'calm',}\n```")
    result = await EXTRACTOR.extract(quick, ASKED, SCHEMA)
    assert result.value == {"mood": "calm"}
    assert result.unset_fields == ("amount",)
    gemini.says("no value at all")
    with pytest.raises(ExtractFailure):
        await EXTRACTOR.extract(quick, ASKED, SCHEMA)
    assert gemini.calls == 2


async def test_what_fits_is_kept_and_the_rest_is_named(
    gemini: FakeGemini, quick: RetryingProvider
) -> None:
    gemini.says('{"mood": "furious", "amount": 40}')
    result = await EXTRACTOR.extract(quick, ASKED, SCHEMA)
    assert result.value == {"amount": 40}
    assert len(result.issues) == 1
    assert result.issues[0].startswith("mood (")


async def test_a_passing_fault_is_sent_again_once(
    gemini: FakeGemini, quick: RetryingProvider, waits: Waits
) -> None:
    gemini.fails(429, "slow", retry_delay="30s")
    gemini.says('{"mood": "calm"}')
    result = await EXTRACTOR.extract(quick, ASKED, SCHEMA)
    assert (result.metadata.passes, result.metadata.calls, waits) == (1, 2, [0.3])
    gemini.script(error_reply(503, "busy"), error_reply(503, "busy"))
    with pytest.raises(Overloaded) as caught:
        await EXTRACTOR.extract(quick, ASKED, SCHEMA)
    record = ExtractionMetadata.from_error(caught.value)
    assert record is not None
    assert (record.passes, record.calls, waits) == (0, 2, [0.3, 0.3])


async def test_the_deadline_holds_while_a_resend_is_waited_for(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.script(error_reply(503, "busy"), Reply(fault="hang"))
    patient = RetryingProvider(provider, RetryPolicy(max_attempts=2, base=30.0))
    with pytest.raises(ExtractFailure, match="deadline_s") as caught:
        await EXTRACTOR.with_(limits=UsageLimits(deadline_s=0.1)).extract(patient, ASKED, SCHEMA)
    assert caught.value.metadata.calls == 1
