"""Carrying out effects: the functions behind extractors, resolvers, tools and async watchers."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from flowengine.clock import duration_ms
from flowengine.effects import Resolve, RunExtractor, RunFunction, RunTool
from flowengine.errors import FlowError
from flowengine.inputs import Json, OutcomeStatus
from flowengine.kernel import CompiledFlow
from flowengine.transcript import Turn

Extract: TypeAlias = Callable[[tuple[Turn, ...], Mapping[str, Json]], Awaitable[Any] | Any]
"""An extractor: (window of turns, what is known) -> the fields it found."""
Runnable: TypeAlias = RunExtractor | Resolve | RunFunction | RunTool
Answer: TypeAlias = tuple[OutcomeStatus, Json, str]
"""How an effect ended: status, value, and an error code without anybody's words."""


class Runner:
    """Finds and runs what an effect names; shared by the sessions of a flow."""

    __slots__ = ("_extractors", "_flow")

    def __init__(self, flow: CompiledFlow, extractors: Mapping[str, Extract] | None = None) -> None:
        self._flow = flow
        self._extractors = {**flow.functions.of("extractor"), **(extractors or {})}

    async def run(self, effect: Runnable) -> Answer:
        try:
            call, timeout = self._call(effect)
            async with asyncio.timeout(timeout / 1000):
                value = call()
                if inspect.isawaitable(value):
                    value = await value
            return "ok", value, ""
        except TimeoutError:
            return "timed_out", None, "timed_out"
        except FlowError as error:
            return "failed", None, error.code
        except Exception as error:  # noqa: BLE001 - an effect's fault is its outcome
            return "failed", None, type(error).__name__

    def _call(self, effect: Runnable) -> tuple[Callable[[], Any], int]:
        flow = self._flow.flow
        match effect:
            case RunExtractor(_, name, _, window, known):
                spec = next(spec for spec in flow.extract if spec.name == name)
                extract = self._extractor(name)
                return lambda: extract(window, known), duration_ms(spec.timeout)
            case Resolve(_, name, args):
                spec = flow.resolvers.get(name)
                function = self._flow.functions.lookup("resolver", (spec and spec.run) or name)
                return lambda: function(**args), duration_ms(spec.timeout if spec else "5s")
            case RunFunction(_, name, values):
                function = self._flow.functions.lookup("watcher", name)
                return lambda: function(values), duration_ms("30s")
            case RunTool(_, _, tool, args):
                return self._tool(tool, args), self._flow.tools[tool].timeout

    def _extractor(self, name: str) -> Extract:
        found = self._extractors.get(name)
        if found is None:
            raise FlowError(f"no extractor {name!r}: pass one with `extractors={{...}}`")
        return found

    def _tool(self, name: str, args: Mapping[str, Json]) -> Callable[[], Any]:
        spec = self._flow.flow.tools[name]
        registered = self._flow.functions.of("tool")
        if (spec.run or name) in registered:
            function = registered[spec.run or name]
            return lambda: function(**args)
        if spec.respond is None:
            raise FlowError(f"tool {name!r} has no function: register one, or give it `respond`")
        return lambda: spec.respond
