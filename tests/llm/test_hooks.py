from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import BaseModel

from flowengine.llm import (
    ChatRequest,
    ExtractFailure,
    ExtractionMetadata,
    Extractor,
    Hooks,
    RateLimited,
    Refusal,
    ScriptedProvider,
    ValidatorContext,
    extract,
)

pytestmark = pytest.mark.anyio


class Person(BaseModel):
    name: str


ADA = '{"name": "Ada"}'


class Log:
    """Hooks that note their name; half of them async."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.hooks = Hooks(
            on_request=self._plain("request"),
            on_response=self._later("response"),
            on_reject=self._plain("reject"),
            on_repair=self._later("repair"),
            on_fallback=self._plain("fallback"),
            on_done=self._later("done"),
        )

    def _plain(self, name: str) -> Any:
        return lambda _: self.names.append(name)

    def _later(self, name: str) -> Any:
        async def hook(_: Any) -> None:
            self.names.append(name)

        return hook


async def test_they_are_called_in_order(request_: ChatRequest) -> None:
    log = Log()
    provider = ScriptedProvider(["bad", f"so: {ADA}"])
    await extract(provider, request_, Person, retries=1, repair=True, hooks=log.hooks)
    assert log.names == ["request", "response", "reject", "request", "response", "repair", "done"]


async def test_a_stream_calls_them_the_same_way(request_: ChatRequest) -> None:
    log = Log()
    provider = ScriptedProvider(["bad", ADA])
    await Extractor(retries=1, hooks=log.hooks).stream(provider, request_, Person).finish()
    assert log.names == ["request", "response", "reject", "request", "response", "done"]


async def test_done_runs_on_every_way_out(request_: ChatRequest) -> None:
    failed, refused, broken = Log(), Log(), Log()
    with pytest.raises(ExtractFailure):
        await extract(ScriptedProvider(["bad"]), request_, Person, hooks=failed.hooks)
    provider = ScriptedProvider([], refuse=lambda _: Refusal("no", "no"))
    with pytest.raises(ExtractFailure):
        await extract(provider, request_, Person, hooks=refused.hooks)
    with pytest.raises(RateLimited):
        await extract(ScriptedProvider([RateLimited()]), request_, Person, hooks=broken.hooks)
    assert failed.names == ["request", "response", "reject", "done"]
    assert refused.names == ["fallback", "done"]
    assert broken.names == ["request", "done"]


async def test_a_faulty_hook_is_logged_by_type_and_breaks_nothing(
    request_: ChatRequest, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(_: Any) -> None:
        raise RuntimeError("Ada's secret")

    with caplog.at_level(logging.WARNING):
        result = await extract(
            ScriptedProvider([ADA]), request_, Person, hooks=Hooks(on_response=faulty)
        )
    assert result.value.name == "Ada"
    assert "on_response raised RuntimeError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_fault_of_a_validator_ends_it_with_its_record(
    request_: ChatRequest, streamed: bool
) -> None:
    def faulty(value: Person, context: ValidatorContext) -> None:
        raise LookupError

    log = Log()
    extractor = Extractor(validators=(faulty,), hooks=log.hooks)
    provider = ScriptedProvider([ADA])
    ways = (extractor.extract, lambda *asked: extractor.stream(*asked).finish())
    with pytest.raises(LookupError) as caught:
        await ways[streamed](provider, request_, Person)
    record = ExtractionMetadata.from_error(caught.value)
    assert record is not None
    assert record.passes == 1
    assert log.names == ["request", "response", "done"]
