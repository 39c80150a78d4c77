"""One connection to an MCP server: a process or an address, opened and closed by a task of its own.

So a cancelled call does not take it down, and a crash is noticed at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO, TypeAlias

import httpx2

from flowengine.errors import SourceError
from flowengine.sources.watched import Watched

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams

SESSION_NOT_FOUND = -32001
"""What some servers answer to a session that they no longer know."""
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


class Connection:
    """One client in the task that opened it and will close it."""

    def __init__(self, server: Server) -> None:
        loop = asyncio.get_running_loop()
        self.ended = False
        self._remote = isinstance(server, str | Remote)
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = loop.create_future()
        self._task = loop.create_task(self._keep(server))

    async def client(self, name: str) -> Client:
        try:
            # shielded: whoever gives up waiting does not stop the start for the others
            return await asyncio.shield(self._ready)
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(
                f"MCP server {name!r} does not start ({_kind(error)})", code="server_unavailable"
            ) from error

    async def aclose(self) -> None:
        self._stop.set()
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait((self._task,))

    def failure(self, place: str, error: Exception) -> SourceError:
        # the extra is there: its client has raised
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST

        if not isinstance(error, MCPError):
            return SourceError(f"{place}: no answer ({_kind(error)})", code="bad_answer")
        if error.code == CONNECTION_CLOSED:
            return SourceError(f"{place}: the server ended during the call", code="server_gone")
        if self._remote and error.code in (INVALID_REQUEST, SESSION_NOT_FOUND):
            self._end()  # it was started anew, and does not know this connection
        return SourceError(f"{place}: the server refuses ({error.code})", code="tool_failed")

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
        """The server is gone, or has forgotten us: the next call connects again."""
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


def _kind(error: BaseException) -> str:
    """The type of an error; of the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return type(error).__name__  # pyright: ignore[reportUnknownArgumentType]
