"""Requests to the outside as a flow declares them: plain data, sent elsewhere."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from flowengine.data import Data
from flowengine.sources.template import state_reads


class HttpRequest(Data):
    """A request; `{args.x}` and `{state.y}` in its texts are filled in when it is sent.

    It goes only where the process that runs the flow allows it to go.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: str
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    body: JsonValue = None
    """Sent as JSON; a text that is nothing but one placeholder keeps the value's type."""
    pick: str | None = None
    """The part of the answer that counts, as a path `a.b.c`; the whole answer if absent."""

    @property
    def texts(self) -> list[JsonValue]:
        """Where placeholders may stand."""
        return [self.url, *self.headers.values(), *self.query.values(), self.body]

    @property
    def reads(self) -> tuple[str, ...]:
        """What it reads of State."""
        return state_reads(self.texts)


class McpCall(Data):
    """A tool of an MCP server."""

    server: str
    """The name under which the process that runs the flow knows the server."""
    tool: str
    args: dict[str, JsonValue] = Field(default_factory=dict)
    """Argument -> value or `{args.x}` / `{state.y}`; all arguments as they are if absent."""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it reads of State."""
        return state_reads(self.args)
