"""The running form of a resolver that a flow declares."""

from __future__ import annotations

from collections.abc import Mapping

from flowengine.errors import FlowError, did_you_mean
from flowengine.resolve.live import LiveResolver
from flowengine.resolve.spec import Resolver
from flowengine.sources.arguments import Function
from flowengine.sources.cache import Cache
from flowengine.sources.function import FunctionSource
from flowengine.sources.outside import Outside
from flowengine.sources.source import Source


def from_spec(
    name: str,
    spec: Resolver,
    functions: Mapping[str, Function],
    *,
    outside: Outside | None = None,
    cache: Cache | None = None,
) -> LiveResolver:
    """Raises FlowError: its function is not registered, or no model is there for its prompt."""
    source = _source(name, spec, functions, outside or Outside())
    return LiveResolver(
        name,
        source,
        args=spec.args,
        ttl=spec.ttl,
        error_ttl=spec.error_ttl,
        timeout=spec.timeout,
        cache=cache,
    )


def _source(
    name: str, spec: Resolver, functions: Mapping[str, Function], outside: Outside
) -> Source:
    registered = spec.run or name
    # a function under the resolver's own name stands in for whatever it declares
    if registered in functions:
        return FunctionSource(name, functions[registered])
    if spec.http is not None:
        return outside.request(spec.http)
    if spec.mcp is not None:
        return outside.server_tool(spec.mcp)
    if spec.prompt is not None:
        return outside.prompt(spec.prompt, spec.model)
    raise FlowError(
        f"resolver {name!r} has no source: register a function {registered!r}, or give it `http`, "
        f"`mcp` or `prompt`.{did_you_mean(registered, functions)}"
    )
