"""What the tests of `flowengine.llm` share: a loopback Gemini, and a request to start from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from flowengine.llm import ChatRequest, GeminiProvider
from flowengine.testing.fake_gemini import FakeGemini


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def request_() -> ChatRequest:
    return ChatRequest(model="gemini-3.1-flash").user("Ada is 36 and lives in London.")


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGemini]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
        monkeypatch.delenv(name, raising=False)
    with FakeGemini() as server:
        yield server


@pytest.fixture
async def provider(gemini: FakeGemini) -> AsyncIterator[GeminiProvider]:
    talking = GeminiProvider(api_key="key-that-must-not-leak", base_url=gemini.url, timeout_s=5)
    yield talking
    await talking.aclose()


@pytest.fixture
async def hurried(gemini: FakeGemini) -> AsyncIterator[GeminiProvider]:
    talking = GeminiProvider(api_key="k", base_url=gemini.url, timeout_s=0.2)
    yield talking
    await talking.aclose()
