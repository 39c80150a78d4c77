"""Carrying out effects: what extractors, resolvers, decisions, tools and watchers bring back."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeAlias, cast

from flowengine.clock import Clock
from flowengine.effects import (
    AskConfirmation,
    Decide,
    Resolve,
    RunExtractor,
    RunFunction,
    RunTool,
)
from flowengine.errors import FlowEngineError, FlowError, FunctionError
from flowengine.extract.spec import ExtractSpec
from flowengine.extract.turn_extractor import TurnExtractor, run_turn_extractor
from flowengine.inputs import Json, OutcomeStatus
from flowengine.kernel import CompiledFlow
from flowengine.resolve.spec import Resolver
from flowengine.runtime.services import Extract, Services
from flowengine.state.keys import json_value
from flowengine.state.view import StateView

Runnable: TypeAlias = RunExtractor | Resolve | Decide | RunFunction | RunTool | AskConfirmation
Answer: TypeAlias = tuple[OutcomeStatus, Json, str]
"""How an effect ended: status, value, and an error code without anybody's words."""

_log = logging.getLogger("flowengine")

_FUNCTION_MS = 30_000
_CONFIRM_MS = 120_000


class Runner:
    """Finds and runs what an effect names, for one session."""

    __slots__ = ("_clock", "_flow", "_kept", "_services")

    def __init__(self, flow: CompiledFlow, services: Services, clock: Clock) -> None:
        self._flow, self._services, self._clock = flow, services, clock
        self._kept: Any = None
        _prepare(flow)

    async def run(self, effect: Runnable, state: StateView) -> Answer:
        """The outcome of an effect; `state` is what resolvers and tools may read."""
        try:
            return "ok", await self._value(effect, state), ""
        except TimeoutError:
            return "timed_out", None, "timed_out"
        except FunctionError as error:
            _report(effect, error.__cause__ or error)
            return "failed", None, type(error.__cause__ or error).__name__
        except FlowEngineError as error:
            _report(effect, error)
            status = "timed_out" if error.code in ("timed_out", "timeout") else "failed"
            return status, None, error.code
        except Exception as error:  # noqa: BLE001 - an effect's fault is its outcome
            _report(effect, error)
            return "failed", None, type(error).__name__

    async def _value(self, effect: Runnable, state: StateView) -> Json:
        match effect:
            case RunExtractor(_, name, _, window, known):
                extractor = self._flow.extractors[name]
                async with asyncio.timeout(extractor.timeout / 1000):
                    return await self._extract(extractor.spec, window, known)
            case Resolve(_, name, args, field):
                given = {_parameter(key): value for key, value in args.items()}
                return await self._resolver(name).run(given, state, ttl=self._ttl(field))
            case Decide():
                return json_value("decision", await self._decide(effect))
            case RunFunction(_, name, values):
                function = self._flow.functions.lookup("watcher", name)
                async with asyncio.timeout(_FUNCTION_MS / 1000):
                    return json_value(name, await _awaited(function(values)))
            case RunTool():
                return await self._tool(effect, state)
            case AskConfirmation(_, _, tool, args, question):
                async with asyncio.timeout(_CONFIRM_MS / 1000):
                    return await self._confirm(tool, args, question)

    # -- extractors -------------------------------------------------------------------------------

    async def _extract(self, spec: ExtractSpec, window: Any, known: Mapping[str, Json]) -> Json:
        extractor = self.extractor(spec)
        if hasattr(extractor, "extract"):
            return await run_turn_extractor(cast("TurnExtractor", extractor), window, known)
        found = await _awaited(cast("Extract", extractor)(window, known))
        return None if found is None else json_value(spec.name, found)

    def extractor(self, spec: ExtractSpec) -> TurnExtractor | Extract:
        """Code that was passed, code of the flow, or a model for the flow's own entry."""
        passed = self._services.by_name().get(spec.name)
        if passed is None:
            passed = self._flow.functions.of("extractor").get(spec.name)
        return passed if passed is not None else self._model_extractor(spec)

    def _model_extractor(self, spec: ExtractSpec) -> TurnExtractor:
        def make() -> TurnExtractor:
            # Imported when a model is first asked: it brings its provider's client with it.
            from flowengine.extract.llm import from_spec

            models = self._flow.flow.models
            return from_spec(
                spec,
                self._services.providers,
                model=models.extraction,
                thinking_budget=models.extraction_thinking_budget,
            )

        return self._services.once((self._flow.hash, "extractor", spec.name), make)

    # -- resolvers and decisions ------------------------------------------------------------------

    def _resolver(self, name: str) -> Any:
        kept = self._cache()
        if name not in kept.resolvers:
            from flowengine.resolve.declared import from_spec  # it brings an HTTP client with it

            kept.resolvers[name] = from_spec(
                name,
                self._flow.flow.resolvers.get(name, _UNDECLARED),
                self._flow.functions.of("resolver"),
                outside=self._services.world,
                cache=kept.cache,
            )
        return kept.resolvers[name]

    def _ttl(self, field: str) -> str | None:
        """How long the value of a record's field is kept; the resolver's own if it is for none."""
        if not field:
            return None
        record, _, name = field.partition(".")
        return self._flow.flow.records[record].fields[name].ttl

    async def _decide(self, effect: Decide) -> Json:
        from flowengine.runtime.deciding import answers  # it brings a model's client with it

        return await answers(effect, self._flow, self._services)

    # -- tools ------------------------------------------------------------------------------------

    async def _tool(self, effect: RunTool, state: StateView) -> Json:
        from flowengine.tools.context import ToolContext
        from flowengine.tools.run import run_tool  # it brings an HTTP client with it

        spec = self._flow.flow.tools[effect.tool]
        return await run_tool(
            effect.tool,
            spec,
            effect.args,
            function=self._flow.functions.of("tool").get(spec.run or effect.tool),
            context=ToolContext(state, effect.call, effect.key),
            outside=self._services.world,
            cache=self._cache().cache,
            before_response=self._services.before_response,
        )

    async def _confirm(self, tool: str, args: Mapping[str, Json], question: str) -> Json:
        if self._services.confirm is None:
            raise FlowError(f"tool {tool!r} asks for a confirmation, and nobody can give it")
        return await self._services.confirm(tool, args, question)

    def _cache(self) -> _Kept:
        if self._kept is None:
            self._kept = _Kept(self._clock)
        return cast("_Kept", self._kept)


class _Kept:
    """What a call keeps of its own: results of slow calls, and the resolvers that share them."""

    __slots__ = ("cache", "resolvers")

    def __init__(self, clock: Clock) -> None:
        from flowengine.sources.cache import Cache

        self.cache = Cache(256, clock)
        self.resolvers: dict[str, Any] = {}


def _report(effect: Runnable, error: BaseException) -> None:
    """Where a fault happened, for whoever develops the flow; its text may hold a caller's words,
    and is logged only where debugging is asked for."""
    name = effect.tool if isinstance(effect, RunTool | AskConfirmation) else _name(effect)
    frames = extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    told = f": {error}" if isinstance(error, FlowEngineError) else ""
    _log.error("%s %s: %s%s%s", type(effect).__name__, name, type(error).__name__, place, told)
    _log.debug("the fault of %s", name, exc_info=error)


def _name(effect: Runnable) -> str:
    return "" if isinstance(effect, Decide) else effect.name  # pyright: ignore


def _parameter(key: str) -> str:
    """The parameter that a key is bound to: a fragment's `booking.slot` is a function's `slot`."""
    return key.rpartition(":")[2].rpartition(".")[2]


def _prepare(flow: CompiledFlow) -> None:
    """Import what the flow's effects will need: not in the middle of somebody's call."""
    if flow.flow.tools:
        import_module("flowengine.tools.run")
    if flow.flow.resolvers:
        import_module("flowengine.resolve.declared")
    if flow.flow.extract:
        import_module("flowengine.extract.llm")
    if flow.flow.decisions:
        import_module("flowengine.runtime.deciding")


_UNDECLARED = Resolver()


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
