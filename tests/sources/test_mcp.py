"""Tools of a real MCP server, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import builtins
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flowengine.errors import SourceError
from flowengine.sources.connection import Command, Remote
from flowengine.sources.mcp import McpServers, McpSource
from flowengine.sources.spec import McpCall

pytestmark = pytest.mark.anyio

SCRIPT = str(Path(__file__).with_name("mcp_server.py"))
DESK = (sys.executable, SCRIPT)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One loop for the module, so that its tests share a server."""
    return "asyncio"


@pytest.fixture(scope="module")
async def servers() -> AsyncIterator[McpServers]:
    given = McpServers({"desk": Command(DESK, env={"DESK_KEY": "k1"})})
    yield given
    await given.aclose()


async def code_of(servers: McpServers, tool: str, args: dict[str, Any], name: str = "desk") -> str:
    with pytest.raises(SourceError) as caught:
        await servers.call(name, tool, args)
    assert "jane" not in f"{caught.value} {caught.value!r}"
    return caught.value.code


@pytest.mark.parametrize(
    ("tool", "args", "value"),
    [
        ("slots", {"day": "friday", "party": 3}, {"day": "friday", "free": ["19:00", "20:30"]}),
        ("words", {}, "all is well"),
        ("listed", {}, [1, 2]),
        ("result", {}, {"result": 7}),
        ("variable", {"name": "DESK_KEY"}, "k1"),
        ("variable", {"name": "PYTEST_CURRENT_TEST"}, "unset"),
    ],
)
async def test_results_are_plain_json(
    servers: McpServers, tool: str, args: dict[str, Any], value: Any
) -> None:
    assert await servers.call("desk", tool, args) == value


async def test_one_connection_serves_many_calls_at_once(servers: McpServers) -> None:
    counted = await asyncio.gather(*(servers.call("desk", "count", {}) for _ in range(20)))
    assert sorted(counted) == list(range(1, 21))


@pytest.mark.parametrize(
    ("tool", "args"),
    [("fail", {"words": "jane smith"}), ("gone", {}), ("slots", {"party": "jane"})],
)
async def test_a_refusal_of_the_server_is_a_code(
    servers: McpServers, tool: str, args: dict[str, Any]
) -> None:
    assert await code_of(servers, tool, args) == "tool_failed"


async def test_an_abandoned_call_leaves_the_connection_open(servers: McpServers) -> None:
    before: Any = await servers.call("desk", "count", {})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await servers.call("desk", "slow", {"seconds": 30})
    assert await servers.call("desk", "count", {}) == before + 1


async def test_placeholders_fill_the_arguments(servers: McpServers) -> None:
    call = McpCall(server="desk", tool="slots", args={"day": "{state.day}", "party": "{args.n}"})
    source = McpSource(call, servers)
    assert source.reads == ("day",)
    value: Any = await source.fetch({"n": 2}, {"day": "friday"})
    assert value == {"day": "friday", "free": ["19:00"]}
    whole = McpSource(McpCall(server="desk", tool="slots"), servers)
    assert await whole.fetch({"day": "x", "party": 1}, {}) == {"day": "x", "free": []}


async def test_a_crashed_server_is_started_again(servers: McpServers) -> None:
    assert await code_of(servers, "crash", {}) == "server_gone"
    assert await servers.call("desk", "words", {}) == "all is well"
    # it ends between two calls: the next one does not notice
    first = await servers.call("desk", "crash_soon", {})
    await asyncio.sleep(0.3)
    assert await servers.call("desk", "crash_soon", {}) != first


async def test_a_closed_server_starts_again_when_it_is_called(servers: McpServers) -> None:
    await servers.aclose()
    await servers.aclose()
    assert await servers.call("desk", "count", {}) == 1


@pytest.mark.parametrize(
    "server", [[sys.executable, "-c", ""], ["/no/such/program"], "http://127.0.0.1:1/mcp"]
)
async def test_a_server_that_does_not_start_is_unavailable(server: Any) -> None:
    servers = McpServers({"bad": server})
    assert await code_of(servers, "x", {}, name="bad") == "server_unavailable"
    await servers.aclose()


async def test_a_start_that_nobody_waits_for_can_be_closed() -> None:
    servers = McpServers({"late": [sys.executable, "-c", "import sys; sys.stdin.read()"]})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await servers.call("late", "x", {})
    await asyncio.wait_for(servers.aclose(), 5)


async def test_closing_ends_what_waits_with_an_error() -> None:
    servers = McpServers({"late": [sys.executable, "-c", "import sys; sys.stdin.read()"]})
    calling = asyncio.ensure_future(code_of(servers, "x", {}, name="late"))
    await asyncio.sleep(0.1)
    await servers.aclose()
    assert await calling == "closed"


async def test_closing_ends_a_running_call_with_an_error(servers: McpServers) -> None:
    calling = asyncio.ensure_future(code_of(servers, "slow", {"seconds": 30}))
    await servers.call("desk", "words", {})
    await servers.aclose()
    assert await calling == "server_gone"


async def test_a_server_tells_its_tools(servers: McpServers) -> None:
    told = {tool.name: tool for tool in await servers.tools("desk")}
    assert told["slots"].parameters["required"] == ["day"]
    assert told["crash_soon"].description == "Answers, and ends a moment later."


async def test_a_server_that_is_not_given_is_named_with_the_near_miss() -> None:
    with pytest.raises(SourceError, match=r"no MCP server 'dsek' is given.*'desk'"):
        await McpServers({"desk": DESK}).call("dsek", "x", {})


async def test_without_the_library_the_error_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "mcp":
            raise ModuleNotFoundError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SourceError, match=r"pip install flowengine\[mcp\]") as caught:
        await McpServers({"desk": DESK}).call("desk", "words", {})
    assert caught.value.code == "not_installed"


async def test_a_server_may_speak_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *DESK, str(port), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}/mcp"
    servers = McpServers({"desk": url, "keyed": Remote(url, {"authorization": "Bearer k1"})})
    try:
        await until_it_listens(port)
        assert await servers.call("desk", "words", {}) == "all is well"
        assert await servers.call("desk", "count", {}) == 1
        assert await servers.call("keyed", "count", {}) == 2
        assert "k1" not in repr(Remote(url, {"authorization": "Bearer k1"}))
        await servers.aclose()
    finally:
        process.terminate()
        await process.wait()


async def test_a_server_that_has_forgotten_us_is_met_again(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers 404 to a session that it no longer knows, as one that was restarted does."""
    sessions: list[str] = []

    def answer(handler: Any) -> None:
        length = int(handler.headers.get("content-length", 0))
        asked = json.loads(handler.rfile.read(length) or "{}")
        method, known = asked.get("method"), handler.headers.get("mcp-session-id") in sessions
        told: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
        if method == "initialize":
            sessions.append(f"s{len(sessions)}")
            info = {"name": "desk", "version": "1"}
            version = asked["params"]["protocolVersion"]
            told = {"result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}}
        elif method == "tools/list":
            told = {"result": {"tools": []}}
        elif method == "tools/call":
            told = {"result": {"content": [{"type": "text", "text": sessions[-1]}]}}
        body = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), **told}).encode()
        status = 202 if "id" not in asked else 404 if method == "tools/call" and not known else 200
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body) if status == 200 else 0))
        handler.send_header("mcp-session-id", sessions[-1] if sessions else "")
        handler.end_headers()
        handler.wfile.write(body if status == 200 else b"")

    monkeypatch.setattr(server.RequestHandlerClass, "do_POST", answer)
    servers = McpServers({"desk": f"{server.url}/mcp"})
    assert await servers.call("desk", "x", {}) == "s0"
    sessions[:] = ["restarted"]
    assert await code_of(servers, "x", {}) == "tool_failed"
    assert await servers.call("desk", "x", {}) == "s1"
    await servers.aclose()


async def until_it_listens(port: int) -> None:
    async with asyncio.timeout(15):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return await writer.wait_closed()
