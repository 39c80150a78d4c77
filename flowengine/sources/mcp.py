"""Tools of MCP servers: one connection for each server, kept open and opened again after a crash.

A connection lives in a task of its own, so that a cancelled call does not take it down.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import httpx2

from flowengine.errors import SourceError, did_you_mean
from flowengine.inputs import NOTHING, Json
from flowengine.llm.data import is_object
from flowengine.llm.messages import ToolSpec
from flowengine.sources.function import json_of
from flowengine.sources.spec import McpCall
from flowengine.sources.template import Values, filled
from flowengine.sources.watched import Watched

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams
    from mcp.types import CallToolResult, Tool

MOST_TOOLS = 1000
SLOWEST_START = 15.0
"""Seconds within which a server must be ready to be called."""


@dataclass(frozen=True, slots=True)
class Command:
    """A server that is started as a process; it sees no other variables than these and the PATH."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    log: TextIO | None = None
    """Where its standard error goes: nowhere by default, since it may quote callers."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A server that speaks streamable HTTP, and the headers that let one in."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


Server: TypeAlias = Command | Sequence[str] | Remote | str
"""A command, or the URL of a server that speaks streamable HTTP."""


class McpServers:
    """The servers that a process gives its flows, by name; each is started when first called."""

    def __init__(self, servers: Mapping[str, Server] = NOTHING) -> None:  # pyright: ignore[reportArgumentType]
        self._servers = dict(servers)
        self._connections: dict[str, _Connection] = {}

    async def call(self, server: str, tool: str, args: Mapping[str, Json]) -> Json:
        """The tool's structured result, else its text, read as JSON if it is an object or a list.

        Raises:
            SourceError: `unknown_server`, `not_installed`, `server_unavailable` (it does not
                start), `server_gone` (it ended during the call, which may have had its effect),
                `tool_failed` or `bad_answer`
        """
        place = f"tool {tool!r} of MCP server {server!r}"
        client = await self._client(server)
        try:
            result = await client.call_tool(tool, dict(args))
        except Exception as error:
            raise _failure(place, error) from error
        return _value(place, result)

    async def tools(self, server: str) -> tuple[ToolSpec, ...]:
        """What the server says of its tools.

        Raises:
            SourceError: as `call` does
        """
        client = await self._client(server)
        found: list[ToolSpec] = []
        cursor: str | None = None
        try:
            while True:
                page = await client.list_tools(cursor=cursor)
                found += [_told(tool) for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None or len(found) > MOST_TOOLS:
                    return tuple(found)
        except Exception as error:
            raise _failure(f"the tools of MCP server {server!r}", error) from error

    async def aclose(self) -> None:
        """End every server; a later call starts it again."""
        connections, self._connections = self._connections, {}
        await asyncio.gather(*(connection.aclose() for connection in connections.values()))

    async def _client(self, server: str) -> Client:
        if server not in self._servers:
            guess = did_you_mean(server, self._servers)
            raise SourceError(f"no MCP server {server!r} is given.{guess}", code="unknown_server")
        found = self._connections.get(server)
        if found is None or found.ended:
            found = self._connections[server] = _Connection(self._servers[server])
        return await found.client(f"MCP server {server!r}")


@dataclass(frozen=True, slots=True)
class McpSource:
    """A declared call as a source."""

    call: McpCall
    servers: McpServers

    @property
    def reads(self) -> tuple[str, ...]:
        return self.call.reads

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        given: Any = filled(self.call.args, Values(args, state)) if self.call.args else args
        return await self.servers.call(self.call.server, self.call.tool, given)


class _Connection:
    """One client in the task that opened it and will close it."""

    def __init__(self, server: Server) -> None:
        loop = asyncio.get_running_loop()
        self.ended = False
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = loop.create_future()
        self._task = loop.create_task(self._keep(server))

    async def client(self, place: str) -> Client:
        try:
            # shielded: whoever gives up waiting does not stop the start for the others
            return await asyncio.shield(self._ready)
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(
                f"{place} does not start ({_kind(error)})", code="server_unavailable"
            ) from error

    async def aclose(self) -> None:
        self._stop.set()
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait((self._task,))

    async def _keep(self, server: Server) -> None:
        try:
            async with asyncio.timeout(SLOWEST_START) as starting:
                async with _client(server, self._end) as client:
                    starting.reschedule(None)
                    self._ready.set_result(client)
                    await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - told to those who wait for the start
            self._fail(error)
        finally:
            self.ended = True
            self._fail(SourceError("the server was closed before it had started", code="closed"))

    def _fail(self, error: Exception) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # perhaps nobody is left to see it

    def _end(self) -> None:
        """The server is gone: the next call starts it again."""
        self.ended = True
        self._stop.set()


def _client(server: Server, on_end: Callable[[], None]) -> Client:
    # the library is an extra, and takes a while to import
    try:
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client
    except ImportError:
        raise SourceError(
            "MCP servers need another package: pip install flowengine[mcp]", code="not_installed"
        ) from None
    if isinstance(server, str):
        return Client(_watched(streamable_http_client(server), on_end))
    if isinstance(server, Remote):
        return Client(_watched(_remote(server), on_end))
    command = server if isinstance(server, Command) else Command(server)
    return Client(_watched(_process(command), on_end))


@asynccontextmanager
async def _remote(server: Remote) -> AsyncGenerator[TransportStreams]:
    # imported already, by whoever makes the client
    from mcp.client.streamable_http import streamable_http_client

    # a server may hold a stream open for minutes before it has something to say
    patient = httpx2.Timeout(30, read=300)
    async with (
        httpx2.AsyncClient(headers=server.headers, timeout=patient) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


@asynccontextmanager
async def _process(command: Command) -> AsyncGenerator[TransportStreams]:
    # imported already, by whoever makes the client
    from mcp import StdioServerParameters, stdio_client

    first, *rest = command.argv
    parameters = StdioServerParameters(command=first, args=rest, env=dict(command.env))
    with nullcontext(command.log) if command.log else open(os.devnull, "w") as log:
        async with stdio_client(parameters, log) as streams:
            yield streams


@asynccontextmanager
async def _watched(
    transport: Transport, on_end: Callable[[], None]
) -> AsyncGenerator[TransportStreams]:
    async with transport as (reading, writing):
        yield Watched(reading, on_end), writing


def _failure(place: str, error: Exception) -> SourceError:
    # the extra is there: its client has raised
    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED

    if not isinstance(error, MCPError):
        return SourceError(f"{place}: no answer ({_kind(error)})", code="bad_answer")
    if error.code == CONNECTION_CLOSED:
        return SourceError(f"{place}: the server ended during the call", code="server_gone")
    return SourceError(f"{place}: the server refuses ({error.code})", code="tool_failed")


def _told(tool: Tool) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description or "", parameters=dict(tool.input_schema)
    )


def _kind(error: BaseException) -> str:
    """The type of an error; of the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return type(error).__name__  # pyright: ignore[reportUnknownArgumentType]


def _value(place: str, result: CallToolResult) -> Json:
    if result.is_error:
        raise SourceError(f"{place} failed", code="tool_failed")
    texts = [block.text for block in result.content if block.type == "text"]
    if result.structured_content is not None:
        return json_of(place, _unwrapped(result.structured_content, texts))
    if result.content and not texts:
        kinds = ", ".join(sorted({block.type for block in result.content}))
        raise SourceError(f"{place} answers with {kinds}, not with text", code="bad_answer")
    if not texts:
        return None
    parsed = _parsed("\n".join(texts))
    return json_of(place, parsed if isinstance(parsed, dict | list) else "\n".join(texts))


def _unwrapped(structured: Any, texts: list[str]) -> Any:
    """A value that is no object comes as `{"result": value}`, and as itself in the text."""
    if not is_object(structured) or set(structured) != {"result"}:
        return structured
    same = len(texts) == 1 and _parsed(texts[0]) == structured
    return structured if same else structured["result"]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
