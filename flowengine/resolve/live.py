"""A resolver that runs: a named async source, with its arguments, its time and its cache.

It needs no session: `await resolver.resolve(state)` binds, calls and writes by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Self, TypedDict, Unpack

from flowengine.clock import duration_ms
from flowengine.errors import FlowEngineError
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.llm.provider import ChatProvider
from flowengine.sources.agent import Agent, AgentSource, Run
from flowengine.sources.arguments import Function, arguments_of
from flowengine.sources.cache import Cache, Keep
from flowengine.sources.function import FunctionSource
from flowengine.sources.outside import Outside
from flowengine.sources.prompt import PromptSource
from flowengine.sources.source import Source, key_of
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.sources.template import argument_reads, prompt_keys
from flowengine.state.state import State
from flowengine.state.view import StateView


class How(TypedDict, total=False):
    """What any resolver may be given besides its source; durations as in a flow, `30s`."""

    args: tuple[str, ...]
    """Keys of State bound to the parameters of the same names."""
    ttl: str | None
    error_ttl: str | None
    timeout: str
    cache: Cache | None
    """Shared with other resolvers; one of its own if absent."""


class LiveResolver:
    """Resolves a name to a value.

    ```python
    availability = LiveResolver.fetch("availability", free_tables, ttl="30s")
    tables = await availability.resolve(state)
    ```
    """

    def __init__(self, name: str, source: Source, **how: Unpack[How]) -> None:
        self.name = name
        self.args = tuple(how.get("args", ()))
        self._source = source
        self._keep = Keep(
            _milliseconds(how.get("ttl")),
            _milliseconds(how.get("error_ttl")),
            duration_ms(how.get("timeout", "5s")),
        )
        self._cache = how.get("cache") or Cache()
        self._running: set[asyncio.Task[Json]] = set()

    def __repr__(self) -> str:
        return f"LiveResolver({self.name!r}, args={self.args!r})"

    @classmethod
    def fetch(cls, name: str, function: Function, **how: Unpack[How]) -> Self:
        """From a function; its parameters are bound from the keys of their names."""
        how.setdefault("args", arguments_of(function).names)
        return cls(name, FunctionSource(name, function), **how)

    @classmethod
    def http(cls, name: str, request: HttpRequest, outside: Outside, **how: Unpack[How]) -> Self:
        """From a request, sent to where `outside` allows it."""
        how.setdefault("args", argument_reads(request.texts))
        return cls(name, outside.request(request), **how)

    @classmethod
    def mcp(cls, name: str, call: McpCall, outside: Outside, **how: Unpack[How]) -> Self:
        """From a tool of an MCP server that `outside` knows."""
        how.setdefault("args", argument_reads(call.args))
        return cls(name, outside.server_tool(call), **how)

    @classmethod
    def prompt(
        cls, name: str, template: str, provider: ChatProvider, model: str, **how: Unpack[How]
    ) -> Self:
        """From a language model's answer to a text in which `{key}` is filled in."""
        how.setdefault("args", prompt_keys(template))
        return cls(name, PromptSource(template, provider, model), **how)

    @classmethod
    def agent(cls, name: str, agent: Agent | Run, **how: Unpack[How]) -> Self:
        """From an object with `async run(state)`, or a function of the state, which it reads."""
        return cls(name, AgentSource(name, agent), **how)

    def bind(self, state: State) -> dict[str, Json]:
        """The present arguments; keys that hold nothing are left out."""
        found = ((key, look_up(key, state.find)) for key in self.args)
        return {key: value for key, value in found if value is not None}

    async def run(
        self, args: Mapping[str, Json], state: Mapping[str, Any], *, ttl: str | None = None
    ) -> Json:
        """The value for these arguments, perhaps a kept one; `ttl` replaces the resolver's own.

        Raises:
            FlowEngineError: there is none; its `code` says why, `timed_out` among others
        """
        keep = self._keep if ttl is None else self._keep._replace(ttl=duration_ms(ttl))
        key = key_of(f"resolver {self.name}", self._source, args, state)
        return await self._cache.call(key, lambda: self._source.fetch(args, state), keep)

    async def resolve(self, state: State) -> Json:
        """The value, which is also written to `{name}:result`; a failure to `{name}:error`.

        What comes back after the arguments have changed is the answer to an old question: it is
        returned, and not written.

        Raises:
            FlowEngineError: as `run` does, after its code is written
        """
        args = self.bind(state)
        try:
            value = await self.run(args, StateView(state))
        except FlowEngineError as error:
            self._land(state, args, None, str(error.code))
            raise
        self._land(state, args, value, None)
        return value

    def dispatch(self, state: State) -> asyncio.Task[Json]:
        """Resolve beside everything else; nobody has to wait for the task."""
        task = asyncio.get_running_loop().create_task(self.resolve(state))
        self._running.add(task)  # the loop alone would let it be collected
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Json]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # `{name}:error` tells, whether or not somebody awaits it

    def _land(self, state: State, args: Mapping[str, Json], value: Json, error: str | None) -> None:
        if self.bind(state) != args:
            return
        with state.batch(by=f"resolver:{self.name}"):
            state.set(f"{self.name}:result", value)
            state.set(f"{self.name}:error", error)


def _milliseconds(duration: str | None) -> int:
    return 0 if duration is None else duration_ms(duration)
