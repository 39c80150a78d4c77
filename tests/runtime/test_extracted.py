"""What an extractor last found, read back as the type that it was made from."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from typing import Any

import pytest
from pydantic import BaseModel, Field

from flowengine import FlowError, Session, loads
from flowengine.extract import RegexExtractor, extract_turns
from flowengine.llm import ScriptedProvider

FLOW = loads("flow: debt\nphases: {a: {initial: true}}")


class DebtorState(BaseModel):
    mood: str | None = None
    willing: float | None = Field(None, ge=0, le=1)


def live(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


def call_on(*answers: str) -> Session:
    model = extract_turns(DebtorState, ScriptedProvider(answers), "Find it.", min_words=0)
    orders = RegexExtractor("orders", {"order": r"order (\d+)"})
    return Session(FLOW, extractors=[model, orders])


def test_the_latest_result_is_an_instance_of_the_type() -> None:
    async def body() -> None:
        call = call_on('{"mood": "calm", "willing": 0.5}', '{"willing": 0.9}', "{}")
        async with call:
            assert call.extracted(DebtorState) is None
            await call.turn("I am calm")
            assert call.extracted(DebtorState) == DebtorState(mood="calm", willing=0.5)
            await call.turn("I would pay")
            assert call.extracted(DebtorState) == DebtorState(willing=0.9)
            await call.turn("well")
            assert call.extracted(DebtorState) == DebtorState(willing=0.9)

    live(body())


def test_a_field_that_did_not_fit_is_not_in_it() -> None:
    async def body() -> None:
        async with call_on('{"mood": "calm", "willing": 7}') as call:
            await call.turn("I am calm")
            assert call.extracted(DebtorState) == DebtorState(mood="calm")

    live(body())


def test_by_name_it_is_a_dictionary_with_or_without_a_type() -> None:
    async def body() -> None:
        async with call_on('{"mood": "calm"}') as call:
            assert call.extracted("orders") is None
            await call.turn("I am calm, it is order 42")
            assert call.extracted("orders") == {"order": "42"}
            assert call.extracted("DebtorState") == {"mood": "calm"}

    live(body())


def test_an_extractor_that_the_flow_does_not_have_is_an_error_with_the_near_miss() -> None:
    class DebtorStat(BaseModel):
        pass

    async def body() -> None:
        async with call_on() as call:
            told = "no extractor 'DebtorStat'. Did you mean 'DebtorState'?"
            with pytest.raises(FlowError, match=re.escape(told)):
                call.extracted(DebtorStat)

    live(body())
