"""Making ready the models that a flow's extractors and decisions ask, before a caller is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from flowengine.clock import SystemClock
from flowengine.errors import FlowError, NotReady
from flowengine.extract.spec import ExtractSpec
from flowengine.extract.turn_extractor import AsksModels
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.kernel import Kernel
from flowengine.llm.errors import ProviderError
from flowengine.llm.provider import ServedModel, warm
from flowengine.runtime.deciding import asked_models
from flowengine.runtime.effects import Runner
from flowengine.runtime.services import Services, check, with_extractors

Asks: TypeAlias = Callable[[], Sequence[ServedModel]]
Fault: TypeAlias = tuple[str, str]
"""Who could not ask, and why not."""


async def warm_models(flow: Flow, services: Services, functions: Functions | None) -> None:
    """Every extractor and decision gets a connection of its own: they will ask side by side.

    Raises:
        NotReady: a model that cannot be asked; all of them are named.
        FlowError: what a session would raise at its start.
    """
    compiled = Kernel(with_extractors(flow, services), functions).compiled
    check(services, compiled.flow, compiled.functions)
    runner = Runner(compiled, services, SystemClock())
    asking = dict(_extractors(runner, compiled.flow))
    asking["decisions"] = lambda: asked_models(compiled, services)
    told = await asyncio.gather(*(_faults(who, asks) for who, asks in asking.items()))
    if faults := [fault for found in told for fault in found]:
        raise NotReady("\n".join([f"flow {flow.flow!r} cannot ask its models:", *_lines(faults)]))


def _extractors(runner: Runner, flow: Flow) -> Iterator[tuple[str, Asks]]:
    for spec in flow.extract:

        def asks(spec: ExtractSpec = spec) -> Sequence[ServedModel]:
            extractor = runner.extractor(spec)
            return extractor.asked_models() if isinstance(extractor, AsksModels) else ()

        yield f"extractor {spec.name!r}", asks


async def _faults(who: str, asks: Asks) -> list[Fault]:
    try:
        models = asks()
    except FlowError as error:  # nobody serves the model
        return [(who, str(error))]
    return [(who, why) for why in await asyncio.gather(*map(_fault, models)) if why]


async def _fault(model: ServedModel) -> str:
    try:
        await warm(model.provider, model.name)
    except ProviderError as error:
        return f"model {model.name!r}: {error}"
    return ""


def _lines(faults: Sequence[Fault]) -> Iterator[str]:
    """Each fault once, with all whom it concerns."""
    for why in dict.fromkeys(why for _, why in faults):
        yield f"  {', '.join(who for who, reason in faults if reason == why)}: {why}"
