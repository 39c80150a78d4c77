"""Tools of MCP servers: one connection for each, kept open and opened again after a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flowengine.errors import SourceError, did_you_mean
from flowengine.inputs import Json
from flowengine.llm.data import is_object
from flowengine.llm.messages import ToolSpec
from flowengine.sources.connection import Connection, Server
from flowengine.sources.function import json_of
from flowengine.sources.spec import McpCall
from flowengine.sources.template import Values, filled

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

MOST_TOOLS = 1000


class McpServers:
    """The servers that a process gives its flows, by name; each is started when first called."""

    def __init__(self, servers: Mapping[str, Server]) -> None:
        self._servers = dict(servers)
        self._connections: dict[str, Connection] = {}

    async def call(self, server: str, tool: str, args: Mapping[str, Json]) -> Json:
        """The tool's structured result, else its text, read as JSON if it is an object or a list.

        Raises:
            SourceError: `unknown_server`, `not_installed`, `server_unavailable` (it does not
                start), `server_gone` (it ended during the call, which may have had its effect),
                `tool_failed` or `bad_answer`
        """
        place = f"tool {tool!r} of MCP server {server!r}"
        connection = self._connection(server)
        client = await connection.client(server)
        try:
            result = await client.call_tool(tool, dict(args))
        except Exception as error:
            raise connection.failure(place, error) from error
        return _value(place, result)

    async def tools(self, server: str) -> tuple[ToolSpec, ...]:
        """What the server says of its tools.

        Raises:
            SourceError: as `call` does
        """
        connection = self._connection(server)
        client = await connection.client(server)
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
            place = f"the tools of MCP server {server!r}"
            raise connection.failure(place, error) from error

    async def aclose(self) -> None:
        """End every server; a later call starts it again."""
        connections, self._connections = self._connections, {}
        await asyncio.gather(*(connection.aclose() for connection in connections.values()))

    def _connection(self, server: str) -> Connection:
        if server not in self._servers:
            guess = did_you_mean(server, self._servers)
            raise SourceError(f"no MCP server {server!r} is given.{guess}", code="unknown_server")
        found = self._connections.get(server)
        if found is None or found.ended:
            found = self._connections[server] = Connection(self._servers[server])
        return found


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


def _told(tool: Tool) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description or "", parameters=dict(tool.input_schema)
    )


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
