"""A provider made ready before the first request: its connection, its key, its model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flowengine.llm import (
    AuthFailed,
    Backup,
    ChatRequest,
    ConnectionFailed,
    FallbackProvider,
    GeminiProvider,
    ModelNotFound,
    Overloaded,
    RetryingProvider,
    ScriptedProvider,
    TapeProvider,
    warm,
)
from flowengine.testing.fake_gemini import FakeGemini

pytestmark = pytest.mark.anyio
MODEL = "gemini-3.1-flash"


class Warming(ScriptedProvider):
    """Fails to get ready with each fault in turn, then succeeds; keeps whom it was readied for."""

    def __init__(self, *faults: Exception) -> None:
        super().__init__()
        self.faults = list(faults)
        self.warmed: list[str] = []

    async def warm(self, model: str) -> None:
        self.warmed.append(model)
        if self.faults:
            raise self.faults.pop(0)


@pytest.fixture
async def astray() -> AsyncIterator[GeminiProvider]:
    talking = GeminiProvider(api_key="k", base_url="http://127.0.0.1:9", timeout_s=5)
    yield talking
    await talking.aclose()


async def test_the_first_request_goes_over_the_connection_that_was_opened(
    gemini: FakeGemini, provider: GeminiProvider, request_: ChatRequest
) -> None:
    await provider.warm(MODEL)
    assert [(seen.method, seen.model) for seen in gemini.requests] == [("get", MODEL)]
    gemini.says("hello")
    assert (await provider.chat(request_)).text == "hello"
    assert gemini.connections == 1


async def test_a_model_that_does_not_exist_is_told(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.lacks.add(MODEL)
    with pytest.raises(ModelNotFound, match=r"model_not_found: 404.*check the model's name"):
        await provider.warm(MODEL)


async def test_a_wrong_key_is_told_and_not_shown(
    gemini: FakeGemini, provider: GeminiProvider
) -> None:
    gemini.key = "another"
    with pytest.raises(AuthFailed, match="check the API key") as caught:
        await provider.warm(MODEL)
    assert "must-not-leak" not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_a_service_that_is_not_there_is_told(astray: GeminiProvider) -> None:
    with pytest.raises(ConnectionFailed):
        await astray.warm(MODEL)


async def test_a_provider_that_cannot_be_made_ready_is_left_alone() -> None:
    provider = ScriptedProvider()
    await warm(provider, MODEL)
    await RetryingProvider(provider).warm(MODEL)
    assert provider.requests == []


async def test_a_fault_that_may_pass_is_tried_again_where_requests_are() -> None:
    async def at_once(_: float) -> None: ...

    provider = Warming(Overloaded())
    await RetryingProvider(provider, sleep=at_once).warm(MODEL)
    assert provider.warmed == [MODEL, MODEL]


async def test_each_backup_is_made_ready_for_its_own_model() -> None:
    first, second = Warming(Overloaded()), Warming()
    await FallbackProvider([first, Backup(second, "other")]).warm(MODEL)
    assert (first.warmed, second.warmed) == ([MODEL], ["other"])


@pytest.mark.parametrize("order", [1, -1])
async def test_a_wrong_key_of_any_backup_is_told(order: int) -> None:
    both = [Warming(AuthFailed()), Warming(Overloaded())][::order]
    with pytest.raises(AuthFailed):
        await FallbackProvider(both).warm(MODEL)


async def test_backups_that_are_all_down_are_told() -> None:
    with pytest.raises(Overloaded):
        await FallbackProvider([Warming(Overloaded()), Warming(Overloaded())]).warm(MODEL)


async def test_a_tape_makes_ready_what_it_records(tmp_path: Path) -> None:
    inner = Warming()
    await TapeProvider(tmp_path / "tape", record=inner).warm(MODEL)
    assert inner.warmed == [MODEL]
    (tmp_path / "tape").touch()
    await TapeProvider(tmp_path / "tape").warm(MODEL)
