"""Gemini through the real SDK, against the loopback Gemini."""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
import traceback
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from flowengine.llm import (
    AuthFailed,
    BadPayload,
    Capability,
    ChatRequest,
    ConnectionFailed,
    ContextTooLong,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    Extractor,
    GeminiProvider,
    InvalidRequest,
    ModelNotFound,
    ModelProfile,
    Overloaded,
    Partial,
    Prepared,
    ProviderError,
    RateLimited,
    Refusal,
    RetryingProvider,
    RetryPolicy,
    SchemaEnforcement,
    SchemaRejected,
    StreamBroken,
    Support,
    Timeout,
    ToolSpec,
    Usage,
    extract,
)
from flowengine.llm.messages import Message, ToolCall, ToolResult
from flowengine.llm.modes import SUBMIT_TOOL
from flowengine.testing.fake_gemini import (
    Chunks,
    FakeGemini,
    Reply,
    answer,
    blocked,
    error_reply,
    usage_counts,
)

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str
    age: int = 0


ADA = '{"name": "Ada", "age": 36}'


def code(error: ExtractFailure) -> Any:
    return error.to_log()["error"]


async def test_native_sends_the_json_schema_and_reads_text_and_usage(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.says(ADA, prompt=12, candidates=5, thoughts=7, cached=2)
    full = request_.model_copy(
        update={"system": "sys", "temperature": 0.0, "max_output_tokens": 100, "seed": 1}
    )
    result = await extract(provider, full, Person)
    assert result.value == Person(name="Ada", age=36)
    assert result.metadata.usage == Usage(
        input_tokens=12,
        output_tokens=12,
        total_tokens=24,
        cached_input_tokens=2,
        reasoning_tokens=7,
    )
    assert result.metadata.enforcement is SchemaEnforcement.ENFORCED
    assert (result.response.id, result.response.model) == ("r1", "fake-1")
    [seen] = gemini.requests
    config = seen.body["generationConfig"]
    assert seen.path.endswith("models/gemini-3.1-flash:generateContent")
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["required"] == ["name", "age"]
    assert "responseSchema" not in config
    assert (config["temperature"], config["maxOutputTokens"], config["seed"]) == (0.0, 100, 1)
    assert seen.body["systemInstruction"]["parts"] == [{"text": "sys"}]


async def test_a_forced_tool_is_declared_and_required_by_name(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.calls_tool(SUBMIT_TOOL, {"name": "Ada"})
    result = await extract(provider, request_, Person, mode=ExtractionMode.FORCED_TOOL)
    assert result.value.name == "Ada"
    body = gemini.requests[0].body
    [tool] = body["tools"][0]["functionDeclarations"]
    assert tool["name"] == SUBMIT_TOOL
    calling = body["toolConfig"]["functionCallingConfig"]
    assert calling == {"mode": "ANY", "allowedFunctionNames": [SUBMIT_TOOL]}
    assert "responseJsonSchema" not in body.get("generationConfig", {})


async def test_a_rejected_call_goes_back_with_its_id_and_thought_signature(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    call = {"functionCall": {"id": "c7", "name": SUBMIT_TOOL, "args": {}}}
    gemini.script(Reply(answer({**call, "thoughtSignature": "YWJj+/8="})))
    gemini.calls_tool(SUBMIT_TOOL, {"name": "Ada"})
    await extract(provider, request_, Person, mode=ExtractionMode.FORCED_TOOL, retries=1)
    _, model, user = gemini.requests[1].body["contents"]
    assert model["parts"][0]["thoughtSignature"] in ("YWJj-_8=", "YWJj+/8=")
    assert user["parts"][0]["functionResponse"]["id"] == "c7"
    assert "name" in user["parts"][0]["functionResponse"]["response"]["error"]


async def test_conversations_with_tools_are_written_in_full(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.says("done")
    request = ChatRequest(
        model="gemini-3.1-flash",
        messages=(
            Message(role="user", text="hi"),
            Message(role="model", tool_calls=(ToolCall(name="f", arguments='{"a": 1}', id="1"),)),
            Message(role="user", tool_results=(ToolResult(name="f", content="plain", id="1"),)),
        ),
        tools=(ToolSpec(name="f", parameters={"type": "object"}),),
        tool_choice="auto",
    )
    response = await provider.chat(request)
    assert response.text == "done"
    contents = gemini.requests[0].body["contents"]
    assert contents[1]["parts"][0]["functionCall"]["args"] == {"a": 1}
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"output": "plain"}


class Priced(BaseModel):
    code: str = Field(pattern="^[A-Z]$")
    kind: Literal["a", "b"] = "a"
    prices: dict[str, int] = {}


async def test_lost_keywords_lower_enforcement_by_name_and_are_still_checked(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.says('{"code": "abc"}')
    with pytest.raises(ExtractFailure, match="code") as caught:
        await extract(provider, request_, Priced)
    record = caught.value.metadata
    assert record.enforcement is SchemaEnforcement.PARTIAL
    assert [(w.code, w.path) for w in record.degradations] == [("schema.dropped.pattern", "code")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (answer({"text": f"```json\n{ADA}\n```"}), "parse"),
        (answer({"text": '{"name": 3}'}), "validation"),
        (answer({"text": '{"name": "Ad'}), "truncated"),
        (answer({"text": '{"name": "Ad'}, finish="MAX_TOKENS"), "truncated"),
        (answer(finish="MAX_TOKENS", usage=usage_counts(thoughts=99)), "truncated"),
        (answer({"text": "thinking", "thought": True}), "missing_text"),
        (answer({"functionCall": {"name": "f", "args": {}}}), "missing_text"),
        (blocked(), "blocked"),
        (answer(finish="RECITATION"), "blocked"),
        (answer(finish="MALFORMED_FUNCTION_CALL"), "malformed_call"),
        (answer({"text": "{}"}, finish="SOMETHING_NEW"), "validation"),
        ({}, "missing_text"),
        ({"candidates": [None], "unknownTopLevel": 1}, "missing_text"),
    ],
)
async def test_every_odd_answer_is_a_typed_failure(
    gemini: FakeGemini,
    provider: GeminiProvider,
    request_: ChatRequest,
    body: dict[str, Any],
    expected: str,
) -> None:
    gemini.script(Reply(body))
    with pytest.raises(ExtractFailure) as caught:
        await extract(provider, request_, Person)
    assert code(caught.value) == expected
    assert caught.value.metadata.passes == 1


async def test_thoughts_are_no_part_of_the_text(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.script(Reply(answer({"text": "hm", "thought": True}, {"text": ADA})))
    assert (await extract(provider, request_, Person)).value.age == 36


async def test_a_missing_usage_stays_none(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.says(ADA)
    assert (await extract(provider, request_, Person)).metadata.usage is None


@pytest.mark.parametrize(
    ("reply", "kind", "retryable"),
    [
        (error_reply(401, "no"), AuthFailed, False),
        (error_reply(403, "no"), AuthFailed, False),
        (error_reply(400, "API key not valid. Please pass a valid API key."), AuthFailed, False),
        (error_reply(404, "models/x is not found"), ModelNotFound, False),
        (error_reply(429, "slow", "RESOURCE_EXHAUSTED"), RateLimited, True),
        (error_reply(503, "overloaded", "UNAVAILABLE"), Overloaded, True),
        (error_reply(500, "oops", "INTERNAL"), ProviderError, True),
        (error_reply(504, "late", "DEADLINE_EXCEEDED"), Timeout, True),
        (error_reply(400, "temperature must be lower"), InvalidRequest, False),
        (error_reply(400, "input token count exceeds the maximum"), ContextTooLong, False),
        (Reply("<html>busy</html>", 502), Overloaded, True),
        (Reply("<html>fine</html>", 200), BadPayload, True),
        (Reply("", 304), ProviderError, False),
        (Reply('[{"error": {"code": 429, "message": "slow"}}]', 429), RateLimited, True),
        (Reply({"error": {"message": [3], "status": {}}}, 429), RateLimited, True),
        (Reply('"just a text"', 500), ProviderError, True),
        (Reply(fault="drop"), ConnectionFailed, True),
    ],
)
async def test_every_failure_has_its_class_and_makes_exactly_one_request(
    gemini: FakeGemini,
    provider: GeminiProvider,
    request_: ChatRequest,
    reply: Reply,
    kind: type[ProviderError],
    retryable: bool,
) -> None:
    gemini.script(reply)
    with pytest.raises(ProviderError) as caught:
        await extract(provider, request_, Person)
    assert type(caught.value) is kind
    assert caught.value.retryable is retryable
    record = ExtractionMetadata.from_error(caught.value)
    assert record is not None
    assert (record.passes, record.calls, gemini.calls) == (0, 1, 1)


async def test_a_schema_complaint_climbs_the_ladder(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    class Bounded(BaseModel):
        age: int = Field(ge=0, le=150)

    complaint = "The specified schema produces a constraint that has too many states for serving."
    gemini.fails(400, complaint, name="INVALID_ARGUMENT")
    gemini.says('{"age": 3}')
    result = await extract(provider, request_, Bounded)
    assert (result.metadata.schema_level, result.metadata.calls, gemini.calls) == (1, 2, 2)
    gemini.fails(400, complaint)
    with pytest.raises(SchemaRejected) as caught:
        await extract(provider, request_, Bounded, schema_ladder=False)
    assert caught.value.message == complaint


@pytest.mark.parametrize(
    ("delay", "headers", "seconds"),
    [
        ("3s", {}, 3.0),
        ("1.5s", {"retry-after": "9"}, 1.5),
        (None, {"retry-after": "7"}, 7.0),
        (None, {}, None),
    ],
)
async def test_the_wait_is_read_from_the_body_or_the_header(
    gemini: FakeGemini,
    provider: GeminiProvider,
    request_: ChatRequest,
    delay: str | None,
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    gemini.fails(429, "slow", name="RESOURCE_EXHAUSTED", retry_delay=delay, headers=headers)
    with pytest.raises(RateLimited) as caught:
        await extract(provider, request_, Person)
    assert caught.value.retry_after == seconds


async def test_a_hanging_call_times_out(
    gemini: FakeGemini, hurried: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.script(Reply(fault="hang"))
    with pytest.raises(Timeout):
        await extract(hurried, request_, Person)


async def test_a_refused_connection_is_told_apart(request_: ChatRequest) -> None:
    nowhere = GeminiProvider(api_key="k", base_url="http://127.0.0.1:9", timeout_s=2)
    with pytest.raises(ConnectionFailed, match="check the network"):
        await extract(nowhere, request_, Person)
    await nowhere.aclose()


async def test_a_retrying_wrapper_owns_all_retries(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.script(Reply(fault="drop"), error_reply(503, "busy"))
    gemini.says(ADA)
    patient = RetryingProvider(provider, RetryPolicy(base=0.0))
    result = await extract(patient, request_, Person)
    assert (result.metadata.passes, result.metadata.calls, gemini.calls) == (1, 3, 3)


async def test_no_key_caller_text_or_body_reaches_a_traceback_or_a_log(
    gemini: FakeGemini, provider: GeminiProvider, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "Zaphod Beeblebrox"
    caplog.set_level("DEBUG")
    gemini.fails(400, f"Invalid value: {secret}", name="INVALID_ARGUMENT")
    request = ChatRequest(model="gemini-3.1-flash").user(secret)
    with pytest.raises(InvalidRequest) as caught:
        await extract(provider, request, Person)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    shown += repr(provider) + repr(request)
    assert secret not in shown
    assert "key-that-must-not-leak" not in shown
    assert caught.value.message == f"Invalid value: {secret}"
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    assert type(caught.value.__cause__).__name__ == "ClientError"


def test_a_profile_of_ones_own_overrides_what_is_known() -> None:
    native = Capability.STRUCTURED_OUTPUT
    assert GeminiProvider().capability("gemma-3", native) is Support.UNSUPPORTED
    mine = GeminiProvider(profile=ModelProfile(structured_output=True))
    assert mine.capability("gemma-3", native) is Support.SUPPORTED


async def test_a_missing_key_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, request_: ChatRequest
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(AuthFailed, match="GEMINI_API_KEY"):
        await extract(GeminiProvider(), request_, Person)


class TestStreaming:
    async def test_text_arrives_piece_by_piece_and_usage_is_the_last_snapshot(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.streams('{"na', 'me": "A', 'da"}')
        stream = Extractor().stream(provider, request_, Person)
        names = [e.data.get("name") async for e in stream if isinstance(e, Partial)]
        assert names == [None, "A", "Ada"]
        result = await stream.finish()
        assert result.metadata.usage == Usage(input_tokens=10, output_tokens=3, total_tokens=13)
        assert result.metadata.incremental is True
        assert gemini.requests[0].path.endswith(":streamGenerateContent?alt=sse")

    async def test_the_result_equals_that_of_a_plain_call(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        body = answer({"text": ADA}, usage=usage_counts(prompt=3, candidates=4))
        gemini.script(Reply(body), Chunks([body]))
        plain = await extract(provider, request_, Person)
        streamed = await Extractor().stream(provider, request_, Person).finish()
        assert streamed.value == plain.value
        assert streamed.response == plain.response.model_copy(update={"raw": None})
        assert streamed.metadata.usage == plain.metadata.usage

    async def test_a_tool_call_arrives_whole(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        part = {"functionCall": {"name": SUBMIT_TOOL, "args": {"name": "Ada"}}}
        gemini.script(Chunks([answer(part)]))
        extractor = Extractor(mode=ExtractionMode.FORCED_TOOL)
        result = await extractor.stream(provider, request_, Person).finish()
        assert result.metadata.incremental is False

    @pytest.mark.parametrize("fault", ["drop", "hang"])
    async def test_a_stream_that_breaks_is_no_pass_and_keeps_its_usage(
        self,
        gemini: FakeGemini,
        hurried: GeminiProvider,
        request_: ChatRequest,
        fault: Literal["drop", "hang"],
    ) -> None:
        gemini.streams('{"name": "A', fault=fault)
        with pytest.raises(StreamBroken if fault == "drop" else Timeout) as caught:
            await Extractor().stream(hurried, request_, Person).finish()
        record = ExtractionMetadata.from_error(caught.value)
        assert record is not None
        assert (record.passes, record.calls, gemini.calls) == (0, 1, 1)
        assert record.usage == Usage(input_tokens=10, output_tokens=1, total_tokens=11)

    async def test_an_error_before_the_first_chunk_is_the_plain_error(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.fails(429, "slow", retry_delay="2s")
        with pytest.raises(RateLimited) as caught:
            await Extractor().stream(provider, request_, Person).finish()
        assert caught.value.retry_after == 2.0

    async def test_an_error_frame_in_the_middle_is_raised(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        frame = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}
        gemini.script(Chunks([answer({"text": '{"na'}, finish=None), frame]))
        with pytest.raises(Overloaded):
            await Extractor().stream(provider, request_, Person).finish()

    async def test_a_stream_without_a_finish_is_broken(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.script(Chunks([answer({"text": ADA}, finish=None)]))
        with pytest.raises(StreamBroken):
            await Extractor().stream(provider, request_, Person).finish()

    @pytest.mark.parametrize(
        "chunk",
        [
            "<html>Zaphod</html>",
            'data: {"candidates": [{"content": {"parts": [{"text": "Zaphod\r\n\r\n',
            "data: [1, 2]\r\n\r\n",
            answer({"text": ["Zaphod"]}),
            answer({"text": "Zaphod"}, finish=3),  # pyright: ignore[reportArgumentType]
            {"candidates": "Zaphod"},
        ],
        ids=["html", "half", "list", "part", "finish", "candidates"],
    )
    async def test_a_chunk_that_cannot_be_read_is_a_typed_error_that_quotes_nobody(
        self,
        gemini: FakeGemini,
        provider: GeminiProvider,
        request_: ChatRequest,
        chunk: dict[str, Any] | str,
    ) -> None:
        gemini.script(Chunks([chunk]))
        with pytest.raises((BadPayload, StreamBroken)) as caught:
            await Extractor().stream(provider, request_, Person).finish()
        assert "Zaphod" not in "".join(traceback.format_exception(caught.value))
        assert ExtractionMetadata.from_error(caught.value) is not None

    async def test_events_may_end_in_a_bare_newline(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.script(Chunks([f"data: {json.dumps(answer({'text': ADA}))}\n\n"]))
        assert (await Extractor().stream(provider, request_, Person).finish()).value.age == 36

    async def test_an_unknown_finish_reason_warns_nobody(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.script(Chunks([answer({"text": ADA}, finish="SOMETHING_NEW")]))
        result = await Extractor().stream(provider, request_, Person).finish()
        assert result.response.finish_reason == "something_new"


class TestThinking:
    @staticmethod
    def sent(gemini: FakeGemini) -> list[Any]:
        configs = [seen.body.get("generationConfig", {}) for seen in gemini.requests]
        return [config.get("thinkingConfig") for config in configs]

    async def test_none_is_asked_for_first_then_a_little_then_nothing_is_said(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.fails(400, "Thinking budget 0 is invalid for this model.")
        gemini.fails(400, "Thinking can't be limited for this model.")
        gemini.says(ADA)
        gemini.says(ADA)
        result = await extract(provider, request_, Person)
        assert self.sent(gemini) == [{"thinking_budget": 0}, {"thinking_budget": 64}, None]
        assert (result.metadata.passes, result.metadata.calls) == (1, 3)
        assert [w.code for w in result.response.warnings] == ["thinking.dropped"]
        assert result.metadata.enforcement is SchemaEnforcement.ENFORCED
        again = await extract(provider, request_, Person)
        assert again.metadata.calls == 1
        assert self.sent(gemini)[-1] is None

    async def test_a_stream_climbs_the_same_ladder(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.fails(400, "Thinking budget 0 is invalid for this model.")
        gemini.streams(ADA)
        result = await Extractor().stream(provider, request_, Person).finish()
        assert result.metadata.calls == 2

    async def test_another_models_lesson_is_its_own(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.fails(400, "Thinking budget 0 is invalid for this model.")
        gemini.says(ADA)
        gemini.says(ADA)
        await extract(provider, request_, Person)
        await extract(provider, request_.model_copy(update={"model": "gemini-4"}), Person)
        assert self.sent(gemini)[-1] == {"thinking_budget": 0}

    async def test_a_configured_budget_that_is_rejected_is_dropped(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.fails(400, "The thinking budget 999 is out of range.")
        gemini.says(ADA)
        await extract(provider, request_.model_copy(update={"thinking": 999}), Person)
        assert self.sent(gemini) == [{"thinking_budget": 999}, None]

    async def test_none_leaves_the_models_default(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.says(ADA)
        await extract(provider, request_.model_copy(update={"thinking": None}), Person)
        assert self.sent(gemini) == [None]

    async def test_a_level_becomes_a_budget_on_a_budget_model(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.says(ADA)
        update = {"thinking": "low", "model": "gemini-2.5-flash"}
        await extract(provider, request_.model_copy(update=update), Person)
        assert self.sent(gemini) == [{"thinking_budget": 1024}]

    async def test_a_model_that_cannot_stop_thinking_is_asked_for_its_least(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.says(ADA)
        await extract(provider, request_.model_copy(update={"model": "gemini-2.5-pro"}), Person)
        assert self.sent(gemini) == [{"thinking_budget": 128}]

    async def test_a_400_without_a_word_may_be_about_thinking_or_else_about_the_schema(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        class Bounded(BaseModel):
            age: int = Field(ge=0)

        bare = "Request contains an invalid argument."
        gemini.fails(400, bare)
        gemini.says('{"age": 1}')
        first = await extract(provider, request_, Bounded)
        assert (first.metadata.calls, first.metadata.schema_level) == (2, 0)
        other = GeminiProvider(api_key="k", base_url=gemini.url)
        for _ in range(3):
            gemini.fails(400, bare)
        gemini.says('{"age": 1}')
        second = await extract(other, request_, Bounded)
        assert (second.metadata.calls, second.metadata.schema_level) == (4, 1)
        assert self.sent(gemini)[-1] == {"thinking_budget": 0}
        await other.aclose()

    async def test_any_other_400_does_not_climb(
        self, gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
    ) -> None:
        gemini.fails(400, "temperature is out of range")
        with pytest.raises(InvalidRequest):
            await extract(provider, request_, Person)
        assert gemini.calls == 1


async def test_a_refusal_before_sending_leaves_the_server_untouched(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    class Picky(GeminiProvider):
        def prepare(self, request: ChatRequest) -> Prepared:
            if request.response_format:
                raise Refusal("schema.native", "not as a response format")
            return super().prepare(request)

    picky = Picky(api_key="k", base_url=gemini.url)
    with pytest.raises(ExtractFailure, match=r"schema\.native"):
        await extract(picky, request_, Person, mode=ExtractionMode.NATIVE)
    assert gemini.calls == 0
    gemini.calls_tool(SUBMIT_TOOL, {"name": "Ada"})
    result = await extract(picky, request_, Person)
    assert result.metadata.auto_fallback is not None
    assert (result.metadata.passes, result.metadata.calls, gemini.calls) == (1, 1, 1)
    assert "responseJsonSchema" not in gemini.requests[0].body.get("generationConfig", {})
    await picky.aclose()


async def test_a_request_without_a_message_is_refused_before_sending(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    with pytest.raises(Refusal, match="at least one message"):
        await provider.chat(ChatRequest(model="gemini-3.1-flash"))
    assert gemini.calls == 0


async def test_a_conversation_with_tools_is_extracted_from_on_a_copy_without_them(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    asked = ToolCall(name="look_up", arguments='{"who": "Ada"}', id="1")
    answered = ToolResult(name="look_up", content='{"age": 36}', id="1")
    request = ChatRequest(
        model="gemini-3.1-flash",
        messages=(
            Message(role="user", text="How old is Ada?"),
            Message(role="model", tool_calls=(asked,)),
            Message(role="user", tool_results=(answered,)),
            Message(role="model", text="36."),
        ),
        tools=(ToolSpec(name="look_up", parameters={"type": "object"}),),
        tool_choice="auto",
    )
    with pytest.raises(ExtractFailure, match="clear tools and tool_choice on a copy"):
        await extract(provider, request, Person)
    gemini.says(ADA)
    bare = request.model_copy(update={"tools": (), "tool_choice": None})
    result = await extract(provider, bare, Person)
    assert (result.value.age, gemini.calls) == (36, 1)
    contents = gemini.requests[0].body["contents"]
    assert contents[1]["parts"][0]["functionCall"]["args"] == {"who": "Ada"}
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"age": 36}
    assert contents[-1]["role"] == "user"


async def test_several_parts_of_text_are_one_text(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.script(
        Reply(answer({"text": ADA[:9]}, {"text": "hm", "thought": True}, {"text": ADA[9:]}))
    )
    assert (await extract(provider, request_, Person)).value == Person(name="Ada", age=36)


async def test_an_answer_that_could_be_continued_is_not_asked_for_more_unseen(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    body = answer({"text": '{"name": "Ad'}, finish="CONTINUATION")
    body["candidates"][0]["continuationToken"] = "more"
    gemini.script(Reply(body), Chunks([body]))
    with pytest.raises(ExtractFailure, match="cut off"):
        await extract(provider, request_, Person)
    with pytest.raises(ExtractFailure, match="cut off"):
        await Extractor().stream(provider, request_, Person).finish()
    assert gemini.calls == 2


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_cancelled_call_ends_at_once_with_its_record_and_leaves_no_task(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest, streamed: bool
) -> None:
    started = answer({"text": '{"na'}, finish=None, usage=usage_counts(prompt=9))
    gemini.script(Chunks([started], "hang") if streamed else Reply(fault="hang"))
    begun = asyncio.Event()

    async def extraction() -> None:
        if not streamed:
            begun.set()
            await extract(provider, request_, Person)
        async with Extractor().stream(provider, request_, Person) as stream:
            async for _ in stream:
                begun.set()

    before = asyncio.all_tasks()
    task = asyncio.create_task(extraction())
    await begun.wait()
    while not gemini.calls:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    record = ExtractionMetadata.from_error(caught.value)
    assert record is not None
    assert (record.passes, record.calls) == (0, 1)
    assert [attempt.error_code for attempt in record.attempts] == ["cancelled"]
    assert record.usage == (Usage(input_tokens=9, total_tokens=9) if streamed else None)
    assert asyncio.all_tasks() == before
    gemini.says(ADA)
    assert (await extract(provider, request_, Person)).value.name == "Ada"


async def test_many_extractions_share_one_extractor_and_one_client(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    extractor = Extractor(repair=True, retries=1)
    names = {f"caller {n}" for n in range(60)}
    for name in names:
        gemini.says(json.dumps({"name": name}), prompt=1)
    found = await asyncio.gather(*(extractor.extract(provider, request_, Person) for _ in names))
    assert {result.value.name for result in found} == names
    assert {result.metadata.calls for result in found} == {1}
    assert {result.metadata.usage for result in found} == {Usage(input_tokens=1, total_tokens=1)}


def test_a_key_of_the_environment_is_looked_at_like_a_given_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "good")
    monkeypatch.setenv("GOOGLE_API_KEY", "bad key")
    with pytest.raises(AuthFailed, match="no header can carry"):
        asyncio.run(GeminiProvider().chat(ChatRequest(model="m").user("hi")))


def test_importing_the_package_imports_no_sdk() -> None:
    probe = "import sys, flowengine.llm; sys.exit('google.genai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


async def test_the_client_stays_off_aiohttp_even_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
    gemini: FakeGemini,
    provider: GeminiProvider,
    request_: ChatRequest,
) -> None:
    # Where it is not installed, an SDK that took to it would fail in another way.
    api_client = importlib.import_module("google.genai._api_client")
    monkeypatch.setattr(api_client, "has_aiohttp", True)
    gemini.script(Reply(fault="drop"), Reply(fault="drop"))
    with pytest.raises(ConnectionFailed):
        await extract(provider, request_, Person)
    assert gemini.calls == 1
    with pytest.raises(ConnectionFailed):
        await Extractor().stream(provider, request_, Person).finish()
    assert gemini.calls == 2


async def test_bodies_are_plain_json(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    gemini.says(ADA)
    await provider.chat(request_)
    assert json.loads(json.dumps(gemini.requests[0].body)) == gemini.requests[0].body
    await provider.aclose()
