"""What a process gives its flows to reach the world with: addresses, servers, a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from flowengine.errors import FlowError
from flowengine.llm.provider import ChatProvider
from flowengine.sources.allow import Allowed
from flowengine.sources.connection import Server
from flowengine.sources.http import Http, HttpSource
from flowengine.sources.mcp import McpServers, McpSource
from flowengine.sources.prompt import PromptSource
from flowengine.sources.spec import HttpRequest, McpCall


class Outside:
    """One for a process, shared by its calls. By default there is nothing outside.

    `allow` names the URL prefixes that requests may go to, `servers` the MCP servers; `provider`
    and `model` answer prompts.
    """

    def __init__(
        self,
        *,
        allow: Allowed = (),
        servers: Mapping[str, Server] | None = None,
        provider: ChatProvider | None = None,
        model: str = "",
    ) -> None:
        self._http = Http(allow)
        self._servers = McpServers(servers or {})
        self._provider = provider
        self._model = model

    def request(self, request: HttpRequest) -> HttpSource:
        return HttpSource(request, self._http)

    def server_tool(self, call: McpCall) -> McpSource:
        return McpSource(call, self._servers)

    def prompt(self, template: str, model: str | None = None) -> PromptSource:
        """Raises FlowError: there is no provider, or no model is named."""
        model = model or self._model
        if self._provider is None or not model:
            lacking = "a provider" if self._provider is None else "the name of a model"
            raise FlowError(f"a prompt needs {lacking} to answer it: pass one")
        return PromptSource(template, self._provider, model)

    async def aclose(self) -> None:
        await self._http.aclose()
        await self._servers.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
