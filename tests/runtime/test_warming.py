"""Models made ready before the first call: which they are, and what is told where one is not."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from flowengine import FlowError, Functions, NotReady, Services, Session, loads
from flowengine.decide import FallbackDecider, LlmDecider, ScriptedDecider
from flowengine.extract import extract_turns
from flowengine.llm import GeminiProvider, OpenAIProvider, ScriptedProvider
from flowengine.testing.fake_gemini import FakeGemini

FLOW = loads("""
flow: refill
models: {extraction: gemini-a, decision: gemini-d}
extract:
  - name: Mood
    schema: {type: object, properties: {mood: {type: string}}}
  - name: Order
    model: gemini-b
    schema: {type: object, properties: {item: {type: string}}}
decisions:
  content: {question: Is the caller content?}
  agrees: {question: Does the caller agree?, recognize: yes_no}
  angry: {question: Is the caller angry?, model: gemini-e}
phases:
  a:
    initial: true
    transitions: [{to: b, when: decided(content) and decided(angry) and decided(agrees)}]
  b: {}
""")


def live(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGemini]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FakeGemini() as server:
        yield server


class Address(BaseModel):
    street: str | None = None


def one_of(gemini: FakeGemini) -> GeminiProvider:
    return GeminiProvider(api_key="must-not-leak", base_url=gemini.url, timeout_s=5)


def warmed(gemini: FakeGemini, provider: GeminiProvider | None = None, **more: Any) -> list[str]:
    provider = provider or one_of(gemini)

    async def body() -> None:
        try:
            await Services(llm=provider, **more).warm(FLOW)
        finally:
            await provider.aclose()

    live(body())
    assert {seen.method for seen in gemini.requests} <= {"get"}
    return sorted(seen.model for seen in gemini.requests)


def test_every_model_that_the_flow_will_ask_is_made_ready(gemini: FakeGemini) -> None:
    assert warmed(gemini) == ["gemini-a", "gemini-b", "gemini-d", "gemini-e"]


def test_what_code_or_a_decider_of_ones_own_answers_needs_no_model(gemini: FakeGemini) -> None:
    code = {"Mood": lambda window, known: {}, "Order": lambda window, known: {}}
    assert warmed(gemini, extractors=code, decider=ScriptedDecider()) == []


def test_a_decider_tells_the_models_of_those_it_asks(gemini: FakeGemini) -> None:
    other = one_of(gemini)
    both = FallbackDecider(LlmDecider(other, "quick"), LlmDecider(other, "slow"))
    code = {"Mood": lambda window, known: {}, "Order": lambda window, known: {}}
    # A question that names a model is asked of it by each of the two.
    assert warmed(gemini, other, extractors=code, decider=both) == [
        "gemini-e", "gemini-e", "quick", "slow",
    ]  # fmt: skip


def test_extractors_that_join_the_flow_are_made_ready_too(gemini: FakeGemini) -> None:
    other = one_of(gemini)
    joining = extract_turns(Address, other, "Find the address.", model="gemini-j")
    assert "gemini-j" in warmed(gemini, other, extractors=[joining])


def test_the_first_turn_opens_no_connection(gemini: FakeGemini) -> None:
    async def body() -> None:
        provider = one_of(gemini)
        services = Services(llm=provider, decider=ScriptedDecider([{}]))
        await services.warm(FLOW)
        opened = gemini.connections
        gemini.says("{}")
        gemini.says("{}")
        async with Session(FLOW, services=services) as call:
            await call.turn("I am fine with that", "Good.")
        assert (gemini.connections, [s.method for s in gemini.requests[2:]]) == (
            opened,
            ["generateContent", "generateContent"],
        )
        await provider.aclose()

    live(body())


def test_models_that_cannot_be_asked_are_all_named_with_who_asks_them(gemini: FakeGemini) -> None:
    gemini.lacks |= {"gemini-b", "gemini-d"}
    with pytest.raises(NotReady) as caught:
        warmed(gemini)
    assert str(caught.value).splitlines() == [
        "flow 'refill' cannot ask its models:",
        "  extractor 'Order': model 'gemini-b': gemini: model_not_found: 404 NOT_FOUND: "
        "check the model's name",
        "  decisions: model 'gemini-d': gemini: model_not_found: 404 NOT_FOUND: "
        "check the model's name",
    ]


def test_a_wrong_key_is_told_without_the_key(gemini: FakeGemini) -> None:
    gemini.key = "another"
    with pytest.raises(NotReady, match=r"auth_failed.*check the API key") as caught:
        warmed(gemini)
    assert "must-not-leak" not in str(caught.value)


def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NotReady, match="no key, pass api_key or set GEMINI_API_KEY"):
        live(Services().warm(FLOW))


def test_a_model_that_nobody_serves_is_told_beside_the_others() -> None:
    services = Services(llm={"gemini-[abd]": ScriptedProvider(), "gemini-e": ScriptedProvider()})
    live(services.warm(FLOW))
    flow = FLOW.model_copy(
        update={"models": FLOW.models.model_copy(update={"extraction": "llama"})}
    )
    with pytest.raises(NotReady, match="extractor 'Mood': no provider serves the model 'llama'"):
        live(services.warm(flow))


def test_a_service_that_is_not_there_is_told() -> None:
    async def body() -> None:
        nobody = OpenAIProvider(base_url="http://127.0.0.1:9/v1")
        with pytest.raises(NotReady, match="check the network and base_url"):
            await Services(llm=nobody).warm(FLOW)
        await nobody.aclose()

    live(body())


def test_what_a_session_would_refuse_is_refused() -> None:
    with pytest.raises(FlowError, match="no extractor 'Mod'"):
        live(Services(extractors={"Mod": lambda window, known: {}}).warm(FLOW, Functions()))
