"""Answers to a round of questions: by the flow's own rules, the rest by whoever decides."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

from flowengine.clock import duration_ms
from flowengine.decide.decider import Decider
from flowengine.decide.spec import DecisionSpec
from flowengine.effects import Decide
from flowengine.errors import FlowError
from flowengine.inputs import Json
from flowengine.kernel import CompiledFlow
from flowengine.runtime.services import Services


async def answers(effect: Decide, flow: CompiledFlow, services: Services) -> dict[str, Json]:
    """Raw answers by question; what could not be answered is left out, and so is unsure.

    Raises:
        Exception: what went wrong, if nothing could be answered at all
    """
    specs = {id: flow.flow.decisions[id] for id in effect.questions}
    asked = {id: spec for id, spec in specs.items() if spec.run is None}
    rounds = [_by_rule(id, spec, effect, flow) for id, spec in specs.items() if spec.run]
    if asked:
        rounds.append(_in_one_request(asked, effect, services))
    parts = await asyncio.gather(*rounds, return_exceptions=True)
    answered = [part for part in parts if not isinstance(part, BaseException)]
    failed = [part for part in parts if isinstance(part, BaseException)]
    if failed and not answered:
        raise failed[0]
    return {id: answer for part in answered for id, answer in part.items()}


async def _by_rule(
    id: str, spec: DecisionSpec, effect: Decide, flow: CompiledFlow
) -> Mapping[str, Json]:
    """A registered function of the turns: true, an option, a level, or an answer in full."""
    function = flow.functions.lookup("decision", spec.run or id)
    async with asyncio.timeout(duration_ms(spec.timeout) / 1000):
        answer: Any = function(effect.window)
        return {id: await answer if inspect.isawaitable(answer) else answer}


async def _in_one_request(
    asked: Mapping[str, DecisionSpec], effect: Decide, services: Services
) -> Mapping[str, Json]:
    decider = _decider(services)
    longest = max(duration_ms(spec.timeout) for spec in asked.values())
    options = {id: effect.options[id] for id in asked}
    async with asyncio.timeout(longest / 1000):
        return await decider.decide(asked, options, effect.window)


def _decider(services: Services) -> Decider:
    if services.decider is None:
        raise FlowError("nobody answers the decisions: pass `decider=`")
    return services.decider
