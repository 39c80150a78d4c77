"""Sessions end, and go on, whatever the functions around them do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import date
from typing import Any

import pytest

from flowengine import Functions, Hooks, Session, TurnFailed, loads
from flowengine.kernel import to_json

FLOW = loads("""
flow: s
extract: [{name: X, schema: {properties: {when: {}}}}]
tools: {pay: {}}
phases: {a: {initial: true}}
""")


def live(body: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(body, 20))


def functions() -> Functions:
    made = Functions()

    @made.tool
    async def pay() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(3)

    return made


def test_closing_does_not_wait_for_a_task_that_will_not_be_cancelled() -> None:
    async def body() -> None:
        call = Session(FLOW, functions=functions(), extractors={"X": lambda w, k: {}})
        waiting = asyncio.ensure_future(call.tool("pay"))
        await asyncio.sleep(0.01)
        begun = asyncio.get_running_loop().time()
        await call.close()
        assert asyncio.get_running_loop().time() - begun < 2.5
        await waiting

    live(body())


def test_a_blocking_hook_may_wait_for_the_call() -> None:
    async def body() -> None:
        heard_of: list[str] = []

        async def heard(name: str, value: Any) -> None:
            await call.rest()
            heard_of.append(name)

        hooks = Hooks(on_extracted=heard, blocking=True)
        call = Session(
            FLOW, functions=functions(), extractors={"X": lambda w, k: {"when": 1}}, hooks=hooks
        )
        await call.turn("hello")
        assert heard_of == ["X"]
        await call.close()

    live(body())


def test_what_an_extractor_brings_is_json() -> None:
    async def body() -> None:
        found = {"when": date(2026, 1, 1)}
        async with Session(
            FLOW, functions=functions(), extractors={"X": lambda w, k: found}
        ) as call:
            turn = await call.turn("hello")
            assert turn.state["when"] == "2026-01-01"
            assert to_json(call.snapshot)

    live(body())


def test_a_turn_whose_words_fail_still_ends() -> None:
    made = Functions()

    @made.watcher
    def bad(new: Any) -> Any:
        raise ValueError

    flow = loads("""
flow: s
tools: {pay: {claims: [it is paid], respond: {}}}
phases:
  a: {initial: true, transitions: [{to: b, on: "claim:pay", do: [{run: bad}]}]}
  b: {}
""")

    async def body() -> None:
        async with Session(flow, functions=made) as call:
            with pytest.raises(TurnFailed):
                await call.turn("hello", "it is paid")
            await call.turn("second", "well")
            assert [turn.user for turn in call.snapshot.transcript.turns] == ["hello", "second"]

    live(body())


def test_a_receiver_that_raises_is_reported_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def receiver(sender: Any, fact: Any) -> None:
        raise ValueError("words")

    async def body() -> None:
        async with Session(
            FLOW, functions=functions(), extractors={"X": lambda w, k: {"when": 1}}
        ) as call:
            stop = call._kernel.compiled.signals.connect("RunEnded", receiver)
            assert (await call.turn("hello")).state["when"] == 1
            stop()

    live(body())
    assert caplog.messages == ["a receiver of RunEnded raised ValueError"]
