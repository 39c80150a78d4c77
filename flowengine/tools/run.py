"""Runs one admitted call of a tool, wherever the tool lives, and gives its response as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from flowengine.clock import duration_ms
from flowengine.errors import FlowError
from flowengine.inputs import Json
from flowengine.sources.arguments import Function, arguments_of
from flowengine.sources.cache import FOREVER, Cache, Keep, within
from flowengine.sources.function import called
from flowengine.sources.outside import Outside
from flowengine.sources.source import Source, key_of
from flowengine.state.types import copied
from flowengine.tools.accept import accept
from flowengine.tools.context import ToolContext
from flowengine.tools.spec import Tool

BeforeResponse: TypeAlias = Callable[[str, Json], Awaitable[Any] | Any]
"""Sees (tool, response) and returns the response that the model and State get: a redaction, say."""


async def run_tool(
    name: str,
    spec: Tool,
    args: Mapping[str, Json],
    *,
    function: Function | None = None,
    context: ToolContext | None = None,
    outside: Outside | None = None,
    cache: Cache | None = None,
    before_response: Sequence[BeforeResponse] = (),
) -> Json:
    """The tool's response, within its `timeout`.

    A registered function comes before everything else: a test can stand in for a request.
    `cache` holds the call's own results; without it nothing is reused.

    Raises:
        FlowError: the tool has no source
        ArgumentError: the arguments do not fit
        SourceError, FunctionError: no response; the code says why
    """
    context = context or ToolContext()
    source = _source(name, spec, function, context, outside or Outside())
    accepted = accept(name, spec, args)
    work = partial(_cancellable, source, accepted, context)
    timeout = duration_ms(spec.timeout)
    if cache is not None and spec.cache:
        ttl = FOREVER if spec.cache is True else duration_ms(spec.cache)
        key = key_of(f"tool {name}", source, accepted, context.state)
        response = await cache.call(key, work, Keep(ttl, 0, timeout))
    else:
        response = await within(work, timeout)
    for transform in before_response:
        response = await called("before_response", name, partial(transform, name, response))
    return response


async def _cancellable(source: Source, args: Mapping[str, Json], context: ToolContext) -> Json:
    """The source's value; its time being over cancels it from within, an interruption likewise."""
    try:
        return await source.fetch(args, context.state)
    except asyncio.CancelledError:
        context.cancelled.set()
        raise


def _source(
    name: str, spec: Tool, function: Function | None, context: ToolContext, outside: Outside
) -> Source:
    if function is not None:
        return ToolFunction(name, function, context)
    if spec.http is not None:
        return outside.request(spec.http)
    if spec.mcp is not None:
        return outside.server_tool(spec.mcp)
    if spec.respond is not None:
        return _Canned(spec.respond)
    raise FlowError(
        f"tool {name!r} has no source: register a function, or give it `http`, `mcp` or `respond`"
    )


@dataclass(frozen=True, slots=True)
class ToolFunction:
    """A registered function as a source; it gets the call's context if it asks for it."""

    name: str
    function: Function
    context: ToolContext
    reads: tuple[str, ...] = ()

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        taken = arguments_of(self.function, ToolContext)
        bound = taken.bind(args, f"tool {self.name!r}")
        if taken.injected is not None:
            bound[taken.injected] = self.context
        return await called("tool", self.name, lambda: self.function(**bound))


@dataclass(frozen=True, slots=True)
class _Canned:
    respond: Json
    reads: tuple[str, ...] = ()

    async def fetch(self, args: Mapping[str, Json], state: Mapping[str, Any]) -> Json:
        return copied(self.respond)
