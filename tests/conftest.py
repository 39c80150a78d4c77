"""What several folders of tests share."""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from flowengine.llm import GeminiProvider
from flowengine.testing.fake_gemini import FakeGemini

# A loaded machine is slow, not wrong.
settings.register_profile("flowengine", deadline=None)
settings.load_profile("flowengine")


@pytest.fixture(scope="session")
def random_flows() -> ModuleType:
    """`random_flows.py`: flows, inputs and guards' truth, each from a seed."""
    return _module("random_flows")


@pytest.fixture(scope="session")
def plain_machine(random_flows: ModuleType) -> ModuleType:
    """`plain_machine.py`, which reads the guards of random flows."""
    return _module("plain_machine")


@pytest.fixture
def without_collection() -> Iterator[None]:
    """Machines are full of cycles: collecting them would be half of the time."""
    gc.disable()
    yield
    gc.enable()
    gc.collect()


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
    talking = GeminiProvider(api_key="key-that-must-not-leak", base_url=gemini.url, timeout_s=5)
    yield talking
    await talking.aclose()


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
