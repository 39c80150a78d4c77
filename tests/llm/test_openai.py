"""Any service that speaks OpenAI's chat completions, against a loopback one."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
    ExtractionMode,
    Extractor,
    ModelNotFound,
    OpenAIProvider,
    Overloaded,
    ProviderError,
    RateLimited,
    SchemaEnforcement,
    StreamBroken,
    Support,
    Usage,
    extract,
)
from flowengine.llm.modes import SUBMIT_TOOL

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str
    age: int = Field(default=0, ge=0)


class Mapped(BaseModel):
    counts: dict[str, int]


class Loopback(ThreadingHTTPServer):
    """Answers from a script of (status, headers, text) and keeps the bodies it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: deque[tuple[int, dict[str, str], str]] = deque()
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []

    def says(self, body: Any, status: int = 200, **headers: str) -> None:
        self.script.append((status, headers, body if isinstance(body, str) else json.dumps(body)))


class Handler(BaseHTTPRequestHandler):
    server: Loopback  # pyright: ignore

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.answer()

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.server.bodies.append(json.loads(self.rfile.read(length)))
        self.answer()

    def answer(self) -> None:
        self.server.keys.append(self.headers.get("authorization"))
        status, headers, text = self.server.script.popleft()
        if status == 0:
            self.connection.close()
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        thread = threading.Thread(target=loopback.serve_forever, args=(0.01,))
        thread.start()
        yield loopback
        loopback.shutdown()
        thread.join()


@pytest.fixture
async def openai(server: Loopback) -> AsyncIterator[OpenAIProvider]:
    talking = OpenAIProvider(
        base_url=f"http://127.0.0.1:{server.server_address[1]}/v1",
        api_key="key-that-must-not-leak",
        capabilities={Capability.STRUCTURED_OUTPUT: Support.SUPPORTED},
        timeout_s=2,
    )
    yield talking
    await talking.aclose()


def completion(content: str | None = None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    told = {"role": "assistant", "content": content, **message}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    choice = {"index": 0, "message": told, "finish_reason": finish}
    return {"id": "r1", "model": "m-1", "choices": [choice], "usage": usage}


def frames(*bodies: dict[str, Any], done: bool = True) -> str:
    lines = [f"data: {json.dumps(body)}\n\n" for body in bodies]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""])


def delta(finish: str | None = None, **told: Any) -> dict[str, Any]:
    return {"id": "r1", "model": "m-1", "choices": [{"delta": told, "finish_reason": finish}]}


ADA = '{"name": "Ada", "age": 36}'


async def test_native_sends_a_strict_schema(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    server.says(completion(ADA))
    result = await extract(openai, request_, Person)
    assert result.value == Person(name="Ada", age=36)
    assert result.metadata.usage == Usage(input_tokens=3, output_tokens=2, total_tokens=5)
    assert result.metadata.enforcement is SchemaEnforcement.ENFORCED
    told = server.bodies[0]["response_format"]["json_schema"]
    assert (told["name"], told["strict"]) == ("person", True)
    assert told["schema"]["required"] == ["name", "age"]
    assert server.keys == ["Bearer key-that-must-not-leak"]


async def test_a_thinking_level_is_sent_and_a_budget_is_a_warning(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    for thinking in ("low", 512):
        server.says(completion(ADA))
        asked = request_.model_copy(update={"thinking": thinking})
        result = await extract(openai, asked, Person)
    assert server.bodies[0]["reasoning_effort"] == "low"
    assert "reasoning_effort" not in server.bodies[1]
    assert [w.code for w in result.response.warnings] == ["thinking.dropped"]


async def test_a_map_cannot_be_strict_and_says_so(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    server.says(completion('{"counts": {"a": 1}}'))
    result = await extract(openai, request_, Mapped)
    assert server.bodies[0]["response_format"]["json_schema"]["strict"] is False
    assert result.metadata.enforcement is SchemaEnforcement.NOT_ENFORCED
    assert [w.code for w in result.metadata.degradations] == ["schema.not_strict"]


async def test_a_forced_tool_and_its_re_ask(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    def calling(arguments: str) -> dict[str, Any]:
        function = {"name": SUBMIT_TOOL, "arguments": arguments}
        calls = [{"id": "c1", "type": "function", "function": function}]
        return completion(finish="tool_calls", tool_calls=calls)

    server.says(calling("{}"))
    server.says(calling(ADA))
    result = await extract(openai, request_, Person, mode=ExtractionMode.FORCED_TOOL, retries=1)
    assert result.value.age == 36
    assert server.bodies[0]["tool_choice"]["function"]["name"] == SUBMIT_TOOL
    _, asked, answered = server.bodies[1]["messages"]
    assert asked["tool_calls"][0]["function"]["arguments"] == "{}"
    assert (answered["role"], answered["tool_call_id"]) == ("tool", "c1")


async def test_a_refusal_of_the_model_is_blocked(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    server.says(completion(None, refusal="I cannot"))
    with pytest.raises(ExtractFailure, match=r"blocked the answer \(refusal\)"):
        await extract(openai, request_, Person)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "no"}}, AuthFailed),
        (429, {"error": {"message": "slow", "code": "rate_limit_exceeded"}}, RateLimited),
        (503, "<html>", Overloaded),
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, ContextTooLong),
        (200, "<html>", BadPayload),
        (0, "", ConnectionFailed),
    ],
)
async def test_failures_have_their_classes(
    server: Loopback,
    openai: OpenAIProvider,
    request_: ChatRequest,
    status: int,
    body: Any,
    kind: type[ProviderError],
) -> None:
    server.says(body, status, retry_after="4")
    with pytest.raises(ProviderError) as caught:
        await extract(openai, request_, Person)
    assert type(caught.value) is kind
    assert len(server.bodies) == 1
    assert "key-that-must-not-leak" not in repr(caught.value) + str(caught.value)
    if kind is RateLimited:
        assert caught.value.retry_after == 4.0


async def test_text_and_calls_stream(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3}}
    server.says(frames(delta(content='{"name": '), delta(content='"Ada"}'), delta("stop"), usage))
    result = await Extractor().stream(openai, request_, Person).finish()
    assert result.value.name == "Ada"
    assert result.metadata.usage == Usage(input_tokens=3)
    assert result.metadata.incremental is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}
    part = {"index": 0, "id": "c", "function": {"name": SUBMIT_TOOL, "arguments": '{"name": '}}
    rest = {"index": 0, "function": {"arguments": '"Bob"}'}}
    server.says(frames(delta(tool_calls=[part]), delta(tool_calls=[rest]), delta("tool_calls")))
    extractor = Extractor(mode=ExtractionMode.FORCED_TOOL)
    assert (await extractor.stream(openai, request_, Person).finish()).value.name == "Bob"


async def test_a_stream_that_ends_early_or_in_an_error_frame_is_no_pass(
    server: Loopback, openai: OpenAIProvider, request_: ChatRequest
) -> None:
    server.says(frames(delta(content='{"na'), done=False))
    with pytest.raises(StreamBroken):
        await Extractor().stream(openai, request_, Person).finish()
    server.says(frames(delta(content="{"), {"error": {"message": "x", "code": "server_error"}}))
    with pytest.raises(ProviderError):
        await Extractor().stream(openai, request_, Person).finish()
    server.says({"error": {"message": "slow"}}, 429)
    with pytest.raises(RateLimited):
        await Extractor().stream(openai, request_, Person).finish()


def test_nothing_is_assumed_of_a_service_that_is_not_openais() -> None:
    local = OpenAIProvider(base_url="http://127.0.0.1:1/v1")
    assert local.capability("m", Capability.STRUCTURED_OUTPUT) is Support.UNKNOWN
    assert OpenAIProvider().capability("m", Capability.STREAMING) is Support.SUPPORTED


class TestMakingReady:
    async def test_the_service_is_asked_for_the_model_by_name(
        self, server: Loopback, openai: OpenAIProvider
    ) -> None:
        server.says({"id": "org/m-1"})
        await openai.warm("org/m-1")
        assert server.paths == ["/v1/models/org%2Fm-1"]
        assert (server.keys, server.bodies) == (["Bearer key-that-must-not-leak"], [])

    @pytest.mark.parametrize(
        "fault",
        [
            {"message": "The model does not exist", "code": "model_not_found"},
            {"message": 'model "m-1" not found', "type": "not_found_error"},
        ],
    )
    async def test_a_model_that_does_not_exist_is_told(
        self, server: Loopback, openai: OpenAIProvider, fault: dict[str, str]
    ) -> None:
        server.says({"error": fault}, 404)
        with pytest.raises(ModelNotFound):
            await openai.warm("m-1")

    @pytest.mark.parametrize(
        ("status", "body"),
        [(404, {"detail": "Not Found"}), (404, "<html>"), (405, {"error": {"message": "no GET"}})],
    )
    async def test_a_service_that_cannot_tell_is_taken_for_good(
        self, server: Loopback, openai: OpenAIProvider, status: int, body: Any
    ) -> None:
        server.says(body, status)
        await openai.warm("m-1")
        assert server.paths == ["/v1/models/m-1"]

    async def test_a_wrong_key_is_told_and_not_shown(
        self, server: Loopback, openai: OpenAIProvider
    ) -> None:
        server.says({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, 401)
        with pytest.raises(AuthFailed, match="check the API key") as caught:
            await openai.warm("m-1")
        assert "must-not-leak" not in repr(caught.value)

    async def test_a_connection_that_breaks_is_told(
        self, server: Loopback, openai: OpenAIProvider
    ) -> None:
        server.says("", 0)
        with pytest.raises(ConnectionFailed):
            await openai.warm("m-1")
