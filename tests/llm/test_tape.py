from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    ChatRequest,
    Extractor,
    ScriptedProvider,
    TapeMiss,
    TapeProvider,
    Usage,
    extract,
    text_response,
)
from flowengine.llm.tape import request_digest

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str


ADA = text_response('{"name": "Ada"}', Usage(input_tokens=3))


async def test_a_recorded_run_is_replayed_without_the_provider(
    tmp_path: Path, request_: ChatRequest
) -> None:
    path = tmp_path / "calls.tape"
    recorder = TapeProvider(path, record=ScriptedProvider(["bad", ADA]))
    first = await extract(recorder, request_, Person, retries=1)
    replayed = await extract(TapeProvider(path), request_, Person, retries=1)
    assert replayed.value == first.value
    assert replayed.response == first.response
    assert replayed.metadata.passes == 2


async def test_streams_are_recorded_and_replayed_too(tmp_path: Path, request_: ChatRequest) -> None:
    path = tmp_path / "calls.tape"
    recorder = TapeProvider(path, record=ScriptedProvider([ADA]))
    await Extractor().stream(recorder, request_, Person).finish()
    result = await Extractor().stream(TapeProvider(path), request_, Person).finish()
    assert result.value.name == "Ada"


async def test_a_miss_is_an_error_and_never_a_call(tmp_path: Path, request_: ChatRequest) -> None:
    path = tmp_path / "calls.tape"
    await extract(TapeProvider(path, record=ScriptedProvider([ADA])), request_, Person)
    with pytest.raises(TapeMiss, match="the request has changed") as caught:
        await extract(TapeProvider(path), request_.user("and more"), Person)
    assert "more" not in str(caught.value)


def test_a_missing_tape_says_so(tmp_path: Path) -> None:
    with pytest.raises(TapeMiss, match="there is no tape"):
        TapeProvider(tmp_path / "none.tape")


async def test_equal_requests_are_answered_in_recorded_order(
    tmp_path: Path, request_: ChatRequest
) -> None:
    path = tmp_path / "calls.tape"
    recorder = TapeProvider(path, record=ScriptedProvider(["one", "two"]))
    for _ in range(2):
        await recorder.chat(request_)
    tape = TapeProvider(path)
    assert [(await tape.chat(request_)).text for _ in range(3)] == ["one", "two", "two"]


async def test_the_words_sent_are_not_on_the_tape(tmp_path: Path, request_: ChatRequest) -> None:
    path = tmp_path / "calls.tape"
    await TapeProvider(path, record=ScriptedProvider(["ok"])).chat(request_)
    assert "London" not in path.read_text()


def test_the_digest_depends_on_content_alone(request_: ChatRequest) -> None:
    assert request_digest(request_) == request_digest(request_.model_copy())
    assert request_digest(request_) != request_digest(request_.user("x"))
