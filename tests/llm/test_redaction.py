"""Nothing a caller said, a model wrote or an account's key is ever printed, raised or logged.

Every fault of the loopback services, in every way of extracting, is looked through for words that
were put everywhere: in the conversation, in the answers, in the providers' errors and in the keys.
"""

from __future__ import annotations

import json
import logging
import traceback
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, Field

from flowengine.llm import (
    AskAgain,
    AuthFailed,
    Capability,
    ChatProvider,
    ChatRequest,
    ChatResponse,
    ExtractFailure,
    ExtractionMetadata,
    ExtractionMode,
    ExtractionStream,
    Extractor,
    GeminiProvider,
    GroundingPolicy,
    Hooks,
    Item,
    OpenAIProvider,
    ProviderError,
    RepairLevel,
    RetryingProvider,
    RetryPolicy,
    SlotDelta,
    Support,
    ToolCall,
    UsageLimits,
    ValidatorContext,
)
from flowengine.llm.collect import Collector
from flowengine.llm.gemini_wire import write_request
from flowengine.llm.judge import Accepted, Rejection
from flowengine.llm.modes import SUBMIT_TOOL
from flowengine.llm.reasons import Empty
from flowengine.llm.repair import Mended
from flowengine.llm.scripted import events_of
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

WORDS = "Zaphod Beeblebrox"
API_KEY = "sk-canary-42"
CANARIES = ("Zaphod", "Beeblebrox", "canary")


class Guest(BaseModel):
    name: str = Field(pattern="^Z")
    age: int = 0
    kinds: dict[str, int] = {}


def suspicious(value: Guest, context: ValidatorContext) -> None:
    raise AskAgain(f"{value.name} is not a guest")


def faulty_hook(argument: Any) -> None:
    raise RuntimeError(f"{WORDS}: {argument}")


GOOD = json.dumps({"name": WORDS, "age": 3, "kinds": {WORDS: 1}})
TEXTS = {
    "good": GOOD,
    "prose": f"I am {WORDS}",
    "fence": f"Here is {WORDS}:\n```json\n{GOOD}\n```",
    "mended": f"{{'name': '{WORDS}', 'kinds': {{'{WORDS}': +1,}},}}",
    "aligned": json.dumps({"NAME": WORDS, "age": "3"}),
    "type": json.dumps({"name": WORDS, "age": WORDS}),
    "pattern": json.dumps({"name": f"not {WORDS}", "kinds": {WORDS: WORDS}}),
    "undeclared": json.dumps({"name": WORDS, WORDS: WORDS}),
    "undeclared below": json.dumps({"name": WORDS, "kinds": {WORDS: {WORDS: 1}}}),
    "twice": f'{{"name": "{WORDS}", "name": "{WORDS}"}}',
    "cut": f'{{"name": "{WORDS}',
    "empty": " ",
    "surrogate": '{"name": "Zaphod \\ud800"}',
}
GEMINI_CALL = {"functionCall": {"name": SUBMIT_TOOL, "args": {"name": WORDS, WORDS: 1}}}
ODD = {
    "max tokens": answer({"text": GOOD}, finish="MAX_TOKENS", usage=usage_counts(thoughts=3)),
    "blocked": blocked(),
    "malformed": answer(finish="MALFORMED_FUNCTION_CALL"),
    "other tool": answer({"functionCall": {"name": "f", "args": {WORDS: WORDS}}}),
    "thought": answer({"text": WORDS, "thought": True}),
    "shape": {"candidates": [{"content": {"parts": [{"text": [WORDS]}]}, "finishReason": "STOP"}]},
}


def completion(finish: str = "stop", **message: Any) -> dict[str, Any]:
    """An answer of an OpenAI-compatible service, whole and as a chunk at once."""
    return {"choices": [{"message": message, "delta": message, "finish_reason": finish}]}


OPENAI_ARGUMENTS = json.dumps({"name": WORDS, WORDS: 1})
OPENAI_CALL = {"id": "c", "function": {"name": SUBMIT_TOOL, "arguments": OPENAI_ARGUMENTS}}
OPENAI_ODD = {
    "length": completion("length", content=GOOD),
    "filtered": completion("content_filter"),
    "refusal": completion(refusal=f"{WORDS} may not"),
    "cut call": completion("length", tool_calls=[{**OPENAI_CALL, "function": {"name": "f"}}]),
    "shape": completion(content=[WORDS], tool_calls=WORDS),
}

SAYS = f"Invalid value for {API_KEY}: {WORDS}"
ERRORS = {
    **{str(status): error_reply(status, SAYS) for status in (400, 401, 403, 404, 429, 500, 503)},
    "schema": error_reply(400, f"the schema of {WORDS} has too many states"),
    "thinking": error_reply(400, f"thinking of {WORDS} is not supported"),
    "too long": error_reply(400, f"input {WORDS} exceeds the context"),
    "retry info": error_reply(429, SAYS, "RESOURCE_EXHAUSTED", "0s"),
    "html 500": Reply(f"<html>{SAYS}</html>", 500),
    "html 200": Reply(f"<html>{SAYS}</html>", 200),
    "list": Reply(json.dumps([{"error": {"message": SAYS}}]), 400),
    "text": Reply(json.dumps(SAYS), 400),
    "drop": Reply(fault="drop"),
    "hang": Reply(fault="hang"),
}
BROKEN = {
    "half frame": Chunks([answer({"text": GOOD}, finish=None), f'data: {{"x": "{WORDS}']),
    "html frame": Chunks([f"<html>{WORDS}</html>"]),
    "odd frame": Chunks([answer({"text": {WORDS: WORDS}})]),
    "error frame": Chunks([answer({"text": GOOD}, finish=None), {"error": {"message": SAYS}}]),
    "no finish": Chunks([answer({"text": GOOD}, finish=None)]),
    "drop": Chunks([answer({"text": GOOD}, finish=None)], "drop"),
    "hang": Chunks([answer({"text": GOOD}, finish=None)], "hang"),
    "repetition": Chunks([answer({"text": f'{{"name": "{WORDS}' + "ha " * 400})]),
}


def request() -> ChatRequest:
    return ChatRequest(model="gemini-3.1-flash", system=f"Greet {WORDS}.").user(f"I am {WORDS}")


def extractors() -> Iterator[Extractor]:
    """From the strictest to the one in which everything is switched on."""
    yield Extractor(evidence=GroundingPolicy(on_ungrounded="reject"))
    yield Extractor(mode=ExtractionMode.FORCED_TOOL, retries=1, schema_ladder=False)
    yield Extractor(
        repair=RepairLevel.ALIGN,
        retries=2,
        context={"who": WORDS},
        validators=(suspicious,),
        on_exhausted="partial",
        limits=UsageLimits(max_passes=2),
        hooks=Hooks(on_response=faulty_hook, on_reject=faulty_hook, on_done=faulty_hook),
    )


class Ledger:
    """Everything that came into sight."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.shown: list[str] = []
        self.errors = 0
        self._caplog = caplog

    async def watch(self, extractor: Extractor, doing: Awaitable[Any]) -> None:
        with warnings.catch_warnings(record=True) as warned:
            try:
                found = await doing
            except (ExtractFailure, ProviderError) as error:
                self.errors += 1
                self._failed(error)
            else:
                self.shown += [repr(found), json.dumps(found.metadata.to_log())]
                self.shown += [repr(found.response), repr(found.evidence), *found.issues]
        self.shown += [str(warning.message) for warning in warned]
        self.shown.append(repr(extractor))

    def _failed(self, error: ExtractFailure | ProviderError) -> None:
        logging.getLogger("an.application").error("extraction failed: %s", error, exc_info=error)
        self.shown += [str(error), repr(error), *traceback.format_exception(error)]
        record = ExtractionMetadata.from_error(error)
        if isinstance(error, ExtractFailure):
            self.shown += [repr(error.error), repr(error.response), json.dumps(error.to_log())]
            record = error.metadata
        assert record is not None
        self.shown += [repr(record), json.dumps(record.to_log())]

    def leaks(self) -> list[str]:
        logged = [record.getMessage() for record in self._caplog.records]
        return [
            text
            for text in (*self.shown, *logged, self._caplog.text)
            if any(canary in text for canary in CANARIES)
        ]


@pytest.fixture
def ledger(caplog: pytest.LogCaptureFixture) -> Ledger:
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, logger="flowengine")
    return Ledger(caplog)


def patience(request: pytest.FixtureRequest) -> float:
    return 0.05 if "hang" in request.node.name else 5.0


@pytest.fixture
async def talking(
    gemini: FakeGemini, request: pytest.FixtureRequest
) -> AsyncIterator[ChatProvider]:
    provider = GeminiProvider(api_key=API_KEY, base_url=gemini.url, timeout_s=patience(request))
    yield RetryingProvider(provider, RetryPolicy(max_attempts=2, base=0.0))
    await provider.aclose()


@pytest.fixture
async def speaking(
    gemini: FakeGemini, request: pytest.FixtureRequest
) -> AsyncIterator[ChatProvider]:
    """The same loopback, spoken to in OpenAI's words."""
    gemini.strict = False
    everything = dict.fromkeys(Capability, Support.SUPPORTED)
    provider = OpenAIProvider(
        api_key=API_KEY,
        base_url=gemini.url,
        capabilities=everything,
        timeout_s=patience(request),
    )
    yield RetryingProvider(provider, RetryPolicy(max_attempts=2, base=0.0))
    await provider.aclose()


async def finished(stream: ExtractionStream[Any], ledger: Ledger) -> Any:
    async for event in stream:
        ledger.shown.append(repr(event))
    return await stream.finish()


async def every_way(
    ledger: Ledger, provider: ChatProvider, script: Callable[[bool], None], turn: int
) -> None:
    """Extract, update and stream, each with another extractor; which with which changes by turn."""
    first, second, third = (list(extractors()) * 2)[turn % 3 : turn % 3 + 3]
    known = {"name": WORDS, "kinds": {WORDS: 1}}
    script(False)
    await ledger.watch(first, first.extract(provider, request(), Guest))
    script(False)
    await ledger.watch(second, second.update(provider, request(), Guest, known))
    script(True)
    stream = third.stream(provider, request(), Guest)
    await ledger.watch(third, finished(stream, ledger))
    ledger.shown += [repr(stream), repr(provider), repr(request())]


def scripting(gemini: FakeGemini, *bodies: Any) -> Callable[[bool], None]:
    def script(streamed: bool) -> None:
        gemini.clear()
        gemini.script(*[Chunks([part]) if streamed else Reply(part) for part in bodies * 3])

    return script


@pytest.mark.parametrize(("turn", "name"), [*enumerate([*TEXTS, *ODD] * 2)])
async def test_an_answer_of_gemini_shows_in_nothing(
    turn: int, name: str, gemini: FakeGemini, talking: ChatProvider, ledger: Ledger
) -> None:
    body = ODD.get(name) or answer({"text": TEXTS[name]})
    await every_way(ledger, talking, scripting(gemini, body, answer(GEMINI_CALL)), turn)
    assert ledger.leaks() == []
    assert gemini.calls >= 3


@pytest.mark.parametrize(("turn", "name"), [*enumerate([*TEXTS, *OPENAI_ODD])])
async def test_an_answer_of_openai_shows_in_nothing(
    turn: int, name: str, gemini: FakeGemini, speaking: ChatProvider, ledger: Ledger
) -> None:
    body = OPENAI_ODD.get(name) or completion(content=TEXTS[name])
    called = completion("tool_calls", tool_calls=[OPENAI_CALL])
    await every_way(ledger, speaking, scripting(gemini, body, called), turn)
    assert ledger.leaks() == []
    assert gemini.calls >= 3


@pytest.mark.parametrize(("turn", "name"), [*enumerate(ERRORS)])
@pytest.mark.parametrize("service", ["talking", "speaking"])
async def test_an_error_of_the_service_shows_in_nothing(
    turn: int,
    name: str,
    service: str,
    gemini: FakeGemini,
    talking: ChatProvider,
    speaking: ChatProvider,
    ledger: Ledger,
) -> None:
    def script(streamed: bool) -> None:
        gemini.clear()
        gemini.script(*[ERRORS[name]] * 12)

    await every_way(ledger, talking if service == "talking" else speaking, script, turn)
    assert ledger.leaks() == []
    assert ledger.errors == 3


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("service", ["talking", "speaking"])
async def test_a_broken_stream_shows_in_nothing(
    name: str,
    service: str,
    gemini: FakeGemini,
    talking: ChatProvider,
    speaking: ChatProvider,
    ledger: Ledger,
) -> None:
    provider = talking if service == "talking" else speaking
    for extractor in extractors():
        gemini.clear()
        gemini.script(*[BROKEN[name]] * 12)
        await ledger.watch(extractor, extractor.stream(provider, request(), Guest).finish())
    assert ledger.leaks() == []
    assert ledger.errors == 3


async def parse(extractor: Extractor, text: str) -> Any:
    return extractor.parse(text, Guest)


@pytest.mark.parametrize("name", TEXTS)
async def test_a_parsed_text_shows_in_nothing(name: str, ledger: Ledger) -> None:
    for extractor in extractors():
        await ledger.watch(extractor, parse(extractor, TEXTS[name]))
    assert ledger.leaks() == []


@pytest.mark.parametrize(
    "carrier",
    [
        SlotDelta({"name": WORDS}, ("age",), Guest(name=WORDS)),
        Item(1, WORDS),
        Accepted(WORDS, {WORDS: WORDS}),
        Rejection(Empty(), WORDS),
        Mended(WORDS),
        Collector(_text=[WORDS]),
        ValidatorContext(attempt=1, last=True, values={WORDS: WORDS}),
        write_request(request()),
        *events_of(ChatResponse(text=WORDS, tool_calls=(ToolCall(name="f", arguments=WORDS),))),
    ],
    ids=lambda carrier: type(carrier).__name__,
)
def test_what_carries_words_does_not_print_them(carrier: object) -> None:
    assert not any(canary in repr(carrier) for canary in CANARIES)


def gemini_with(key: str, url: str) -> ChatProvider:
    return GeminiProvider(api_key=key, base_url=url)


def openai_with(key: str, url: str) -> ChatProvider:
    return OpenAIProvider(api_key=key, base_url=url)


@pytest.mark.parametrize("key", [f"{API_KEY} é", f"{API_KEY}\x00", f"{API_KEY}\n{API_KEY}", " "])
@pytest.mark.parametrize("make", [gemini_with, openai_with])
async def test_a_key_that_no_header_can_carry_is_refused_without_printing_it(
    key: str, make: Callable[[str, str], ChatProvider], gemini: FakeGemini, ledger: Ledger
) -> None:
    async def call() -> Any:
        return await Extractor().extract(make(key, gemini.url), request(), Guest)

    with pytest.raises(AuthFailed, match="no header can carry") as caught:
        await call()
    ledger.shown += [repr(caught.value), *traceback.format_exception(caught.value)]
    assert ledger.leaks() == []
    assert gemini.calls == 0


async def test_the_newline_at_the_end_of_a_key_file_is_no_part_of_the_key(
    gemini: FakeGemini, ledger: Ledger
) -> None:
    gemini.says(GOOD)
    provider = GeminiProvider(api_key=f"{API_KEY}\n", base_url=gemini.url)
    result = await Extractor().extract(provider, request(), Guest)
    assert result.value.name == WORDS
    await provider.aclose()
    assert ledger.leaks() == []
