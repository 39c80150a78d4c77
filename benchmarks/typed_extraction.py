"""What a typed extraction adds to the bare SDK call, paired call by call on one loopback server.

    python benchmarks/typed_extraction.py [rounds]

Prints medians in milliseconds and each contender's overhead over the bare call. Peers run beside
it where they are installed: `pip install 'instructor[google-genai]'`, or in another environment,
since their dependencies conflict, `pip install 'pydantic-ai-slim[google]'`.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import httpx2
from google.genai import Client
from pydantic import BaseModel, Field

from flowengine.llm import ChatRequest, Extractor, GeminiProvider
from flowengine.testing.fake_gemini import FakeGemini, Reply, answer, usage_counts

MODEL = "gemini-3.1-flash"
WORDS = "Two large pizzas for Ada, to be delivered to 12 Baker Street at seven."
Call = Callable[[], Awaitable[Any]]


class Item(BaseModel):
    name: str
    size: Literal["small", "medium", "large"] = "medium"
    quantity: int = Field(default=1, ge=1, le=20)


class Order(BaseModel):
    customer: str
    address: str | None = None
    at: str | None = None
    items: list[Item] = []


VALUE = Order(customer="Ada", address="12 Baker Street", at="19:00", items=[Item(name="pizza")])


def client_of(gemini: FakeGemini) -> Client:
    options: Any = {
        "base_url": gemini.url,
        "async_client_args": {"transport": httpx2.AsyncHTTPTransport()},
    }
    return Client(api_key="benchmark", http_options=options)


def bare(gemini: FakeGemini) -> Call:
    """The SDK alone, with a ready JSON schema and its own parsed dict, unvalidated."""
    client = client_of(gemini)
    config: Any = {
        "response_mime_type": "application/json",
        "response_json_schema": Order.model_json_schema(),
        "thinking_config": {"thinking_budget": 0},
    }

    async def call() -> Any:
        answered = await client.aio.models.generate_content(
            model=MODEL, contents=WORDS, config=config
        )
        return answered.parsed

    return call


def ours(gemini: FakeGemini) -> Call:
    provider = GeminiProvider(api_key="benchmark", base_url=gemini.url)
    extractor, request = Extractor(repair=True, retries=1), ChatRequest(model=MODEL).user(WORDS)
    return lambda: extractor.extract(provider, request, Order)


def instructor(gemini: FakeGemini) -> Call:
    import instructor as peer

    mode = peer.Mode.GENAI_STRUCTURED_OUTPUTS
    client: Any = peer.from_genai(client_of(gemini), mode=mode, use_async=True)
    message = {"role": "user", "content": WORDS}
    return lambda: client.chat.completions.create(
        model=MODEL, messages=[message], response_model=Order
    )


def pydantic_ai(gemini: FakeGemini) -> Call:
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    model = GoogleModel(MODEL, provider=GoogleProvider(client=client_of(gemini)))
    agent: Any = Agent(model, output_type=NativeOutput(Order))
    return lambda: agent.run(WORDS)


def contenders(gemini: FakeGemini) -> dict[str, Call]:
    calls = {"bare google-genai": bare(gemini), "flowengine.llm": ours(gemini)}
    for name, module, make in (
        ("instructor", "instructor", instructor),
        ("pydantic-ai", "pydantic_ai", pydantic_ai),
    ):
        if importlib.util.find_spec(module) is not None:
            calls[name] = make(gemini)
    return calls


async def measure(gemini: FakeGemini, rounds: int) -> dict[str, list[float]]:
    usage = usage_counts(prompt=20, candidates=30)
    text = answer({"text": VALUE.model_dump_json()}, usage=usage)
    times: dict[str, list[float]] = {}
    calls = contenders(gemini)
    for turn in range(rounds + 5):
        for name, call in calls.items():
            gemini.script(Reply(text))
            before = time.perf_counter()
            await call()
            if turn >= 5:  # the first calls open connections and fill caches
                times.setdefault(name, []).append((time.perf_counter() - before) * 1000)
    return times


def report(times: dict[str, list[float]]) -> None:
    base = times["bare google-genai"]
    print(f"{'':20}{'median ms':>11}{'p95 ms':>9}{'over bare ms':>14}{'ratio':>8}")
    for name, taken in times.items():
        middle, over = statistics.median(taken), [a - b for a, b in zip(taken, base, strict=True)]
        late = statistics.quantiles(taken, n=20)[-1]
        ratio = middle / statistics.median(base)
        print(f"{name:20}{middle:11.2f}{late:9.2f}{statistics.median(over):14.2f}{ratio:8.2f}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    gc.freeze()
    # Not strict: a peer's request is answered as it is.
    with FakeGemini(strict=False) as gemini:
        report(asyncio.run(measure(gemini, rounds)))


if __name__ == "__main__":
    main()
