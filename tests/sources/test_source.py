"""What every kind of source keeps to, whatever is behind it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from flowengine.errors import FlowEngineError
from flowengine.inputs import Json
from flowengine.llm import Overloaded, ScriptedProvider
from flowengine.sources.agent import AgentSource
from flowengine.sources.function import FunctionSource
from flowengine.sources.outside import Outside
from flowengine.sources.source import Source, key_of
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.state import State
from flowengine.state.view import StateView

pytestmark = pytest.mark.anyio

ARGS: dict[str, Json] = {"words": "jane smith"}
KINDS = ["function", "http", "mcp", "prompt", "agent"]
SCRIPT = str(Path(__file__).with_name("mcp_server.py"))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One loop for the module, so that its tests share a server."""
    return "asyncio"


@pytest.fixture(scope="module")
async def desk() -> AsyncIterator[Outside]:
    outside = Outside(servers={"desk": [sys.executable, SCRIPT]})
    yield outside
    await outside.aclose()


@pytest.fixture
async def make(server: Any, desk: Outside) -> AsyncIterator[Callable[[str, str], Source]]:
    """Makes a source of a kind that echoes its argument, fails, or answers too late."""
    web = Outside(allow=server.url)
    server.says("/fail", {"detail": "jane smith"}, 500)

    async def echo(words: str) -> Json:
        await asyncio.sleep(0)
        return words

    async def fail(words: str) -> Json:
        raise ValueError(words)

    async def late(words: str) -> Json:
        await asyncio.sleep(30)
        return words

    class Late(ScriptedProvider):
        async def chat(self, request: Any) -> Any:
            await asyncio.sleep(30)

    def agent(does: str) -> Callable[[Mapping[str, Any]], Any]:
        work = {"echo": echo, "fail": fail, "late": late}[does]
        return lambda state: work(state["words"])

    def build(kind: str, does: str) -> Source:
        path = {"echo": "/echo", "fail": "/fail", "late": "/late/slow"}[does]
        if kind == "function":
            return FunctionSource("f", {"echo": echo, "fail": fail, "late": late}[does])
        if kind == "http":
            body = {"words": "{args.words}"}
            return web.request(HttpRequest(method="POST", url=server.url + path, body=body))
        if kind == "mcp":
            given: dict[str, Any] = {"late": {"seconds": 30}}.get(does, {"words": "{args.words}"})
            tool = {"echo": "echo", "fail": "fail", "late": "slow"}[does]
            return desk.server_tool(McpCall(server="desk", tool=tool, args=given))
        if kind == "agent":
            return AgentSource("a", agent(does))
        script = [Overloaded("jane smith")] if does == "fail" else ["jane smith"] * 9
        provider = Late() if does == "late" else ScriptedProvider(script)
        return Outside(provider=provider, model="m").prompt("Repeat: {words}")

    yield build
    await web.aclose()


def words_in(value: Any) -> bool:
    return "jane smith" in str(value)


@pytest.mark.parametrize("kind", KINDS)
async def test_it_gives_json_for_its_arguments(kind: str, make: Any) -> None:
    assert words_in(await make(kind, "echo").fetch(ARGS, {}))


@pytest.mark.parametrize("kind", KINDS)
async def test_it_takes_a_view_of_state_and_leaves_state_alone(kind: str, make: Any) -> None:
    state = State({"other": 1})
    await make(kind, "echo").fetch(ARGS, StateView(state))
    assert state.snapshot() == {"other": 1}


@pytest.mark.parametrize("kind", KINDS)
async def test_many_calls_run_at_once(kind: str, make: Any) -> None:
    source = make(kind, "echo")
    values = await asyncio.gather(*(source.fetch(ARGS, {}) for _ in range(5)))
    assert all(map(words_in, values))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_failure_has_a_code_and_nobodys_words(kind: str, make: Any) -> None:
    with pytest.raises(FlowEngineError) as caught:
        await make(kind, "fail").fetch(ARGS, {})
    assert isinstance(caught.value.code, str)
    assert caught.value.code
    assert not words_in(f"{caught.value} {caught.value!r}")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_missing_argument_is_named(kind: str, make: Any) -> None:
    with pytest.raises(FlowEngineError) as caught:
        await make(kind, "echo").fetch({}, {})
    told = {"agent": "KeyError"}.get(kind, "words")
    assert told in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_cancelled_call_ends_at_once_and_harms_no_other(kind: str, make: Any) -> None:
    running = asyncio.ensure_future(make(kind, "late").fetch(ARGS, {}))
    await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 5)
    assert words_in(await make(kind, "echo").fetch(ARGS, {}))


@pytest.mark.parametrize("kind", KINDS)
async def test_its_repr_shows_no_prompt_and_no_agent(kind: str, make: Any) -> None:
    source = make(kind, "echo")
    assert "Repeat" not in repr(source)
    assert isinstance(source.reads, tuple)


def test_what_a_source_reads_of_state_is_part_of_its_key() -> None:
    source = Outside().request(HttpRequest(url="https://a.example/{args.x}/{state.plan.name}"))
    assert source.reads == ("plan.name",)
    one = key_of("r", source, {"x": 1}, {"plan": {"name": "basic"}})
    assert one != key_of("r", source, {"x": 1}, {"plan": {"name": "gold"}})
    assert one == key_of("r", source, {"x": 1}, {"plan": {"name": "basic", "other": 2}})
