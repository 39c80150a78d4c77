"""What the tests of live sessions share: a loopback Gemini and the real SDK that talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from flowengine.llm import GeminiProvider
from flowengine.testing.fake_gemini import FakeGemini


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGemini]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE", "GEMINI_TEXT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with FakeGemini() as server:
        yield server


@pytest.fixture
async def provider(gemini: FakeGemini) -> AsyncIterator[GeminiProvider]:
    talking = GeminiProvider(api_key="test", base_url=gemini.url, timeout_s=5)
    yield talking
    await talking.aclose()
