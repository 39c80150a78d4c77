"""Questions over the wire: one request of the real SDK to a loopback Gemini."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from flowengine.decide import DecisionSpec, LlmDecider, Question
from flowengine.llm import GeminiProvider
from flowengine.llm.errors import FlowLLMError
from flowengine.testing.fake_gemini import FakeGemini
from flowengine.transcript import Turn

Call = tuple[Turn, ...]


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGemini]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.delenv(name, raising=False)
    with FakeGemini() as server:
        yield server


def decide(gemini: FakeGemini, questions: Sequence[Question], call: Call) -> Mapping[str, Any]:
    async def run() -> Mapping[str, Any]:
        provider = GeminiProvider(api_key="key-that-must-not-leak", base_url=gemini.url)
        try:
            decider = LlmDecider(provider, "gemini-test", sleep=at_once)
            return await decider.decide(questions, call, {"phase": "confirm"})
        finally:
            await provider.aclose()

    return asyncio.run(run())


async def at_once(seconds: float) -> None:
    return None


def test_a_round_is_one_request_without_thinking(
    gemini: FakeGemini, agree: Question, pick: Question, mood: Question, call: Call
) -> None:
    answers = {
        "q1": {"probability": 0.2},
        "q2": {"option": "19:00", "probability": 0.9},
        "q3": {"level": 0, "confidence": 0.7},
    }
    gemini.says(json.dumps(answers))
    found = decide(gemini, [agree, pick, mood], call)
    assert found == {"agree": answers["q1"], "pick": answers["q2"], "mood": answers["q3"]}
    (seen,) = gemini.requests
    config = seen.body["generationConfig"]
    assert list(config["responseJsonSchema"]["properties"]) == ["q1", "q2", "q3"]
    assert next(iter(config["thinkingConfig"].values())) == 0
    words = seen.body["contents"][0]["parts"][0]["text"]
    assert words.endswith('The caller\'s latest turn: "seven is fine"')


def test_an_answer_that_is_null_is_left_out(
    gemini: FakeGemini, agree: Question, pick: Question, call: Call
) -> None:
    gemini.says('{"q1": null, "q2": {"option": "none", "probability": 0.8}}')
    assert set(decide(gemini, [agree, pick], call)) == {"pick"}


def test_the_most_options_go_over_the_wire(gemini: FakeGemini, call: Call) -> None:
    options = {f"slot {number}": f"at {number}" for number in range(255)}
    spec = DecisionSpec(question="Which?", type="choice", options=options, none=True)
    gemini.says('{"q1": {"option": "slot 254", "probability": 0.8}}')
    found = decide(gemini, [Question.of("pick", spec)], call)
    assert found["pick"]["option"] == "slot 254"


def test_a_passing_fault_is_tried_once_more(
    gemini: FakeGemini, agree: Question, call: Call
) -> None:
    gemini.fails(503, "overloaded", name="UNAVAILABLE")
    gemini.says('{"q1": {"probability": 0.9}}')
    assert decide(gemini, [agree], call) == {"agree": {"probability": 0.9}}
    assert gemini.calls == 2


def test_a_lasting_fault_is_raised(gemini: FakeGemini, agree: Question, call: Call) -> None:
    for _ in range(2):
        gemini.fails(503, "overloaded", name="UNAVAILABLE")
    with pytest.raises(FlowLLMError):
        decide(gemini, [agree], call)
    assert gemini.calls == 2
